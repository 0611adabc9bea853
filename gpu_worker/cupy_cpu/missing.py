"""What is said of names that the stand-in does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

_ELSEWHERE: Final = {
    "bfloat16": "The dtype is ml_dtypes.bfloat16, or its name: x.astype('bfloat16').",
    "rsqrt": "Write 1 / cupy.sqrt(x), or rsqrtf(x) in a kernel.",
}


def missing(where: str, name: str, present: Iterable[str]) -> AttributeError:
    """Return the error for a name of `where` ("cupy", "cupy.linalg") that is not there."""
    if name in _ELSEWHERE:
        return AttributeError(f"CuPy has no {where}.{name}. {_ELSEWHERE[name]}")
    public = sorted(word for word in present if not word.startswith("_"))
    near = difflib.get_close_matches(name, public, n=4, cutoff=0.6)
    hint = f" Near names that it has: {', '.join(near)}." if near else ""
    return AttributeError(
        f"The CPU stand-in for CuPy has no {where}.{name}.{hint} CuPy itself may have it; here, "
        "use what the stand-in offers or write it as a kernel."
    )
