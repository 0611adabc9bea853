"""Error messages for names that the stand-in does not provide."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

_ELSEWHERE: Final = {
    "bfloat16": "The dtype is ml_dtypes.bfloat16, or its name: x.astype('bfloat16').",
    "rsqrt": "Write 1 / cupy.sqrt(x), or rsqrtf(x) in a kernel.",
}
_OFFERED: Final = {
    "cupy": "Offered are making and moving arrays, element-wise functions, reductions, indexing, "
    "products, cupy.linalg, cupy.random, cupy.cuda, fuse, ElementwiseKernel, ReductionKernel, "
    "RawKernel and RawModule.",
    "linalg": "Offered are norm, det, inv, pinv, solve, lstsq, cholesky, qr, svd, eigh, eigvalsh, "
    "matrix_power, matrix_rank and slogdet.",
    "cuda": "Offered are Stream, Event, Device, get_elapsed_time, memory pools, and the few calls "
    "of cupy.cuda.runtime that array programs make.",
    "cuda.MemoryPointer": "Offered are ptr, copies from other places of the device, memset, and "
    "the sum with a number of bytes. A NumPy array goes to a place by cupy.ndarray(shape, dtype, "
    "memptr=place) and its set().",
    "cuda.runtime": "Offered are deviceSynchronize, getDevice, setDevice, getDeviceCount, "
    "getDeviceProperties, memGetInfo, runtimeGetVersion and driverGetVersion.",
}


def missing(where: str, name: str, present: Iterable[str]) -> AttributeError:
    """Return the error for a name of `where` ("cupy", "linalg", "ndarray") that is not there."""
    if name in _ELSEWHERE:
        return AttributeError(f"CuPy has no {where}.{name}. {_ELSEWHERE[name]}")
    public = sorted(word for word in present if not word.startswith("_"))
    near = difflib.get_close_matches(name, public, n=4, cutoff=0.6)
    hint = f" Near names that it has: {', '.join(near)}." if near else ""
    offered = f" {_OFFERED[where]}" if where in _OFFERED else ""
    return AttributeError(
        f"The CPU stand-in for CuPy has no {where}.{name}: it is not offered here, where there is "
        f"no GPU, even if CuPy has it.{hint}{offered} Anything else can be written as a kernel."
    )
