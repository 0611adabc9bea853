"""NVRTC 13's list of options: their names, and the values that each takes.

The table follows what the library accepts, which is more than its guide lists. It is kept here
because the answer must be the same on a worker that has no NVRTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpu_worker.cuda_cpu.frontend import ptxas_options

_INTEGER: Final = re.compile(r"[+-]?\d{1,9}\Z", re.ASCII)
_DIAGNOSTICS: Final = re.compile(r"[1-9]\d{0,3}(?:,[1-9]\d{0,3})*\Z", re.ASCII)
_ARCHITECTURES: Final = re.compile(
    r"(?:sm|compute)_(?:75|80|86|87|88|89|(?:90|100|103|107|110|120|121)a?)\Z"
)
"""Volta and what is older are no more among them. CuPy gives the device's own behind it, and what
is for one family alone, as sm_100f, does not go with another's.
"""
_API_VERSION: Final = re.compile(r"\d{1,2}\.\d{1,2}\Z", re.ASCII)
_FRONT_END: Final = re.compile(
    r"--(?:display_error_number|diag_(?:suppress|warning|error|remark|default|once)=[1-9]\d{0,3})\Z"
)


@dataclass(frozen=True, slots=True)
class Choice:
    """What an option may be given: `allows` says of a value, `says` is what to write."""

    says: str
    allows: Callable[[str], bool]
    apart: bool = True
    """The value may be the next word."""
    for_code: bool = True
    """It affects the code that a device runs, or which part of a source is compiled."""


def _one_of(*values: str, apart: bool = True, for_code: bool = True) -> Choice:
    return Choice(f"one of {', '.join(values)}", frozenset(values).__contains__, apart, for_code)


def _integer(says: str, low: int, high: int, *, for_code: bool = True) -> Choice:
    def allows(value: str) -> bool:
        return value == "" or (bool(_INTEGER.match(value)) and low <= int(value) <= high)

    return Choice(says, allows, True, for_code)


def _matching(says: str, pattern: re.Pattern[str], *, apart: bool = True) -> Choice:
    return Choice(says, lambda value: bool(pattern.match(value)), apart, for_code=False)


_MOST: Final = 2**31 - 1
_TRUE_OR_FALSE: Final = _one_of("true", "false")
_SPOKEN: Final = _one_of("true", "false", for_code=False)
_FILE: Final = Choice("a name, as in =NAME", bool, apart=False, for_code=False)
_NUMBERS: Final = _matching("numbers of diagnostics, as in =177,550", _DIAGNOSTICS)
_KINDS: Final = ("all-warnings", "reorder", "deprecated-declarations", "conversion")
_WARNINGS: Final = Choice(
    f"one or more of {', '.join(_KINDS)}",
    lambda value: {"", *_KINDS}.issuperset(value.split(",")),
)

FLAGS: Final[dict[str, bool]] = {
    **dict.fromkeys(
        ("--device-debug", "-G", "--use_fast_math", "--extra-device-vectorization", "--restrict")
        + ("--device-int128", "--minimal", "--fassociative-math", "--ffinite-math-only")
        + ("--fno-signed-zeros", "--Wreorder", "--Wconversion"),
        True,
    ),
    **dict.fromkeys(
        ("--device-c", "-dc", "--device-w", "-dw", "--extensible-whole-program", "-ewp")
        + ("--generate-line-info", "-lineinfo", "--no-lineinfo-inlined-at", "-no-lineinfo-ia")
        + ("--dlink-time-opt", "-dlto", "--gen-opt-lto", "--optix-ir", "--fdevice-syntax-only")
        + ("--disable-warnings", "-w", "--display-error-number", "-err-no", "--pch")
        + ("--no-display-error-number", "-no-err-no", "--no-source-include", "--uumn")
        + ("--device-as-default-execution-space", "-default-device", "--no-cache")
        + ("--enable-cache-trace", "--enable-tile", "--tile-only", "--simt-only")
        + ("--tile-as-default-execution-space", "--skip-cuda-tile-packaging")
        + ("--diagnose-implicit-tile-var", "--numba-debug"),
        False,
    ),
}
"""Options that take no value, and whether they matter to the code that a device runs."""

CHOICES: Final[dict[str, Choice]] = {
    **dict.fromkeys(
        ("--ftz", "--prec-sqrt", "--prec-div", "--fmad", "--modify-stack-limit")
        + ("--device-stack-protector", "--builtin-move-forward", "--builtin-initializer-list"),
        _TRUE_OR_FALSE,
    ),
    **dict.fromkeys(
        ("--relocatable-device-code", "-rdc", "--brief-diagnostics", "-brief-diag")
        + ("--discard-value-names", "--pch-verbose", "--pch-messages")
        + ("--instantiate-templates-in-pch",),
        _SPOKEN,
    ),
    **dict.fromkeys(("--version-ident", "-dQ"), _one_of("false", for_code=False)),
    "--maxrregcount": _integer("a whole number, as in =64", -_MOST, _MOST),
    "--split-compile": _integer("a whole number from 0 on", 0, _MOST, for_code=False),
    "--fmax-errors": _integer("a whole number from 1 on", 1, _MOST, for_code=False),
    **dict.fromkeys(
        ("--jump-table-density", "-jtd"), _integer("a whole number from 0 to 101", 0, 101)
    ),
    **dict.fromkeys(("--diag-suppress", "--diag-warn", "--diag-error"), _NUMBERS),
    **dict.fromkeys(("--warning-as-error", "-Werror"), _WARNINGS),
    **dict.fromkeys(
        ("--gpu-architecture", "-arch"), _matching("such as =sm_90 or =compute_90", _ARCHITECTURES)
    ),
    "--std": _one_of(*("c++03", "c++11", "c++14", "c++17", "c++20", "c++23"), apart=False),
    "--dopt": _one_of("on"),
    **dict.fromkeys(("--Ofast-compile", "-Ofc"), _one_of("0", "min", "mid", "max")),
    **dict.fromkeys(
        ("--optimization-info", "-opt-info"), _one_of("inline", apart=False, for_code=False)
    ),
    **dict.fromkeys(
        ("--ptxas-options", "-Xptxas"),
        Choice("one option of ptxas, as in =-O3", ptxas_options.takes),
    ),
    "-Xcudafe": _matching("one option of the front end, as in =--diag_suppress=177", _FRONT_END),
    "--cuda-api-version": _matching("a version, as in =13.0", _API_VERSION, apart=False),
    **dict.fromkeys(("--frandom-seed", "--time", "--fdevice-time-trace", "--create-pch"), _FILE),
    "--pch-dir": _one_of(".", "/tmp", apart=False, for_code=False),  # noqa: S108  nothing is written
}
"""Options with a value that are recognised by their name alone."""

ALONE: Final = {
    "--generate-builtins": "it makes no kernel of a source",
    "-genbuiltins": "it makes no kernel of a source",
    "--utf-8": "its own front end does not know what that asks of it",
    "--use-pch": "there is no precompiled header to use",
    "--use-bundled-headers": "there is no folder of that name to unpack headers to",
    "--device-float128": "only compute capability 10.0 and later has it",
}
"""Options that NVRTC knows but that end in an error, and why."""

APART: Final[tuple[tuple[str, str], ...]] = (
    ("--device-c", "--device-w"),
    ("--device-w", "--relocatable-device-code=true"),
    ("--device-c", "--relocatable-device-code=false"),
    ("--extensible-whole-program", "--device-c"),
    ("--extensible-whole-program", "--relocatable-device-code=true"),
    ("--dlink-time-opt", "--relocatable-device-code=false"),
    ("--dlink-time-opt", "--optix-ir"),
    ("--tile-only", "--simt-only"),
    ("--display-error-number", "--no-display-error-number"),
    ("--pch", "--create-pch"),
)
"""Options that cannot be combined."""

LONG: Final = {
    "-dc": "--device-c", "-dw": "--device-w", "-ewp": "--extensible-whole-program",
    "-dlto": "--dlink-time-opt", "-rdc": "--relocatable-device-code", "-G": "--device-debug",
    "-err-no": "--display-error-number", "-no-err-no": "--no-display-error-number",
    "-lineinfo": "--generate-line-info", "-no-lineinfo-ia": "--no-lineinfo-inlined-at",
    "-w": "--disable-warnings", "-default-device": "--device-as-default-execution-space",
    "-brief-diag": "--brief-diagnostics", "-dQ": "--version-ident",
    "-jtd": "--jump-table-density", "-Werror": "--warning-as-error",
    "-arch": "--gpu-architecture", "-Ofc": "--Ofast-compile", "-Xptxas": "--ptxas-options",
    "-opt-info": "--optimization-info", "-genbuiltins": "--generate-builtins",
}  # fmt: skip
"""Options by their short names. All others may be written with one dash as well as with two."""
_TWO_DASHES: Final = frozenset((*LONG.values(), "--tile-as-default-execution-space"))

OF_NVCC: Final = frozenset(
    ("--expt-relaxed-constexpr", "--expt-extended-lambda", "--extended-lambda", "-Xcompiler")
    + ("--compiler-options", "-Xlinker", "-gencode", "--generate-code", "-code", "--gpu-code")
    + ("--cubin", "--ptx", "--fatbin", "-o", "--output-file", "-c", "--compile", "-g", "--debug")
    + ("--resource-usage", "-res-usage", "--threads", "-t", "--keep", "--verbose", "-m64")
    + ("--machine", "--source-in-ptx", "-src-in-ptx", "--default-stream", "-isystem", "-l", "-L")
    + ("--system-include", "--Werror", "-Wno-deprecated-gpu-targets", "--optimize", "-x")
)


def spelled(name: str) -> str:
    """Return the name by which the tables have an option; its own where none does."""
    long = f"-{name}"
    known = long in FLAGS or long in CHOICES or long in ALONE
    return long if known and long not in _TWO_DASHES else name
