"""Options that NVRTC 13 passes on to ptxas, as ptxas accepts them: one per `--ptxas-options=`."""

from __future__ import annotations

import re
from typing import Final

FLAGS: Final = frozenset(
    ("--verbose", "-v", "--verbose2", "-v2", "--compile-only", "-c", "--device-debug", "-g")
    + ("--generate-line-info", "-lineinfo", "--disable-warnings", "-w", "--warning-as-error")
    + ("-Werror", "--warn-on-spills", "-warn-spills", "--warn-on-local-memory-usage")
    + ("-warn-lmem-usage", "--warn-on-double-precision-use", "-warn-double-usage")
    + ("--suppress-stack-size-warning", "-suppress-stack-size-warning", "--suppress-debug-info")
    + ("--suppress-double-demote-warning", "--suppress-async-bulk-multicast-advisory-warning")
    + ("--suppress-sparse-mma-advisory-info", "--suppress-position-independent-code-warning")
    + ("--compiler-annotations", "-annotate", "--disable-optimizer-constants", "--elf", "-elf")
    + ("-disable-optimizer-consts", "--dont-merge-basicblocks", "-no-bb-merge", "--return-at-end")
    + ("-ret-end", "--sp-bounds-check", "-sp-bounds-check", "--preserve-relocs", "--uumn", "-uumn")
    + ("--extensible-whole-program", "-ewp", "--override-directive-values")
    + ("--g-tensor-memory-access-check", "-g-tmem-access-check", "-gno-tmem-access-check")
    + ("--gno-tensor-memory-access-check", "--gno-fabric-access-check", "-gno-fabric-access-check")
    + ("--legacy-bar-warp-wide-behavior", "--make-errors-visible-at-exit", "--fast-compile")
    + ("--optimize-float-atomics", "-opt-fp-atomics")
)
"""Options without a value."""
_NUMBER: Final = re.compile(r"[+-]?\d{1,9}\Z", re.ASCII)
_REGISTERS: Final = re.compile(r"(?:archmax|archmin|\d{1,9})\Z", re.ASCII)
_ANY: Final = re.compile(r"\S+\Z")
_TRUE_OR_FALSE: Final = re.compile(r"(?:true|false)\Z")
_LOADS: Final = re.compile(r"(?:ca|cg|cs|cv|lu)\Z")
_STORES: Final = re.compile(r"(?:wb|cg|cs|wt)\Z")
VALUES: Final[dict[str, re.Pattern[str]]] = {
    **dict.fromkeys(("--opt-level", "-O", "--register-usage-level", "-regUsageLevel"), _NUMBER),
    **dict.fromkeys(("--minnctapersm", "-minnctapersm", "--split-compile"), _NUMBER),
    "-split-compile": _NUMBER,
    **dict.fromkeys(("--maxrregcount", "-maxrregcount"), _REGISTERS),
    **dict.fromkeys(("--device-function-maxrregcount", "-func-maxrregcount"), _ANY),
    **dict.fromkeys(("--maxntid", "-maxntid", "--output-file", "-o"), _ANY),
    **dict.fromkeys(("--fmad", "-fmad", "--allow-expensive-optimizations"), _TRUE_OR_FALSE),
    **dict.fromkeys(("-allow-expensive-optimizations", "-pic"), _TRUE_OR_FALSE),
    **dict.fromkeys(("--position-independent-code", "--enable-func-clone-sc"), _TRUE_OR_FALSE),
    **dict.fromkeys(("-enable-func-clone-sc", "--device-stack-protector"), _TRUE_OR_FALSE),
    "-device-stack-protector": _TRUE_OR_FALSE,
    **dict.fromkeys(("--def-load-cache", "-dlcm", "--force-load-cache", "-flcm"), _LOADS),
    **dict.fromkeys(("--def-store-cache", "-dscm", "--force-store-cache", "-fscm"), _STORES),
    **dict.fromkeys(("--machine", "-m"), re.compile(r"64\Z")),
    **dict.fromkeys(("--Ofast-compile", "-Ofc"), re.compile(r"(?:0|min|mid|max)\Z")),
    **dict.fromkeys(("--sanitize", "-sanitize"), re.compile(r"(?:memcheck|threadsteer)\Z")),
}
_ATTACHED: Final = re.compile(r"(-O|-m)([+-]?\d{1,9})?\Z", re.ASCII)


def takes(option: str) -> bool:
    """Return whether ptxas takes an option, such as `-v`, `-O3` or `-dlcm=cg`."""
    option = option.rstrip(" ")
    name, given, value = option.partition("=")
    attached = _ATTACHED.match(option)
    if attached:
        return attached[1] == "-O" or attached[2] == "64"
    if given:
        return name in VALUES and bool(VALUES[name].match(value))
    return option in FLAGS
