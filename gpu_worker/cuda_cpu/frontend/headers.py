"""The CUDA headers that a source may include, and the error messages for all others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

DEVICE: Final = frozenset(
    ("cuda_runtime.h", "cuda_runtime_api.h", "cuda_device_runtime_api.h", "builtin_types.h")
    + ("common_functions.h", "device_launch_parameters.h", "device_functions.h", "device_types.h")
    + ("device_atomic_functions.h", "device_double_functions.h", "driver_types.h")
    + ("host_config.h", "host_defines.h", "library_types.h", "math_constants.h")
    + ("math_functions.h", "vector_types.h", "vector_functions.h", "cudart_platform.h")
    + ("sm_20_atomic_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h")
    + ("sm_32_atomic_functions.h", "sm_32_intrinsics.h", "sm_35_atomic_functions.h")
    + ("sm_35_intrinsics.h", "sm_60_atomic_functions.h", "sm_61_intrinsics.h")
    + ("device_atomic_functions.hpp", "vector_functions.hpp", "sm_20_atomic_functions.hpp")
    + ("sm_20_intrinsics.hpp", "sm_30_intrinsics.hpp", "sm_32_atomic_functions.hpp")
    + ("sm_32_intrinsics.hpp", "sm_60_atomic_functions.hpp", "sm_61_intrinsics.hpp")
)
"""On a device too, their declarations are available without them."""
STANDARD: Final = tuple(
    f"cuda/std/{name}"
    for name in ("array", "cassert", "cfloat", "climits", "cmath", "cstddef", "cstdint", "cstring")
    + ("initializer_list", "limits", "tuple", "type_traits", "utility", "version")
)
"""Types and limits, as C++ has them, in the namespace `cuda::std`."""
TAKEN: Final = frozenset(
    ("cuda_fp16.h", "cuda_bf16.h", "cuda_pipeline.h", "cuda_pipeline_primitives.h")
    + ("cuda_pipeline_helpers.h", "cooperative_groups.h", "cooperative_groups/reduce.h")
    + ("cooperative_groups/scan.h", *STANDARD)
    + tuple(DEVICE)
)
"""CUDA's own, which NVRTC finds where CuPy has it look. All of them are there already: the lines
that include them are left out."""

_BUILT_IN: Final = "is built in"
LEFT_OUT: Final = {
    **dict.fromkeys(("stdio.h", "cstdio"), f"printf {_BUILT_IN}"),
    **dict.fromkeys(("assert.h", "cassert"), f"assert {_BUILT_IN}"),
    **dict.fromkeys(("string.h", "cstring", "memory.h"), "memcpy and memset are built in"),
    **dict.fromkeys(("stddef.h", "cstddef"), f"size_t {_BUILT_IN}"),
    **dict.fromkeys(("math.h", "cmath"), "sqrtf, rsqrtf, expf, fmaxf and their kin are built in"),
    **dict.fromkeys(("algorithm", "utility"), "min and max are built in"),
    **dict.fromkeys(
        ("stdint.h", "cstdint", "inttypes.h", "cinttypes"),
        "write int, unsigned or long long, which have 32, 32 and 64 bits, or include "
        "<cuda/std/cstdint>",
    ),
    **dict.fromkeys(
        ("float.h", "cfloat"), "write 3.402823466e+38f for FLT_MAX, or include <cuda/std/cfloat>"
    ),
    **dict.fromkeys(("limits.h", "climits"), "include <cuda/std/climits>"),
    "limits": "include <cuda/std/limits>, and write cuda::std::numeric_limits",
    "type_traits": "include <cuda/std/type_traits>, and write cuda::std::is_same_v",
    "cuda.h": "it is for programs that launch kernels, and CuPy does that",
}
"""Headers that are often included, and what to do without them. NVRTC brings no C or C++
library: with CuPy on a device these lines end in "cannot open source file" (cuda.h includes
stdlib.h), see CuPy's issues 4321 and 4875. What they are for is built in, or written so."""

_NO_LIBRARY: Final = (
    "Libraries of kernels are not taken in these exercises: the sums are yours to write."
)
_ASYNC: Final = (
    "Of copies that go on beside the kernel there are __pipeline_memcpy_async, __pipeline_commit "
    "and __pipeline_wait_prior: include <cuda_pipeline.h>."
)
_NO_UNITS: Final = "Tensor cores are not there on a processor."
_OTHER_TYPES: Final = (
    "Arrays of the exercises have 16, 32 or 64 bits: include <cuda_fp16.h> or <cuda_bf16.h>."
)
REFUSED: Final = {
    **dict.fromkeys(
        ("cooperative_groups/memcpy_async.h", "cuda/pipeline", "cuda/barrier", "cuda/std/barrier")
        + ("cuda_awbarrier.h", "cuda_awbarrier_primitives.h", "cuda_awbarrier_helpers.h")
        + ("cuda/latch", "cuda/std/latch", "cuda/semaphore", "cuda/std/semaphore", "cuda/tma")
        + ("cuda/annotated_ptr", "cuda/access_property", "cuda/discard_memory", "cuda/ptx"),
        _ASYNC,
    ),
    "mma.h": _NO_UNITS,
    **dict.fromkeys(
        ("cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cuda_tf32.h", "cuComplex.h"), _OTHER_TYPES
    ),
    **dict.fromkeys(
        ("texture_types.h", "texture_indirect_functions.h", "surface_types.h")
        + ("surface_indirect_functions.h",),
        "Textures and surfaces are not there on a processor.",
    ),
    **dict.fromkeys(
        ("cuda/atomic", "cuda/std/atomic"), "Take atomicAdd and its kin, which are built in."
    ),
}
"""Headers that NVRTC includes, and that are not taken here: why, and what to do."""
_LIBRARIES: Final = ("cub/", "thrust/", "cutlass/", "cute/")

_OF_STANDARD: Final = re.compile(r"\bcuda\s*::\s*std\s*::\s*([A-Za-z_]\w*)")
_OF_GROUPS: Final = re.compile(r"\b(?:cg|cooperative_groups)\s*::\s*(reduce|\w+_scan)\s*\(")
_WORD: Final = re.compile(r"\b[A-Za-z_$][\w$]*")
_FLOATS: Final = re.compile(
    r"(?:FLT|DBL)_(?:MAX|MIN|EPSILON|DIG|MANT_DIG|TRUE_MIN|MAX_EXP|MIN_EXP)\Z"
)
_NEEDED: Final = {
    **dict.fromkeys(("__half", "__half2", "half2", "__float2half", "__half2float"), "cuda_fp16.h"),
    **dict.fromkeys(("__nv_bfloat16", "__nv_bfloat162", "__float2bfloat16"), "cuda_bf16.h"),
    "cooperative_groups": "cooperative_groups.h",
}
"""Names, and the header that brings them on a device. Here they are there without it."""
_PIPELINE: Final = ("cuda_pipeline.h", "cuda_pipeline_primitives.h")


def needed(line: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of a line that a device knows by a header alone, with those that bring it."""
    for word in _WORD.findall(line):
        if word in _NEEDED:
            yield word, (_NEEDED[word],)
        elif word.startswith("__pipeline_"):
            yield word, _PIPELINE
        elif _FLOATS.match(word):
            yield word, ("cuda/std/cfloat", "cuda/std/limits", "cuda/std/cmath")
    for word in _OF_GROUPS.findall(line):
        header = f"cooperative_groups/{'reduce' if word == 'reduce' else 'scan'}.h"
        yield f"cooperative_groups::{word}", (header,)
    for word in _OF_STANDARD.findall(line):
        if word == "numeric_limits":
            yield f"cuda::std::{word}", ("cuda/std/limits", "cuda/std/cmath")
        else:
            header = "cstdint" if word.endswith("_t") and "int" in word else "type_traits"
            yield f"cuda::std::{word}", (f"cuda/std/{header}", "cuda/std/")


def why_not(name: str) -> str:
    """Return why a header is not taken, "" if it is."""
    return "" if name in TAKEN else f"The header {name!r} cannot be included. {_advice(name)}"


def _advice(name: str) -> str:
    """Return what to do without a header."""
    if name in LEFT_OUT:
        return (
            "NVRTC, which compiles kernels for CuPy, cannot include it for a device either. Take "
            f"the line out: {LEFT_OUT[name]}."
        )
    if name in REFUSED:
        return f"NVRTC has it, and it is not offered here. {REFUSED[name]}"
    if name.startswith(_LIBRARIES):
        return _NO_LIBRARY
    if name.startswith("cuda/"):
        listed = ", ".join(STANDARD)
        return f"{_NO_LIBRARY} Of the namespace cuda there are types and limits: {listed}."
    return f"Kernels can include these headers only: {', '.join(sorted(TAKEN))}."
