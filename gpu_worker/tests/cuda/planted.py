"""Mistakes planted in small kernels, each beside an honest twin that must pass without a word.

`HERE` in a comment marks the line that must be named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_worker.cuda_cpu.device import Pointer
from gpu_worker.tests.cuda.device import Device

Launch = tuple[Any, ...]
"""grid, block, arguments, and shared memory or nothing."""


@dataclass(frozen=True)
class Planted:
    """`source` holds the kernels `wrong` and `honest`; without two, the launches differ."""

    id: str
    kind: str
    source: str
    wrong: Callable[[Device], Launch]
    honest: Callable[[Device], Launch] | None = None
    says: str = ""
    """What the message must hold besides."""

    @property
    def line(self) -> int | None:
        lines = self.source.splitlines()
        return next((n for n, text in enumerate(lines, start=1) if "HERE" in text), None)


def twins(head: str, wrong: str, honest: str) -> str:
    """Return a source with both kernels, each with its own body."""
    return "\n".join(
        f'extern "C" __global__ void {name}({head}) {{\n{body}\n}}'
        for name, body in (("wrong", wrong), ("honest", honest))
    )


def _sum(device: Device) -> Launch:
    return (1,), (128,), (device.array(np.arange(128)), device.empty(1))


def _copy(n: int, threads: int = 64) -> Callable[[Device], Launch]:
    def launch(device: Device) -> Launch:
        blocks = -(-n // threads)
        return (blocks,), (threads,), (device.array(np.arange(n)), device.empty(n), np.int32(n))

    return launch


_BLOCK_SUM = """
  __shared__ float part[4];
  float s = x[threadIdx.x];
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  {barrier}
  {read}
"""
_COPY_HEAD = "const float *x, float *y, int n"
_INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"

MISSING_BARRIER = Planted(
    "missing barrier between warps",
    "missing-barrier",
    twins(
        "const float *x, float *y",
        _BLOCK_SUM.format(barrier="", read="if (threadIdx.x == 0) y[0] = part[0] + part[1] + part[2] + part[3]; // HERE"),
        _BLOCK_SUM.format(barrier="__syncthreads();", read="if (threadIdx.x == 0) y[0] = part[0] + part[1] + part[2] + part[3];"),
    ),
    _sum,
    says="__syncthreads()",
)  # fmt: skip

REUSED_TOO_SOON = Planted(
    "shared memory written again before all have read it",
    "missing-barrier",
    twins(
        "const float *x, float *y",
        "__shared__ float s[128];\nfor (int k = 0; k < 3; k++) {\n  s[threadIdx.x] = x[threadIdx.x] + k;\n  __syncthreads();\n"
        "  y[0] = 0;\n  if (threadIdx.x == 127 && s[0] < 0) y[0] = s[127 - threadIdx.x];\n  float v = s[(threadIdx.x + 64) % 128]; // HERE\n"
        "  if (v == -1) y[0] = v;\n}\n",
        "__shared__ float s[128];\nfor (int k = 0; k < 3; k++) {\n  s[threadIdx.x] = x[threadIdx.x] + k;\n  __syncthreads();\n"
        "  y[0] = 0;\n  float v = s[(threadIdx.x + 64) % 128];\n  if (v == -1) y[0] = v;\n  __syncthreads();\n}\n",
    ),
    _sum,
)

NO_WARP_SYNC = Planted(
    "lanes of a warp believed to run in step",
    "missing-barrier",
    twins(
        "const float *x, float *y",
        "__shared__ float s[32];\ns[threadIdx.x] = x[threadIdx.x];\nfloat v = s[threadIdx.x ^ 1]; // HERE\ny[threadIdx.x] = v;",
        "__shared__ float s[32];\ns[threadIdx.x] = x[threadIdx.x];\n__syncwarp();\nfloat v = s[threadIdx.x ^ 1];\ny[threadIdx.x] = v;",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.empty(32))),
    says="__syncwarp()",
)

DIVERGENT_BARRIER = Planted(
    "barrier in a branch",
    "divergent-barrier",
    twins(
        _COPY_HEAD,
        f"{_INDEX}\nif (i < n) {{\n  y[i] = x[i];\n  __syncthreads(); // HERE\n}}",
        f"{_INDEX}\nif (i < n) y[i] = x[i];\n__syncthreads();",
    ),
    _copy(100),
    says="same barrier",
)

EARLY_RETURN = Planted(
    "return before a barrier",
    "divergent-barrier",
    twins(
        _COPY_HEAD,
        f"{_INDEX}\nif (i >= n) return;\ny[i] = x[i];\n__syncthreads(); // HERE\ny[i] += 1;",
        f"{_INDEX}\nif (i < n) y[i] = x[i];\n__syncthreads();\nif (i < n) y[i] += 1;",
    ),
    _copy(100),
    says="left the kernel",
)

SHUFFLE_IN_BRANCH = Planted(
    "shuffle of all lanes in a branch of some",
    "divergent-barrier",
    twins(
        "const float *x, float *y",
        "float v = x[threadIdx.x];\nif (threadIdx.x < 16) v += __shfl_xor_sync(0xffffffffu, v, 1); // HERE\ny[threadIdx.x] = v;",
        "float v = x[threadIdx.x];\nfloat o = __shfl_xor_sync(0xffffffffu, v, 1);\nif (threadIdx.x < 16) v += o;\ny[threadIdx.x] = v;",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.empty(32))),
)

READ_OUTSIDE = Planted(
    "read past the end",
    "out-of-bounds-read",
    twins(
        _COPY_HEAD,
        f"{_INDEX}\nfloat v = x[i]; // HERE\nif (v >= 0 && i < n) y[i] = v;",
        f"{_INDEX}\nif (i < n) y[i] = x[i];",
    ),
    _copy(100),
    says="x[100]",
)

WRITE_OUTSIDE = Planted(
    "write past the end",
    "out-of-bounds-write",
    twins(
        _COPY_HEAD,
        f"{_INDEX}\ny[i] = i < n ? x[i] : 0; // HERE",
        f"{_INDEX}\nif (i < n) y[i] = x[i];",
    ),
    _copy(100),
    says="y[100], past its end: y has 100 elements",
)

DYNAMIC_TOO_SMALL = Planted(
    "more dynamic shared memory used than asked for",
    "out-of-bounds-write",
    twins(
        "const float *x, float *y",
        "extern __shared__ float s[];\ns[threadIdx.x + 32] = x[threadIdx.x]; // HERE\n__syncthreads();\ny[threadIdx.x] = s[threadIdx.x + 32];",
        "extern __shared__ float s[];\ns[threadIdx.x] = x[threadIdx.x];\n__syncthreads();\ny[threadIdx.x] = s[threadIdx.x];",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.empty(32)), 128),
    says="128 bytes of dynamic shared memory",
)

MISALIGNED = Planted(
    "vectors over rows of odd length",
    "misaligned-access",
    twins(
        "const float *x, float *y, int n",
        "const float4 *row = (const float4 *)(x + blockIdx.x * n);\nfloat4 v = row[0]; // HERE\ny[blockIdx.x] = v.x + v.y + v.z + v.w;",
        "const float *row = x + blockIdx.x * n;\ny[blockIdx.x] = row[0] + row[1] + row[2] + row[3];",
    ),
    lambda device: ((3,), (1,), (device.array(np.arange(18)), device.empty(3), np.int32(6))),
    says="16 bytes at once",
)

UNINITIALISED_SHARED = Planted(
    "sums of warps that do not exist",
    "uninitialised-shared",
    twins(
        "const float *x, float *y",
        _BLOCK_SUM.format(barrier="__syncthreads();", read="if (threadIdx.x == 0) { float t = 0; for (int w = 0; w < 4; w++) t += part[w]; y[0] = t; } // HERE"),
        _BLOCK_SUM.format(barrier="__syncthreads();", read="if (threadIdx.x == 0) { float t = 0; for (int w = 0; w < blockDim.x / 32; w++) t += part[w]; y[0] = t; }"),
    ),
    lambda device: ((1,), (64,), (device.array(np.arange(64)), device.empty(1))),
    says="shared array part",
)  # fmt: skip

NEVER_WRITTEN = Planted(
    "shared variable that nobody writes",
    "uninitialised-shared",
    "template <typename T> __device__ T start() {\n  __shared__ T total;\n  return total; // HERE\n}\n"
    + twins("float *y", "y[threadIdx.x] = start<float>();", "y[threadIdx.x] = 0;"),
    lambda device: ((1,), (32,), (device.empty(32),)),
)

FAR_BEFORE = Planted(
    "index far below zero",
    "out-of-bounds-write",
    twins("float *y, int i", "y[i] = 1; // HERE", "y[i & 7] = 1;"),
    lambda device: ((1,), (1,), (device.empty(8), np.int32(-100_000))),
)

UNINITIALISED_GLOBAL = Planted(
    "result added to memory from empty()",
    "uninitialised-global",
    twins(
        "const float *x, float *y",
        "y[threadIdx.x] += x[threadIdx.x]; // HERE",
        "y[threadIdx.x] = x[threadIdx.x];",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.empty(32))),
    says="cupy.empty()",
)


MISSING_BARRIER_WITHIN_AND_ACROSS = Planted(
    "missing barrier where most threads that race are of one warp",
    "missing-barrier",
    twins(
        "const float *x, float *y",
        "__shared__ float s[64];\ns[threadIdx.x] = x[threadIdx.x];\nfloat v = 0;\nfor (int j = 0; j < 64; j++)\n  v += s[j]; // HERE\ny[threadIdx.x] = v;",
        "__shared__ float s[64];\ns[threadIdx.x] = x[threadIdx.x];\n__syncthreads();\nfloat v = 0;\nfor (int j = 0; j < 64; j++)\n  v += s[j];\ny[threadIdx.x] = v;",
    ),
    lambda device: ((1,), (64,), (device.array(np.arange(64)), device.empty(64))),
    says="Put __syncthreads() between the two.",
)  # fmt: skip


def _half_pairs(device: Device) -> Launch:
    x, y = device.array(np.arange(32), np.float16), device.empty(32, np.float16)
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

GLOBAL_RACE = Planted(
    "a sum by all blocks without atomics",
    "global-race",
    twins(
        "const float *x, float *y",
        "if (threadIdx.x == 0) y[0] += x[blockIdx.x]; // HERE",
        "if (threadIdx.x == 0 && blockIdx.x == 0) for (int i = 0; i < 4; i++) y[0] += x[i];",
    ),
    lambda device: ((4,), (32,), (device.array(np.arange(4)), device.array([0.0]))),
    says="atomicAdd",
)

LAST_WINS = Planted(
    "several threads write different values to one place",
    "order-dependent",
    twins(
        "const float *x, float *y",
        "y[0] = x[threadIdx.x];",
        "if (threadIdx.x == 31) y[0] = x[threadIdx.x];",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.empty(1))),
    says="order in which threads run",
)

TOO_MANY_THREADS = Planted(
    "block of more than 1024 threads",
    "launch-size",
    twins(_COPY_HEAD, f"{_INDEX} if (i < n) y[i] = x[i];", f"{_INDEX} if (i < n) y[i] = x[i];"),
    _copy(2048, 2048),
    _copy(2048, 1024),
    says="2,048 threads",
)

ROWS_ALONG_Y = Planted(
    "more rows than a grid takes along y",
    "launch-size",
    twins("float *y", "y[0] = 1;", "if (blockIdx.x + threadIdx.x == 0) y[0] = 1;"),
    lambda device: ((1, 70_000), (1,), (device.empty(1),)),
    lambda device: ((70_000, 1), (1,), (device.empty(1),)),
    says="65,535",
)

TOO_MUCH_SHARED = Planted(
    "more dynamic shared memory than the default",
    "shared-size",
    twins("float *y", "y[0] = 1;", "y[0] = 1;"),
    lambda device: ((1,), (1,), (device.empty(1),), 60_000),
    lambda device: ((1,), (1,), (device.empty(1),), 40_000),
    says="max_dynamic_shared_size_bytes = 60000",
)

INDEX_OVERFLOW = Planted(
    "row * D in 32 bits",
    "index-overflow",
    twins(
        "float *y, int row, int dim",
        "int start = row * dim; // HERE\ny[0] = start > 0;",
        "long long start = (long long)row * dim;\ny[0] = start > 0;",
    ),
    lambda device: ((1,), (1,), (device.empty(1), np.int32(70_000), np.int32(65_536))),
    says="(long long)row * D",
)

PYTHON_INT = Planted(
    "Python's int for an int",
    "wrong-scalar-type",
    twins("float *y, int n", "y[0] = n;", "y[0] = n;"),
    lambda device: ((1,), (1,), (device.empty(1), 7)),
    lambda device: ((1,), (1,), (device.empty(1), np.int32(7))),
    says="np.int32(n)",
)

PYTHON_FLOAT = Planted(
    "Python's float for a float",
    "wrong-scalar-type",
    twins("float *y, float eps", "y[0] = eps;", "y[0] = eps;"),
    lambda device: ((1,), (1,), (device.empty(1), 1e-6)),
    lambda device: ((1,), (1,), (device.empty(1), np.float32(1e-6))),
    says="np.float32(eps)",
)

INT32_FOR_INT64 = Planted(
    "np.int32 for a long long",
    "wrong-scalar-type",
    twins("float *y, long long n", "y[0] = n;", "y[0] = n;"),
    lambda device: ((1,), (1,), (device.empty(1), np.int32(7))),
    lambda device: ((1,), (1,), (device.empty(1), 7)),
    says="np.int64(n)",
)

WRONG_ARRAY = Planted(
    "array of another dtype",
    "wrong-array-type",
    twins("const float *x, float *y", "y[0] = x[0];", "y[0] = x[0];"),
    lambda device: ((1,), (1,), (device.array([1.0], np.float64), device.empty(1))),
    lambda device: ((1,), (1,), (device.array([1.0], np.float32), device.empty(1))),
    says="an array of float64",
)

SWAPPED_ARGUMENTS = Planted(
    "arguments in another order",
    "wrong-array-type",
    twins("float *y, int n", "y[0] = n;", "y[0] = n;"),
    lambda device: ((1,), (1,), (np.int32(7), device.empty(1))),
    lambda device: ((1,), (1,), (device.empty(1), np.int32(7))),
)

MISSING_ARGUMENT = Planted(
    "an argument too few",
    "argument-count",
    twins("float *y, int n", "y[0] = n;", "y[0] = n;"),
    lambda device: ((1,), (1,), (device.empty(1),)),
    lambda device: ((1,), (1,), (device.empty(1), np.int32(7))),
    says="(float *y, int n)",
)

PARTIAL_WARP = Planted(
    "shuffles over a warp that is not whole",
    "warp-size",
    twins(
        "const float *x, float *y",
        "float v = x[threadIdx.x];\nv += __shfl_xor_sync(0xffffffffu, v, 16); // HERE\ny[threadIdx.x] = v;",
        "float v = x[threadIdx.x];\nv += __shfl_xor_sync(0xffffffffu, v, 8);\ny[threadIdx.x] = v;",
    ),
    lambda device: ((1,), (48,), (device.array(np.arange(48)), device.empty(48))),
    says="no multiple of 32",
)

HALF_SUM = Planted(
    "sum kept in float16",
    "half-accumulation",
    "#include <cuda_fp16.h>\n"
    + twins(
        "const __half *x, __half *y",
        "__half s = __float2half(0.f);\nfor (int i = 0; i < 64; i++)\n  s += x[i]; // HERE\ny[0] = s;",
        "float s = 0.f;\nfor (int i = 0; i < 64; i++)\n  s += __half2float(x[i]);\ny[0] = __float2half(s);",
    ),
    lambda device: (
        (1,), (1,), (device.array(np.ones(64), np.float16), device.empty(1, np.float16))
    ),
    says="Keep sums in float",
)  # fmt: skip

DIVISION_BY_ZERO = Planted(
    "integer divided by zero",
    "division-by-zero",
    twins("int *y, int n", "y[0] = 5 / n; // HERE", "y[0] = n ? 5 / n : 0;"),
    lambda device: ((1,), (1,), (device.empty(1, np.int32), np.int32(0))),
)

SHIFT = Planted(
    "shift by more bits than there are",
    "shift-too-large",
    twins("int *y, int n", "y[0] = 1 << n; // HERE", "y[0] = n < 32 ? 1 << n : 0;"),
    lambda device: ((1,), (1,), (device.empty(1, np.int32), np.int32(33))),
)

NULL = Planted(
    "null pointer",
    "null-pointer",
    twins("float *y, const float *x", "y[0] = x[0]; // HERE", "y[0] = x ? x[0] : 0;"),
    lambda device: ((1,), (1,), (device.empty(1), Pointer(0))),
)

ENDLESS_RECURSION = Planted(
    "a function that calls itself without end",
    "stack-overflow",
    "__device__ __noinline__ int deep(volatile int *y, int n) { return y[0] + deep(y, n + 1) * n; }\n"
    + twins("int *y, int n", "y[0] = 1;\ny[0] = deep(y, n);", "y[0] = n;"),
    lambda device: ((1,), (1,), (device.empty(1, np.int32), np.int32(1))),
)


def _freed(device: Device) -> Launch:
    array = device.array(np.arange(4))
    device.memory.free(array.block)
    return (1,), (1,), (array, device.empty(1))


FREED = Planted(
    "array that is gone",
    "read-after-free",
    twins("const float *x, float *y", "y[0] = x[0]; // HERE", "y[0] = x[0];"),
    _freed,
    lambda device: ((1,), (1,), (device.array(np.arange(4)), device.empty(1))),
    says="already been freed",
)

PLANTED = tuple(value for value in list(globals().values()) if isinstance(value, Planted))
