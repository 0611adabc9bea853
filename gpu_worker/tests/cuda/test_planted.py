"""Each planted bug is found and explained at its line; its honest twin passes silently."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_worker.cuda_cpu import CompileError, compile_source
from gpu_worker.cuda_cpu.frontend import lint
from gpu_worker.cuda_cpu.frontend.translating import translate
from gpu_worker.cupy_cpu.executor import unwritten_output
from gpu_worker.tests.cuda.executor import Executor, kernel
from gpu_worker.tests.cuda.planted import PLANTED
from gpu_worker.tests.cuda.planting import Planted


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.id)
def test_mistakes_are_found_at_their_line(planted: Planted) -> None:
    executor = Executor()

    found = executor.diagnostics(kernel(planted.source, "wrong"), *planted.wrong(executor))

    named = [item for item in found if item.kind == planted.kind]
    assert named, [str(item) for item in found]
    if planted.line is not None:
        assert planted.line in {item.line for item in named}, [str(item) for item in named]
    assert any(planted.says in item.message for item in named), named[0].message
    assert named[0].kernel == "wrong"


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.id)
def test_honest_twins_pass_without_a_word(planted: Planted) -> None:
    executor = Executor()

    report = executor.launch(
        kernel(planted.source, "honest"), *(planted.honest or planted.wrong)(executor)
    )

    assert [str(item) for item in report.diagnostics] == []


@pytest.mark.parametrize(
    ("barrier", "kinds"),
    [
        ("", ["missing-barrier", "order-dependent", "uninitialised-shared"]),
        (
            "if (threadIdx.x < 4) __syncthreads();",
            ["divergent-barrier", "missing-barrier"],
        ),
    ],
)
def test_the_cause_of_other_defects_comes_first(barrier: str, kinds: list[str]) -> None:
    source = f"""extern "C" __global__ void k(const float *x, float *y) {{
  __shared__ float s[4];
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x[threadIdx.x];
  {barrier}
  y[threadIdx.x] = s[0] + s[1] + s[2] + s[3];
}}"""
    executor = Executor()

    found = executor.diagnostics(
        kernel(source, "k"), (1,), (128,), (executor.array(np.arange(128)), executor.empty(128))
    )

    assert list(dict.fromkeys(item.kind for item in found))[: len(kinds)] == kinds
    assert "__syncwarp()" not in str([item.message for item in found])


COPY = """extern "C" __global__ void copy(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}"""


@pytest.mark.parametrize(("blocks", "missing"), [(3, 232), (4, 0)])
def test_a_dropped_tail_is_found(blocks: int, missing: int) -> None:
    executor = Executor()
    x, y = executor.array(np.arange(1000)), executor.empty(1000)

    executor.launch(kernel(COPY, "copy"), (blocks,), (256,), (x, y, np.int32(1000)))
    executor.launch(kernel(COPY, "copy"), (1,), (32,), (x, x, np.int32(1000)))
    found = unwritten_output("y", y.block, 4)

    if not missing:
        assert found is None
        return
    assert found is not None
    assert found.kind == "unwritten-output"
    assert f"{missing} of the 1,000 elements" in found.message
    assert "index 768" in found.message
    assert "copy, had 768 threads" in found.message


def test_memory_written_by_the_host_counts_as_initialised() -> None:
    executor = Executor()
    x, y = executor.array(np.arange(1000)), executor.empty(1000)
    executor.launch(kernel(COPY, "copy"), (3,), (256,), (x, y, np.int32(1000)))

    y.block.mark_written(768 * 4, 232 * 4)

    assert unwritten_output("y", y.block, 4) is None


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("float scale = 1 / n;\n y[0] = scale;", 2),
        ("\n y[0] = 3.f * (1 / n);", 3),
        ("float f = (float)(m / n);\n y[0] = f;", 2),
        ("float share = m / n;\n y[0] = share;", 2),
        ("y[0] = 1 / blockDim.x;", 2),
        ("float scale = 1.0f / n;\n y[0] = scale;", None),
        ("int blocks = (n + 255) / 256;\n y[0] = blocks;", None),
        ("float f = (float)m / n;\n y[0] = f + threadIdx.x / 32;", None),
        ("// 1 / n of integers\n y[0] = x / n;", None),
        ("\n y[0] = pow(x, -1/2);", 3),
        ("float third = x * (1u / 3);\n y[0] = third;", 2),
        ("y[0] = 2.f * powf(x, 3 / 2);", 2),
        ("float f[] = {2, 1 / 2};\n y[0] = f[0];", 2),
        ("y[7 / 2] = x * 1 / 2 + (float)1 / 2 + 1 / 2.f + 4 / 2;", None),
        ("const int share = 7 / 2;\n int parts[9 / 2] = {7 / 2};\n y[share + parts[0]] = 1;", None),
        ("for (int i = 5 / 2; i < 1000 / 256; i++) y[i] = (n + 3) / 4 * x;", None),
    ],
)
def test_divisions_of_integers_are_noted(body: str, line: int | None) -> None:
    source = f'extern "C" __global__ void f(float *y, int n, int m, float x) {{\n{body}\n}}'

    notes = lint.notes(translate(source, ()))

    assert [(note.kind, note.line) for note in notes] == (
        [("integer-division", line)] if line else []
    )


def test_sums_in_bfloat16_are_found_behind_templates_and_intrinsics() -> None:
    source = """#include <cuda_bf16.h>
template <typename T> __global__ void dot(const T *x, T *y) {
  T s = x[0];
  for (int i = 0; i < 64; i++)
    s = __hfma(x[i], x[i], s);
  y[0] = s;
}"""
    dtype = pytest.importorskip("ml_dtypes").bfloat16
    executor = Executor()
    x = executor.array(np.linspace(1, 2, 64), dtype)

    found = executor.diagnostics(
        kernel(source, "dot<__nv_bfloat16>"), (1,), (1,), (x, executor.empty(1, dtype))
    )

    assert [(item.kind, item.line) for item in found] == [("half-accumulation", 5)]


def test_each_order_begins_with_the_same_device_variables() -> None:
    source = """__device__ float kept;
extern "C" __global__ void k(float *y) {
  y[threadIdx.x] = kept;
  if (threadIdx.x == 1) kept = 1;
}"""
    executor = Executor()
    y = executor.empty(2)

    first = executor.diagnostics(
        kernel(source, "k"), (1,), (2,), (y,), orders=("forward", "reverse")
    )

    assert y.host.tolist() == [0, 0]
    assert {"global-race", "order-dependent"} <= {item.kind for item in first}


def test_too_much_constant_memory_does_not_compile() -> None:
    source = """__constant__ float half_of_it[8192];
__constant__ float rest[8192{}];
extern "C" __global__ void k(float *y) {{ y[0] = half_of_it[0] + rest[0]; }}"""

    assert compile_source(source.format("")).kernels == ("k",)
    with pytest.raises(CompileError, match="line 2: .*more than 64 KB"):
        compile_source(source.format(" + 1"))


def test_an_endless_constructor_of_a_global_object_is_reported() -> None:
    source = """struct S { S() { __builtin_unreachable(); } };
static S s;
extern "C" __global__ void k(float *y) { y[0] = 1; }"""

    with pytest.raises(KeyError, match="constructor of a global object"):
        kernel(source, "k")


def test_a_launch_that_never_ends_is_stopped() -> None:
    source = 'extern "C" __global__ void spin(volatile int *flag) {\n  while (*flag == 0) { }\n}'
    executor = Executor()

    found = executor.diagnostics(kernel(source, "spin"), (1,), (1,), (executor.array([0], np.int32),),
                            step_limit=100_000, order="forward")  # fmt: skip

    assert [(item.kind, item.line) for item in found] == [("time-limit", 2)]
    assert "waits" not in found[0].message


@pytest.mark.parametrize(
    "loop",
    [
        "while (*flag == 0) { }",
        "while (atomicAdd((int *)flag, 0) < gridDim.x - 1) { }",
        "while (atomicCAS((int *)flag, 1, 0) == 0) __threadfence();",
        "__shared__ int set; if (threadIdx.x == 0) set = 0; __syncthreads();"
        " while (atomicAdd(&set, 0) == 0) { }",
    ],
)
def test_a_loop_that_spins_for_ever_is_reported_as_waiting(loop: str) -> None:
    source = f'extern "C" __global__ void spin(volatile int *flag) {{\n  {loop}\n}}'
    executor = Executor()

    found = executor.diagnostics(kernel(source, "spin"), (2,), (64,), (executor.array([0], np.int32),),
                            order="forward")  # fmt: skip

    assert [(item.kind, item.line) for item in found] == [("endless-wait", 2)]
    assert "a loop that waits for another block never ends" in found[0].message


def test_a_long_computation_is_not_taken_for_waiting() -> None:
    """More steps than a wait has, of which most go to one place; and a wait that comes to its end."""
    source = """extern "C" __global__ void busy(volatile int *x, int n) {
  for (int i = 0; i < n; i++) x[i % 1000000 == 0] += 1;
}
extern "C" __global__ void late(int *x, int n) {
  if (threadIdx.x < 32) while (atomicAdd(&x[0], 0) == 0) { }
  else { for (int i = 0; i < n; i++) atomicAdd(&x[1], 1); atomicAdd(&x[0], 1); }
}"""
    for name, block in (("busy", 1), ("late", 64)):
        executor = Executor()
        arguments = (executor.array([0, 0], np.int32), np.int32(6_000_000 // block))
        found = executor.diagnostics(
            kernel(source, name), (1,), (block,), arguments, order="forward"
        )
        assert found == []


REACHED = """struct Part { float *values; };
extern "C" __global__ void table(float **p, int wrong) {
  float *value = &p[1][wrong ? 0 : threadIdx.x];
  *value = wrong ? threadIdx.x : *value + threadIdx.x;
}
extern "C" __global__ void member(Part p, int wrong) { p.values[wrong ? 0 : threadIdx.x] = threadIdx.x; }
extern "C" __global__ void cast(const float *p, int wrong) {
  float *values = (float *)p;
  values[wrong ? 0 : threadIdx.x] -= wrong ? values[0] - threadIdx.x : 1;
}"""


@pytest.mark.parametrize("name", ["table", "member", "cast"])
def test_arrays_reached_without_arguments_are_restored_and_compared(name: str) -> None:
    executor = Executor()
    values = executor.array([5] * 4)
    address = values.block.address
    given = {
        "table": executor.array([0, address], np.uint64),
        "member": address.to_bytes(8, "little"),
        "cast": values,
    }[name]
    launch = (kernel(REACHED, name), (1,), (4,))
    result = {"table": [5, 6, 7, 8], "member": [0, 1, 2, 3], "cast": [4, 4, 4, 4]}[name]

    report = executor.launch(*launch, (given, np.int32(0)))

    assert [str(item) for item in report.diagnostics] == []
    assert values.host.tolist() == result

    report = executor.launch(*launch, (given, np.int32(1)))

    assert [item.kind for item in report.diagnostics][-1] == "order-dependent"


def test_an_uninitialised_variable_has_a_conspicuous_value() -> None:
    source = """extern "C" __global__ void k(float *y, int n) {
  float sum;
  if (n > 1) sum = 0;
  y[0] = sum;
}"""
    executor = Executor()
    y = executor.empty(1)

    executor.launch(kernel(source, "k"), (1,), (1,), (y, np.int32(1)))

    assert y.host[0] < -1e38
