"""CUDA source that ElementwiseKernel and ReductionKernel write around the learner's expressions.

Arrays are passed by value as small structures: address, shape, strides. An element is found by its
flat index in C order, whatever the memory layout. Halves are types that compute in float and round
on assignment, as in CuPy.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from .dtypes import C_NAMES, FLOATING, is_floating
from .executor import ArrayStructure
from .parameters import Parameter

MAX_DIMENSIONS: Final = 8

SUPPORT: Final = """\
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct float16 {
  __half data_;
  __device__ float16() {}
  template <class V> __device__ float16(V v) : data_(__float2half_rn((float)v)) {}
  __device__ operator float() const { return __half2float(data_); }
  template <class V> __device__ float16& operator+=(V v) { return *this = float(*this) + v; }
  template <class V> __device__ float16& operator-=(V v) { return *this = float(*this) - v; }
  template <class V> __device__ float16& operator*=(V v) { return *this = float(*this) * v; }
  template <class V> __device__ float16& operator/=(V v) { return *this = float(*this) / v; }
};
struct bfloat16 {
  __nv_bfloat16 data_;
  __device__ bfloat16() {}
  template <class V> __device__ bfloat16(V v) : data_(__float2bfloat16_rn((float)v)) {}
  __device__ operator float() const { return __bfloat162float(data_); }
  template <class V> __device__ bfloat16& operator+=(V v) { return *this = float(*this) + v; }
  template <class V> __device__ bfloat16& operator-=(V v) { return *this = float(*this) - v; }
  template <class V> __device__ bfloat16& operator*=(V v) { return *this = float(*this) * v; }
  template <class V> __device__ bfloat16& operator/=(V v) { return *this = float(*this) / v; }
};
template <class T> struct CArray {
  T* data_; long long size_; long long ndim_; long long shape_[8]; long long strides_[8];
  long long in_order_;
  __device__ long long size() const { return size_; }
  __device__ const long long* shape() const { return shape_; }
  __device__ const long long* strides() const { return strides_; }
  __device__ T& operator[](long long i) const {
    if (in_order_) return data_[i];
    char* at = (char*)data_;
    for (int k = (int)ndim_ - 1; k > 0; k--) {
      long long n = shape_[k];
      at += (i % n) * strides_[k];
      i /= n;
    }
    return *(T*)(at + i * strides_[0]);
  }
  template <class I, int N> __device__ T& operator[](const I (&place)[N]) const {
    char* at = (char*)data_;
    for (int k = 0; k < N; k++) at += place[k] * strides_[k];
    return *(T*)at;
  }
};
struct CIndexer {
  long long size_;
  __device__ long long size() const { return size_; }
};
"""


def array_bytes(values: Any, *, raw: bool = False, written: bool = False) -> ArrayStructure:
    """Return an array as the structure `CArray`, whose last field says that it is in C order.

    A kernel may ask a `raw` one for its shape; of others axes are joined. Any thread may write
    any element of a `raw` one that is `written`.
    """
    shape, strides = (values.shape, values.strides) if raw else _merged(values)
    if len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"Kernels take arrays of at most {MAX_DIMENSIONS} dimensions.")
    address = values.__array_interface__["data"][0] if values.size else 0
    padding = (0,) * (MAX_DIMENSIONS - len(shape))
    extents = (*shape, *padding, *strides, *padding, values.flags.c_contiguous or not shape)
    fields = struct.pack("<Qqq8q8qq", address, values.size, len(shape), *extents)
    return ArrayStructure(fields, values.itemsize, shared=raw and written)


def indexer_bytes(size: int) -> bytes:
    """Return the structure `CIndexer`."""
    return struct.pack("<q", size)


def _merged(values: Any) -> tuple[list[int], list[int]]:
    """Return shape and strides with neighbouring axes joined where memory allows it."""
    shape: list[int] = []
    strides: list[int] = []
    for extent, step in zip(values.shape, values.strides, strict=True):
        if extent == 1:
            continue
        if strides and strides[-1] == extent * step:
            shape[-1] *= extent
            strides[-1] = step
        else:
            shape.append(extent)
            strides.append(step)
    return shape, strides


def typedefs(parameters: Sequence[Parameter], types: Mapping[str, np.dtype[Any]]) -> str:
    """Return the typedefs of the letters."""
    letters = {p.type: C_NAMES[types[p.name]] for p in parameters if p.is_generic}
    return "".join(f"typedef {name} {letter};\n" for letter, name in sorted(letters.items()))


def declarations(
    parameters: Sequence[Parameter], types: Mapping[str, Any], scalars: frozenset[str],
    outputs: frozenset[str],
) -> str:  # fmt: skip
    """Return the kernel's list of parameters."""
    parts = []
    for p in parameters:
        kind = C_NAMES[types[p.name]]
        if p.name in scalars:
            parts.append(f"const {kind} {p.name}")
        else:
            const = "" if p.name in outputs else "const "
            name = p.name if p.raw else f"_raw_{p.name}"
            parts.append(f"const CArray<{const}{kind}> {name}")
    return ", ".join(parts)


def elements(
    parameters: Sequence[Parameter], types: Mapping[str, Any], scalars: frozenset[str],
    outputs: frozenset[str], index: str,
) -> str:  # fmt: skip
    """Return the lines that name the elements at an index after their parameters."""
    lines = []
    for p in parameters:
        if p.raw or p.name in scalars:
            continue
        kind = C_NAMES[types[p.name]]
        if p.name in outputs:
            lines.append(f"{kind}& {p.name} = _raw_{p.name}[{index}];")
        else:
            lines.append(f"const {kind} {p.name} = _raw_{p.name}[{index}];")
    return " ".join(lines)


def likely(
    parameters: Sequence[Parameter], types: Mapping[str, np.dtype[Any]]
) -> list[dict[str, np.dtype[Any]]]:
    """Return the types with which a kernel will probably be called next.

    The first letter stands for each floating dtype in turn, further ones for what it is added up
    in. Building ahead for them goes on while the program does.
    """
    letters = list(dict.fromkeys(p.type for p in parameters if p.is_generic))
    if not letters or not all(is_floating(types[p.name]) for p in parameters if p.is_generic):
        return []
    fixed = {np.dtype(p.type) for p in parameters if not p.is_generic}
    found = []
    for dtype in FLOATING:
        work = dtype if dtype.itemsize == 8 else np.dtype(np.float32)
        if any(is_floating(other) and other != work for other in fixed):
            # It accumulates in another dtype, for which there is another kernel.
            continue
        meant = {letter: dtype if letter == letters[0] else work for letter in letters}
        made = {p.name: meant.get(p.type, types[p.name]) for p in parameters}
        if made != types:
            found.append(made)
    return found


ELEMENTWISE: Final = """\
{support}{typedefs}
{preamble}
extern "C" __global__ void {name}({declarations}, const CIndexer _ind) {{
{loop_prep};
for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < _ind.size();
     i += (long long)gridDim.x * blockDim.x) {{
{elements}
{operation};
}}
{after_loop};
}}
"""

REDUCTION: Final = """\
{support}{typedefs}
{preamble}
typedef {reduce_type} _type_reduce;
__device__ _type_reduce _reduce(_type_reduce a, _type_reduce b) {{ return {reduce_expr}; }}
extern "C" __global__ void {name}({declarations}, const CIndexer _ind, const CIndexer _red) {{
for (long long _o = blockIdx.x * (long long)blockDim.x + threadIdx.x; _o < _ind.size();
     _o += (long long)gridDim.x * blockDim.x) {{
_type_reduce _part[32];
for (int _k = 0; _k < 32; _k++) _part[_k] = _type_reduce({identity});
for (long long _J = 0; _J < _red.size(); _J++) {{
const long long i = _o * _red.size() + _J;
{inputs}
_part[_J & 31] = _reduce(_part[_J & 31], static_cast<_type_reduce>({map_expr}));
}}
for (int _n = 16; _n; _n >>= 1)
  for (int _k = 0; _k < _n; _k++) _part[_k] = _reduce(_part[_k], _part[_k + _n]);
const _type_reduce a = _part[0];
{outputs}
{post_map_expr};
}}
}}
"""
"""One thread adds up one result, in 32 sums that are joined in pairs as a block's threads would."""
