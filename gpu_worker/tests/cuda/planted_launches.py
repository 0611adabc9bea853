"""Planted bugs in launches, arguments and arithmetic."""

from __future__ import annotations

import numpy as np

from gpu_worker.tests.cuda.planting import (
    COPY_HEAD,
    INDEX,
    Planted,
    copy,
    twins,
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

TOO_MANY_THREADS = Planted(
    "block of more than 1024 threads",
    "launch-size",
    twins(COPY_HEAD, f"{INDEX} if (i < n) y[i] = x[i];", f"{INDEX} if (i < n) y[i] = x[i];"),
    copy(2048, 2048),
    copy(2048, 1024),
    says="2,048 threads",
)

BEYOND_LAUNCH_BOUNDS = Planted(
    "more threads than __launch_bounds__",
    "launch-size",
    "".join(
        f'extern "C" __global__ void __launch_bounds__({bound}) {name}({COPY_HEAD}) '
        f"{{ {INDEX} if (i < n) y[i] = x[i]; }}\n"
        for name, bound in (("wrong", "128 / 2, 1"), ("honest", "128"))
    ),
    copy(256, 128),
    says="__launch_bounds__(64)",
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

INT32_FOR_FLOAT = Planted(
    "np.int32 for a float",
    "wrong-scalar-type",
    twins("float *y, float eps", "y[0] = eps;", "y[0] = eps;"),
    lambda device: ((1,), (1,), (device.empty(1), np.int32(1))),
    lambda device: ((1,), (1,), (device.empty(1), np.float32(1))),
    says="an int32, but the kernel takes float. The kernel reads its 4 bytes as float",
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

ENDLESS_RECURSION = Planted(
    "a function that calls itself without end",
    "stack-overflow",
    "__device__ __noinline__ int deep(volatile int *y, int n) { return y[0] + deep(y, n + 1) * n; }\n"
    + twins("int *y, int n", "y[0] = 1;\ny[0] = deep(y, n);", "y[0] = n;"),
    lambda device: ((1,), (1,), (device.empty(1, np.int32), np.int32(1))),
)

PLANTED = tuple(value for value in list(globals().values()) if isinstance(value, Planted))
