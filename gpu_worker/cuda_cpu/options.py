"""Options of CuPy's RawKernel and RawModule: which mean something here, and which are refused."""

from __future__ import annotations

import re
from typing import Final

from gpu_worker.cuda_cpu.errors import refusal

_DEFINE: Final = re.compile(r"-D\s*([A-Za-z]\w*)(?:=((?:[\w.+\-*()]|/(?![*/]))*))?\Z", re.ASCII)
"""Values are numbers, names and sums. A comment in one would take lines of the source away."""
_WITHOUT_EFFECT: Final = re.compile(
    r"(?:--?std=c\+\+(?:11|14|17|20)|--?use_fast_math|-default-device|--?fmad=(?:true|false)"
    r"|--?(?:ftz|prec-div|prec-sqrt)=(?:true|false)|-lineinfo|--generate-line-info"
    r"|--?maxrregcount=\d+|-G|-O[0-3]|--?(?:gpu-architecture|arch)=\w+|-w)\Z",
    re.ASCII,
)


def defines(options: tuple[str, ...]) -> dict[str, str]:
    """Return the macros to define, with their values.

    Raises:
        CompileError: an option would reach a file, or is not known.
    """
    found: dict[str, str] = {}
    for option in options:
        match = _DEFINE.match(option)
        if match and not match[1].upper().startswith("LEARNML"):
            found[match[1]] = "1" if match[2] is None else match[2]
        elif not _WITHOUT_EFFECT.match(option):
            raise refusal(
                f"The compiler option {option!r} is not taken here. -DNAME=value is, and options "
                "for language and speed such as -std=c++17 and --use_fast_math.",
                None,
            )
    return found
