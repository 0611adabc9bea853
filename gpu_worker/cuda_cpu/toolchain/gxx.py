"""The compiler, its flags, and the kit that each compilation needs: built once, by the worker.

The kit is the precompiled prelude of every kernel, and the runtime that every library is linked
with. It is built only from files of this package and NVIDIA's headers; a learner's source is
compiled against it in the sandbox, where the kit is read-only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from gpu_worker.cuda_cpu.errors import CompilerMissingError
from gpu_worker.cuda_cpu.frontend import poison, rules

FOLDER_SETTING: Final = "LEARNML_KERNEL_FOLDER"
_RUNTIME: Final = Path(__file__).resolve().parents[1] / "runtime"
_PRELUDE: Final = "cuda_cpu.h"
CONFINE: Final = "confine"
"""The kit's program that puts walls around the compiler where there are no namespaces."""
_BUILD_SECONDS: Final = 120
_PAIR_HEADERS: Final = ("cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.h", "cuda_bf16.hpp")
_PAIR_COPY: Final = re.compile(r"this->x = src\.x;\s*this->y = src\.y;")
_WHOLE_COPY: Final = (
    "*reinterpret_cast<learnml_pair *>(this) = *reinterpret_cast<const learnml_pair *>(&src);"
)
"""A device copies a half2 as 4 bytes at once. NVIDIA's headers do so there only."""

LANGUAGE: Final = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti")
_ONE_ACCESS_ONE_HOOK: Final = (
    # Copies of vectors stay whole and loads stay loads, so that the hooks see what the source
    # says: these passes would split a 16-byte load into the numbers that are used.
    *("-O1", "-fno-tree-fre", "-fno-tree-pre", "-fno-tree-sra"),
    *("-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"),
)
KERNEL: Final = (
    *LANGUAGE,
    *_ONE_ACCESS_ONE_HOOK,
    # Checks alignment by type as well: a structure may be accessed by member, which no hook sees.
    "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift-exponent,alignment,bounds",
    # An uninitialised variable always has the same value, one that nobody takes for right.
    "-ftrivial-auto-var-init=pattern",
    *("-fdata-sections", "-fno-threadsafe-statics", "-fno-omit-frame-pointer"),
    *("-ffp-contract=off", "-g1", "-gdwarf-4", "-w"),
)
_RUNTIME_FLAGS: Final = (*LANGUAGE, "-O2", "-fno-omit-frame-pointer", "-w")
BOUNDED: Final = (
    *("-fmax-errors=8", "-ftemplate-depth=200", "-fconstexpr-depth=200"),
    *("-fconstexpr-ops-limit=2000000", "-fconstexpr-loop-limit=100000"),
    *("-fno-diagnostics-show-caret", "-fno-diagnostics-show-option", "-fdiagnostics-color=never"),
)
LINKED: Final = (
    *("-shared", "-nostdlib", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-z,noexecstack"),
    *("-Wl,--build-id=none", "-Wl,--no-undefined"),
)


def compiler() -> str:
    """Return the path of g++.

    Raises:
        CompilerMissingError: it is not installed.
    """
    found = shutil.which("g++")
    if found is None:
        raise CompilerMissingError(
            "Kernels are compiled by g++, which is not installed here. On Debian: apt-get install "
            "g++."
        )
    return found


def cuda_headers() -> Path:
    """Return the folder of NVIDIA's headers.

    Raises:
        CompilerMissingError: they are not installed.
    """
    spec = importlib.util.find_spec("nvidia")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for folder in sorted(Path(place).glob("*/include")):
            if (folder / "cuda_fp16.h").is_file():
                return folder
    raise CompilerMissingError(
        "NVIDIA's headers are not installed: the packages nvidia-cuda-runtime, nvidia-cuda-crt and "
        "nvidia-cuda-cccl of requirements/worker.txt have them."
    )


@functools.cache
def version() -> str:
    """Return a name for this compiler, these flags, this runtime and these headers."""
    digest = hashlib.sha256()
    digest.update(_output([compiler(), "--version"]).encode())
    for module in (__file__, poison.__file__, rules.__file__):
        digest.update(Path(module).read_bytes())
    for path in sorted(_RUNTIME.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    headers = cuda_headers()
    for name in (*_PAIR_HEADERS, "vector_types.h"):
        digest.update((headers / name).read_bytes())
    return digest.hexdigest()[:24]


@functools.cache
def folder() -> Path:
    """Return the worker's own folder for kits and libraries; nobody else may write to it.

    Raises:
        CompilerMissingError: it cannot be made, or belongs to somebody else.
    """
    default = Path(tempfile.gettempdir()) / f"learnml-kernels-{os.geteuid()}"
    place = Path(os.environ.get(FOLDER_SETTING) or default)
    place.mkdir(mode=0o755, parents=True, exist_ok=True)
    status = place.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or place.is_symlink():
        raise CompilerMissingError(
            f"The folder {place} can be written by others than this worker, so what is compiled "
            f"there cannot be trusted. Remove it, or set {FOLDER_SETTING} to another."
        )
    return place


@functools.cache
def kit() -> Path:
    """Return the folder with the precompiled prelude and the runtime; made if need be.

    Raises:
        CompilerMissingError: it cannot be made.
    """
    ready = folder() / f"kit-{version()}"
    if ready.is_dir():
        return ready
    making = Path(tempfile.mkdtemp(prefix="making-", dir=folder()))
    try:
        making.chmod(0o755)
        _make(making)
        with contextlib.suppress(OSError):
            # Another worker may have been faster; its kit is the same.
            making.rename(ready)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return ready


def _make(target: Path) -> None:
    include = ["-I", str(cuda_headers()), "-I", str(_RUNTIME)]
    prelude, runtime = str(_RUNTIME / _PRELUDE), str(_RUNTIME / "runtime.cpp")
    program = compiler()
    with tempfile.TemporaryDirectory() as pairs:
        _write_pair_headers(Path(pairs))
        header = ["-x", "c++-header", prelude, "-o", str(target / f"{_PRELUDE}.gch")]
        _build([program, *KERNEL, "-I", pairs, *include, *header])
    _build([program, *_RUNTIME_FLAGS, *include, "-c", runtime, "-o", str(target / "runtime.o")])
    shutil.copy(_RUNTIME / "shared.ld", target / "shared.ld")
    macros = _output([program, *KERNEL, *include, "-dM", "-E", "-x", "c++", prelude])
    symbols = _output(["nm", "--defined-only", str(target / "runtime.o")])
    poisoned = poison.header(_RUNTIME, symbols, macros)
    (target / poison.HEADER).write_text(poisoned, encoding="ascii")
    for path in _included_before_all(program):
        # Some C libraries have such a file; without it the prelude would not match its uses.
        shutil.copy(path, target / path.name)
    for helper in ("nvrtc_program", CONFINE):
        source = str(_RUNTIME / f"{helper}.cpp")
        _build([program, "-std=gnu++17", "-O1", source, "-o", str(target / helper)])
    for path in target.iterdir():
        path.chmod(0o755 if path.suffix == "" else 0o644)


def _write_pair_headers(place: Path) -> None:
    """Write the headers of half and bfloat16 so that a pair is copied whole, as on a device.

    Raises:
        CompilerMissingError: these are headers of another version, without the text to replace.
    """
    replaced = 0
    for name in _PAIR_HEADERS:
        text = (cuda_headers() / name).read_text(encoding="utf-8")
        text, times = _PAIR_COPY.subn(_WHOLE_COPY, text)
        (place / name).write_text(text, encoding="utf-8")
        replaced += times
    # Two types, each copied and moved, by a constructor and by an assignment.
    if replaced != 8:
        raise CompilerMissingError("The executor does not know this version of NVIDIA's headers.")


def _included_before_all(program: str) -> list[Path]:
    """Return the files that this compiler includes without being asked, `stdc-predef.h`."""
    listed = _output([program, "-x", "c++", "-M", os.devnull])
    return [Path(word) for word in listed.replace("\\\n", " ").split() if word.endswith("predef.h")]


def _build(command: list[str]) -> None:
    done = subprocess.run(  # noqa: S603  a list, no shell; our own files only
        command, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
    )
    if done.returncode:
        raise CompilerMissingError(
            f"The executor's runtime cannot be compiled by this g++: {done.stderr[:2000]}"
        )


def _output(command: list[str]) -> str:
    return subprocess.run(  # noqa: S603  a list, no shell
        command, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=True
    ).stdout
