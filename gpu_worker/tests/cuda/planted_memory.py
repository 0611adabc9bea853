"""Planted bugs in memory: access out of bounds, before initialisation, and after free."""

from __future__ import annotations

import numpy as np

from gpu_worker.cupy_cpu.executor import Pointer
from gpu_worker.tests.cuda.executor import Executor
from gpu_worker.tests.cuda.planting import (
    BLOCK_SUM,
    COPY_HEAD,
    INDEX,
    Launch,
    Planted,
    copy,
    twins,
)

READ_OUTSIDE = Planted(
    "read past the end",
    "out-of-bounds-read",
    twins(
        COPY_HEAD,
        f"{INDEX}\nfloat v = x[i]; // HERE\nif (v >= 0 && i < n) y[i] = v;",
        f"{INDEX}\nif (i < n) y[i] = x[i];",
    ),
    copy(100),
    says="x[100]",
)

WRITE_OUTSIDE = Planted(
    "write past the end",
    "out-of-bounds-write",
    twins(
        COPY_HEAD,
        f"{INDEX}\ny[i] = i < n ? x[i] : 0; // HERE",
        f"{INDEX}\nif (i < n) y[i] = x[i];",
    ),
    copy(100),
    says="y[100], past its end: y has 100 elements",
)

MISALIGNED = Planted(
    "vectors over rows of odd length",
    "misaligned-access",
    twins(
        "const float *x, float *y, int n",
        "const float4 *row = (const float4 *)(x + blockIdx.x * n);\nfloat4 v = row[0]; // HERE\ny[blockIdx.x] = v.x + v.y + v.z + v.w;",
        "const float *row = x + blockIdx.x * n;\ny[blockIdx.x] = row[0] + row[1] + row[2] + row[3];",
    ),
    lambda executor: ((3,), (1,), (executor.array(np.arange(18)), executor.empty(3), np.int32(6))),
    says="16 bytes at once",
)

UNINITIALISED_SHARED = Planted(
    "sums of warps that do not exist",
    "uninitialised-shared",
    twins(
        "const float *x, float *y",
        BLOCK_SUM.format(barrier="__syncthreads();", read="if (threadIdx.x == 0) { float t = 0; for (int w = 0; w < 4; w++) t += part[w]; y[0] = t; } // HERE"),
        BLOCK_SUM.format(barrier="__syncthreads();", read="if (threadIdx.x == 0) { float t = 0; for (int w = 0; w < blockDim.x / 32; w++) t += part[w]; y[0] = t; }"),
    ),
    lambda executor: ((1,), (64,), (executor.array(np.arange(64)), executor.empty(1))),
    says="shared array part",
)  # fmt: skip

NEVER_WRITTEN = Planted(
    "shared variable that nobody writes",
    "uninitialised-shared",
    "template <typename T> __device__ T start() {\n  __shared__ T total;\n  return total; // HERE\n}\n"
    + twins("float *y", "y[threadIdx.x] = start<float>();", "y[threadIdx.x] = 0;"),
    lambda executor: ((1,), (32,), (executor.empty(32),)),
)

NEVER_MADE = Planted(
    "shared variable whose constructor alone gives it a value",
    "uninitialised-shared",
    "#include <cuda_fp16.h>\nstruct Sum { float value; __device__ Sum() : value(threadIdx.x) {} __device__ ~Sum() {} };\n"
    + twins(
        "const float *x, float *y",
        "__shared__ Sum sums[32];\ny[threadIdx.x] = sums[threadIdx.x].value; // HERE",
        "__shared__ Sum sums[32];\n__shared__ __half halves[32];\n__shared__ __half2 pairs[32];\n"
        "sums[threadIdx.x].value = x[threadIdx.x];\nhalves[threadIdx.x] = x[threadIdx.x];\npairs[threadIdx.x] = __floats2half2_rn(x[threadIdx.x], 0);\n"
        "__syncthreads();\nconst int other = 31 - threadIdx.x;\n"
        "y[threadIdx.x] = sums[other].value + __half2float(halves[other]) + __low2float(pairs[other]);",
    ),
    lambda executor: ((2,), (32,), (executor.array(np.arange(32)), executor.empty(32))),
    says="whatever its declaration says",
)

FAR_BEFORE = Planted(
    "index far below zero",
    "out-of-bounds-write",
    twins("float *y, int i", "y[i] = 1; // HERE", "y[i & 7] = 1;"),
    lambda executor: ((1,), (1,), (executor.empty(8), np.int32(-100_000))),
)

UNINITIALISED_GLOBAL = Planted(
    "result added to memory from empty()",
    "uninitialised-global",
    twins(
        "const float *x, float *y",
        "y[threadIdx.x] += x[threadIdx.x]; // HERE",
        "y[threadIdx.x] = x[threadIdx.x];",
    ),
    lambda executor: ((1,), (32,), (executor.array(np.arange(32)), executor.empty(32))),
    says="cupy.empty()",
)


def _half_pairs(executor: Executor) -> Launch:
    x, y = executor.array(np.arange(32), np.float16), executor.empty(32, np.float16)
    return (1,), (16,), (x, y, np.int32(32))


_HALVES = "#include <cuda_fp16.h>\n"
_PAIR_HEAD = "const __half *x, __half *y, int n"
_PAIR = """int i = 2 * threadIdx.x;
y[i] = __float2half(__half2float(x[i]) * __half2float(x[i + 1]));
y[i + 1] = __float2half(__half2float(x[i + 1]) + {second});{mark}"""

HALF_READ_OUTSIDE = Planted(
    "half read past the end, two for each thread",
    "out-of-bounds-read",
    _HALVES
    + twins(
        _PAIR_HEAD,
        _PAIR.format(second="__half2float(x[i + 2])", mark=" // HERE"),
        _PAIR.format(second="__half2float(x[(i + 2) % n])", mark=""),
    ),
    _half_pairs,
    says="x[32]",
)

_TWICE = """__device__ __noinline__ __half twice(__half value) { return value + value; }
"""
HALF_IN_AN_ARGUMENT = Planted(
    "half read past the end, in the argument of a function",
    "out-of-bounds-read",
    _HALVES
    + _TWICE
    + twins(
        _PAIR_HEAD,
        "int i = 2 * threadIdx.x;\ny[i] = twice(x[i + 2]); // HERE\ny[i + 1] = twice(x[i]);",
        "int i = 2 * threadIdx.x;\ny[i] = twice(x[i + 1]);\ny[i + 1] = twice(x[i]);",
    ),
    _half_pairs,
    says="x[32]",
)

SHARED_ARRAY_TOO_SMALL = Planted(
    "a shared array for fewer warps than there are",
    "out-of-bounds-write",
    twins(
        "const float *x, float *y",
        "__shared__ float part[2];\nif (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = 1; // HERE\n"
        "__syncthreads();\ny[threadIdx.x] = part[0] + part[1];",
        "__shared__ float part[4];\nif (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = 1;\n"
        "__syncthreads();\ny[threadIdx.x] = part[0] + part[3];",
    ),
    lambda executor: ((1,), (128,), (executor.array(np.arange(128)), executor.empty(128))),
    says="byte 8 of part, which has 8 bytes",
)

UNINITIALISED_HALF = Planted(
    "half read from empty(), two for each thread",
    "uninitialised-global",
    _HALVES
    + twins(
        _PAIR_HEAD,
        _PAIR.format(second="__half2float(y[i + 1])", mark=" // HERE"),
        _PAIR.format(second="__half2float(y[i])", mark=""),
    ),
    _half_pairs,
    says="cupy.empty()",
)

PAIR_MISALIGNED = Planted(
    "pairs of halves over rows of odd length",
    "misaligned-access",
    _HALVES
    + twins(
        _PAIR_HEAD,
        "const __half2 *row = (const __half2 *)(x + blockIdx.x * (n - 1));\n"
        "__half2 pair = row[threadIdx.x]; // HERE\n"
        "y[16 * blockIdx.x + threadIdx.x] = __hmul(pair.x, pair.y);",
        "const __half2 *row = (const __half2 *)(x + blockIdx.x * n);\n"
        "__half own[3];\n*(__half2 *)own = row[threadIdx.x];\n*(__half2 *)(own + 1) = row[threadIdx.x];\n"
        "y[16 * blockIdx.x + threadIdx.x] = __hmul(own[0], own[2]);",
    ),
    lambda executor: (
        (2,), (16,),
        (executor.array(np.arange(64), np.float16), executor.empty(32, np.float16), np.int32(32)),
    ),
    says="4 bytes at once at x[31:33]",
)  # fmt: skip

STRUCTURE_MISALIGNED = Planted(
    "aligned structures of floats over rows of odd length",
    "misaligned-access",
    "struct __align__(8) Two { float a, b; };\n"
    + twins(
        "const float *x, float *y, int n",
        "const Two *row = (const Two *)(x + blockIdx.x * n);\ny[blockIdx.x] = row->a * row->b; // HERE",
        "const float *row = x + blockIdx.x * n;\ny[blockIdx.x] = row[0] * row[1];",
    ),
    lambda executor: ((2,), (1,), (executor.array(np.arange(6)), executor.empty(2), np.int32(3))),
    says="8 bytes at once at x[3:5]",
)

_PACK = "float pack[3];\nint i = 3 * threadIdx.x;\n{copy}\nfloat s = 0;\nfor (int k = 0; k < 3; k++) if (i + k < n) s += pack[k];\ny[threadIdx.x] = s;"

COPY_OUTSIDE = Planted(
    "memcpy past the end, its size known when it runs",
    "out-of-bounds-read",
    twins(
        COPY_HEAD,
        _PACK.format(copy="memcpy(pack, x + i, 12 + (n < 0)); // HERE"),
        _PACK.format(copy="memcpy(pack, x + i, 4 * min(3, n - i));"),
    ),
    lambda executor: (
        (1,),
        (34,),
        (executor.array(np.arange(100)), executor.empty(34), np.int32(100)),
    ),
    says="x[100]",
)

ASSIGNED_OUTSIDE = Planted(
    "a large structure assigned past the end",
    "out-of-bounds-write",
    "struct Row { float v[24]; };\n"
    + twins(
        COPY_HEAD,
        "((Row *)y)[n / 24] = *(const Row *)x; // HERE",
        "((Row *)y)[n / 24 - 1] = *(const Row *)x;",
    ),
    lambda executor: (
        (1,),
        (1,),
        (executor.array(np.arange(100)), executor.empty(100), np.int32(100)),
    ),
    says="y[100]",
)

_SCRATCH = (
    "__constant__ float scale[4] = {1, 2, 3, 4};\n__device__ float sums[64];\n"
    "struct Both { float mean, rstd; };\n__device__ Both last;\n"
)

VARIABLE_OUTSIDE = Planted(
    "written past the end of a device variable",
    "out-of-bounds-write",
    _SCRATCH
    + twins(
        "float *y, int n",
        "sums[threadIdx.x] = n; // HERE\ny[threadIdx.x] = sums[threadIdx.x & 63];",
        "sums[threadIdx.x & 31] = n;\n__syncthreads();\ny[threadIdx.x] = sums[threadIdx.x & 31];",
    ),
    lambda executor: ((1,), (96,), (executor.empty(96), np.int32(1))),
    says="sums[64], past its end: sums has 64 elements",
)

CONSTANT_OUTSIDE = Planted(
    "read past the end of constant memory",
    "out-of-bounds-read",
    _SCRATCH
    + twins(
        "float *y, int n",
        "y[threadIdx.x] = scale[n + threadIdx.x]; // HERE",
        "y[threadIdx.x] = scale[(n + threadIdx.x) % 4];",
    ),
    lambda executor: ((1,), (4,), (executor.empty(4), np.int32(1))),
    says="scale[4], past its end: scale has 4 elements",
)

VARIABLE_RACED = Planted(
    "blocks that share a device variable",
    "global-race",
    _SCRATCH
    + twins(
        "float *y",
        "if (threadIdx.x == 0) last.rstd = blockIdx.x + 1; // HERE\n__syncthreads();\ny[blockIdx.x] = last.rstd > 0;",
        "if (threadIdx.x == 0) sums[blockIdx.x] = blockIdx.x;\n__syncthreads();\n"
        "y[blockIdx.x] = sums[blockIdx.x];",
    ),
    lambda executor: ((3,), (64,), (executor.empty(3),)),
    says="last[0]",
)

VARIABLE_NO_BARRIER = Planted(
    "device variable read by threads that do not wait for its writer",
    "global-race",
    _SCRATCH
    + twins(
        "float *y",
        "if (threadIdx.x == 0) sums[blockIdx.x] = 1;\ny[threadIdx.x] = sums[blockIdx.x]; // HERE",
        "if (threadIdx.x == 0) sums[blockIdx.x] = 1;\n__syncthreads();\ny[threadIdx.x] = sums[blockIdx.x];",
    ),
    lambda executor: ((1,), (64,), (executor.empty(64),)),
    says="sums[0]",
)

_HELD = "float held[4], sum = 0;\nfor (int k = 0; k < {n}; k++) held[k] = x[k]; // {mark}\nfor (int k = 0; k < {n}; k++) sum += held[k];\ny[threadIdx.x] = sum;"

LOCAL_BEYOND = Planted(
    "a thread's own array that is too short",
    "out-of-bounds-read",
    twins("const float *x, float *y, int n", _HELD.format(n="n", mark="HERE"), _HELD.format(n="n && k < 4", mark="")),
    lambda executor: ((1,), (2,), (executor.array(np.arange(8)), executor.empty(2), np.int32(5))),
    says="element 4 of an array of 4",
)  # fmt: skip

LOCAL_BEFORE = Planted(
    "an index before a thread's own array, and one beyond the row of a shared tile",
    "out-of-bounds-read",
    twins(
        "const float *x, float *y, int n",
        "float held[4] = {1, 2, 3, 4};\ny[threadIdx.x] = held[(int)threadIdx.x - n]; // HERE",
        "__shared__ float tile[2][4];\nint i = threadIdx.x;\ntile[0][i] = x[i];\n__syncthreads();\ny[i] = tile[0][7 - i];",
    ),
    lambda executor: ((1,), (8,), (executor.array(np.arange(8)), executor.empty(8), np.int32(1))),
    says="element -1 of an array of 4",
)

NULL = Planted(
    "null pointer",
    "null-pointer",
    twins("float *y, const float *x", "y[0] = x[0]; // HERE", "y[0] = x ? x[0] : 0;"),
    lambda executor: ((1,), (1,), (executor.empty(1), Pointer(0))),
)


def _freed(executor: Executor) -> Launch:
    array = executor.array(np.arange(4))
    executor.memory.free(array.block)
    return (1,), (1,), (array, executor.empty(1))


FREED = Planted(
    "array that is gone",
    "read-after-free",
    twins("const float *x, float *y", "y[0] = x[0]; // HERE", "y[0] = x[0];"),
    _freed,
    lambda executor: ((1,), (1,), (executor.array(np.arange(4)), executor.empty(1))),
    says="already been freed",
)

PLANTED = tuple(value for value in list(globals().values()) if isinstance(value, Planted))
