"""Planted bugs: threads that do not wait for each other, or wait for threads that never come."""

from __future__ import annotations

import numpy as np

from gpu_worker.tests.cuda.planting import (
    BLOCK_SUM,
    COPY_HEAD,
    INDEX,
    Planted,
    copy,
    sum_of_block,
    twins,
)

MISSING_BARRIER = Planted(
    "missing barrier between warps",
    "missing-barrier",
    twins(
        "const float *x, float *y",
        BLOCK_SUM.format(barrier="", read="if (threadIdx.x == 0) y[0] = part[0] + part[1] + part[2] + part[3]; // HERE"),
        BLOCK_SUM.format(barrier="__syncthreads();", read="if (threadIdx.x == 0) y[0] = part[0] + part[1] + part[2] + part[3];"),
    ),
    sum_of_block,
    says="__syncthreads()",
)  # fmt: skip

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

_COPIED = "__shared__ float s[64];\nmemcpy(s + threadIdx.x, x + threadIdx.x, n);\n{barrier}\nfloat v[64];\nmemcpy(v, s, 64 * n);{mark}\ny[threadIdx.x] = v[63 - threadIdx.x];"

COPIED_TOO_SOON = Planted(
    "shared memory copied by memcpy before all have filled it",
    "missing-barrier",
    twins(
        COPY_HEAD,
        _COPIED.format(barrier="__syncwarp();", mark=" // HERE"),
        _COPIED.format(barrier="__syncthreads();", mark=""),
    ),
    lambda device: ((1,), (64,), (device.array(np.arange(64)), device.empty(64), np.int32(4))),
    says="__syncthreads()",
)

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
    sum_of_block,
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
        COPY_HEAD,
        f"{INDEX}\nif (i < n) {{\n  y[i] = x[i];\n  __syncthreads(); // HERE\n}}\n__syncthreads();",
        f"{INDEX}\nif (i < n) {{\n  y[i] = x[i];\n  __syncthreads();\n}}",
    ),
    copy(100),
    says="same barrier",
)

BARRIER_MISSED = Planted(
    "barrier that threads miss which go on to another one",
    "divergent-barrier",
    twins(
        COPY_HEAD,
        f"{INDEX}\nif (i >= n) return;\nif (i < 90)\n  __syncthreads(); // HERE\nelse\n  __syncthreads();\ny[i] = x[i];",
        f"{INDEX}\nif (i >= n) return;\ny[i] = x[i];\n__syncthreads();\ny[i] += 1;",
    ),
    copy(100),
    says="that have not returned must reach the same barrier",
)

BARRIER_PASSED_BY = Planted(
    "barrier that threads pass by and go on behind",
    "divergent-barrier",
    twins(
        "float *x, float *y",
        "if (threadIdx.x < 40)\n  __syncthreads(); // HERE\ny[threadIdx.x] = 1;",
        "if (threadIdx.x >= 40) {\n  y[threadIdx.x] = 1;\n  return;\n}\n__syncthreads();\ny[threadIdx.x] = 1;",
    ),
    lambda device: ((1,), (64,), (device.empty(64), device.empty(64))),
    says="passes it by and goes on, to line 4",
)

SHUFFLE_OF_RETURNED = Planted(
    "shuffle from a lane that has returned",
    "warp-size",
    twins(
        "const float *x, float *y",
        "if (threadIdx.x >= 20) return;\nfloat v = x[threadIdx.x];\nv += __shfl_down_sync(0xffffffffu, v, 4); // HERE\ny[threadIdx.x] = v;",
        "if (threadIdx.x >= 16) return;\nfloat v = x[threadIdx.x];\nv += __shfl_xor_sync(0xffffffffu, v, 4);\ny[threadIdx.x] = v;",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.array(np.zeros(32)))),
    says="lane 20, which has returned",
)

MASKS_THAT_DIFFER = Planted(
    "a shuffle that lanes reach with masks of their own",
    "divergent-barrier",
    twins(
        "const float *x, float *y",
        "unsigned m = threadIdx.x % 2 ? 0xffffffffu : 0x5555555fu;\nfloat v = x[threadIdx.x];\nv += __shfl_xor_sync(m, v, 2); // HERE\ny[threadIdx.x] = v;",
        "unsigned m = threadIdx.x % 2 ? 0xaaaaaaaau : 0x55555555u;\nfloat v = x[threadIdx.x];\nv += __shfl_xor_sync(m, v, 2);\ny[threadIdx.x] = v;",
    ),
    lambda device: ((1,), (32,), (device.array(np.arange(32)), device.empty(32))),
    says="with the same mask",
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

_LARGEST = "int old = *p, assumed;\ndo {\n  assumed = old;\n  old = atomicCAS(p, assumed, max(assumed, (int)x[i]));\n} while (assumed != old);\n"
_SHARED = "__shared__ int word;\nint i = threadIdx.x, *p = &word;\nif (i == 0) word = 0;\n__syncthreads();\n"

READ_BESIDE_ATOMICS = Planted(
    "a number that others change by atomics, read without one",
    "global-race",
    twins(
        "const float *x, int *p",
        f"{INDEX}\nif (*p < x[i]) // HERE\n  atomicMax(p, (int)x[i]);",
        f"{INDEX}\n{_LARGEST}",
    ),
    lambda device: ((4,), (64,), (device.array(np.arange(256)), device.array([0], np.int32))),
)

SHARED_READ_BESIDE_ATOMICS = Planted(
    "a shared number compared and swapped too late",
    "missing-barrier",
    twins(
        "const float *x, int *y",
        f"{_SHARED}int old = *p; // HERE\n__syncwarp();\natomicCAS(p, old, max(old, (int)x[i]));",
        f"{_SHARED}{_LARGEST}__syncthreads();\ny[i] = *p;",
    ),
    lambda device: ((1,), (64,), (device.array(np.arange(64)), device.empty(64, np.int32))),
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

PLANTED = tuple(value for value in list(globals().values()) if isinstance(value, Planted))
