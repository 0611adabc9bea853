"""Kernels through the stand-in: arguments as CuPy passes them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gpu_worker.cupy_cpu as cp
from gpu_worker.cupy_cpu import host, launching, notes, traffic

TYPES = r"""
extern "C" __global__ void types(long long i, double d, bool b, float f, int n, double* out) {
    out[0] = (double)i; out[1] = d; out[2] = b; out[3] = f; out[4] = n;
}
extern "C" __global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
extern "C" __global__ void beyond(float* x, int n) { x[n + threadIdx.x] = 1; }
template <typename T> __global__ void fill(T* x, T value) { x[threadIdx.x] = value; }
__constant__ float table[4];
"""


@pytest.fixture(scope="module")
def module() -> Any:
    return cp.RawModule(code=TYPES, name_expressions=["types", "twice", "beyond", "fill<double>"])


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    host.take_notes()
    yield
    host.take_notes()


def test_scalars_are_passed_by_their_type(module: Any) -> None:
    out = cp.empty(5)
    scalars = (2**40, 0.1, True, np.float32(0.1), np.int32(-3))
    module.get_function("types")((1,), (1,), (*scalars, out))
    assert out.get().tolist() == [2.0**40, 0.1, 1.0, float(np.float32(0.1)), -3.0]


def test_arrays_are_passed_as_addresses_whatever_their_strides(module: Any) -> None:
    x = cp.asarray(np.arange(8, dtype=np.float32))
    module.get_function("twice")((2,), (4,), (x[::2], np.int32(4)))
    assert x.get().tolist() == [0, 2, 4, 6, 4, 5, 6, 7]


def test_numpy_arrays_are_arguments_only_with_one_element(module: Any) -> None:
    kernel = module.get_function("twice")
    x = cp.ones(2, cp.float32)
    kernel((1,), (2,), (x, np.array([1], np.int32)))
    assert x.get().tolist() == [2, 1]
    with pytest.raises(TypeError, match=r"numpy\.ndarray of shape \(2,\)"):
        kernel((1,), (2,), (np.ones(2, np.float32), np.int32(2)))
    with pytest.raises(TypeError, match="grid"):
        kernel(1, (2,), (x, np.int32(2)))


@pytest.mark.parametrize("extent", [4 / 2, 2.5, np.float32(2), "2", None])
def test_grids_and_blocks_are_integers(module: Any, extent: Any) -> None:
    kernel, x = module.get_function("twice"), cp.ones(4, cp.float32)
    for grid, block in (((extent,), (2,)), ((2,), (extent,)), ((2, extent), (2,))):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer.*//"):
            kernel(grid, block, (x, np.int32(4)))
    kernel((np.int64(2),), (np.uint8(2),), (x, np.int32(4)))
    assert x.get().tolist() == [2, 2, 2, 2]


def test_templates_globals_and_attributes(module: Any) -> None:
    x = cp.empty(3)
    kernel = module.get_function("fill<double>")
    kernel((1,), (3,), (x, 2.5))
    assert x.get().tolist() == [2.5] * 3
    assert kernel.max_threads_per_block == 1024
    kernel.max_dynamic_shared_size_bytes = 100_000
    table = cp.ndarray((4,), cp.float32, module.get_global("table"))
    table[...] = cp.arange(4, dtype=cp.float32)
    assert table.get().tolist() == [0, 1, 2, 3]
    with pytest.raises(cp.cuda.driver.CUDADriverError, match="NOT_FOUND"):
        module.get_function("fill<float>")


def test_addresses_copy_within_the_device_and_keep_what_they_point_into(module: Any) -> None:
    x, table = cp.arange(4, dtype=cp.float32), module.get_global("table")
    host.take_notes()
    table.copy_from_device_async(x.data, x.nbytes)
    (table + 4).copy_from_device(table, 8)
    assert host.take_notes()["counts"] == {"bytes_read": 24, "bytes_written": 24, "launches": 2}
    kept = cp.empty(4, cp.float32).data
    with pytest.raises(RuntimeError, match="17 bytes are asked for, where 16 are left"):
        kept.memset(0, 17)
    kept.copy_from(table, 16)
    (kept + 12).memset_async(0, 4)
    y = cp.ndarray((4,), cp.float32, kept)
    del kept
    assert host.fault(y) == ""
    assert y.get().tolist() == [0, 0, 1, 0]
    with pytest.raises(AttributeError, match="MemoryPointer.copy_from_host: it is not offered"):
        table.copy_from_host(0, 4)


def test_errors_that_stop_a_device_raise_and_are_diagnosed(module: Any) -> None:
    x = cp.ones(4, cp.float32)
    with pytest.raises(cp.cuda.driver.CUDADriverError):
        module.get_function("beyond")((1,), (2,), (x, np.int32(4)))
    (found,) = host.take_notes()["diagnostics"]
    assert found["kind"] == "out-of-bounds-write"
    assert found["line"] == 9
    assert x.get().tolist() == [1] * 4


def test_source_that_does_not_compile_raises_when_it_is_used() -> None:
    kernel = cp.RawKernel('extern "C" __global__ void f() { int x = ; }', "f")
    with pytest.raises(cp.cuda.compiler.CompileException):
        kernel((1,), (1,), ())
    assert host.take_notes()["diagnostics"][0]["kind"] == "compile-error"


def test_an_array_that_no_kernel_filled_is_reported(module: Any) -> None:
    x = cp.empty(8, cp.float32)
    kernel = cp.RawKernel(
        'extern "C" __global__ void fill_half(float* x) { x[threadIdx.x] = 1; }', "fill_half"
    )
    kernel((1,), (4,), (x,))
    assert host.fault(x) == "unwritten-output"
    assert host.fault(x[2:6]) == "unwritten-output"
    # For padded rows, or the beginning of a buffer, only the returned part counts.
    assert host.fault(x[:4]) == host.fault(x[3::-1]) == ""
    assert host.fault(x.reshape(2, 4)[:1, 1:]) == ""
    assert host.fault(cp.ones(8)) == ""
    # No launch is blamed for memory that did not exist yet or was not passed to it.
    other = cp.empty(4, cp.float32)
    assert host.fault(other) == "unwritten-output"
    written, unwritten = host.take_notes()["diagnostics"]
    assert "that wrote to it, fill_half, had 4 threads" in written["message"]
    assert unwritten["kernel"] == ""
    assert "No kernel was launched after it was made" in unwritten["message"]
    kernel((1,), (4,), (x,))
    assert host.fault(other) == "unwritten-output"
    (unwritten,) = host.take_notes()["diagnostics"]
    assert "No kernel that was launched after it was made wrote to it" in unwritten["message"]


def test_an_elementwise_kernel_broadcasts_any_layout_and_dtype() -> None:
    kernel = cp.ElementwiseKernel("T x, A scale", "T y", "y = (A)x * scale + 1", "scale_and_add")
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        values = np.arange(24.0).reshape(4, 6).astype(dtype)
        scale = cp.asarray([[2.0], [3.0]], dtype=cp.float32)
        got = kernel(cp.asarray(values).T[::2][:2].T.T, scale)
        assert got.dtype == values.dtype
        expected = values.T[::2][:2].astype(np.float64) * [[2.0], [3.0]] + 1
        assert np.array_equal(got.get().astype(np.float64), expected)


def test_an_elementwise_kernel_with_raw_arrays_and_given_outputs() -> None:
    reverse = cp.ElementwiseKernel("raw T x", "T y", "y = x[x.size() - 1 - i]", "backwards")
    x = cp.arange(5, dtype=cp.float32)
    assert reverse(x, size=5).get().tolist() == [4, 3, 2, 1, 0]
    out = cp.empty(5, cp.float32)
    assert reverse(x[::2], out[:3]).get().tolist() == [4, 2, 0]
    with pytest.raises(ValueError, match="size"):
        reverse(x)
    with pytest.raises(TypeError, match="Wrong number of arguments"):
        reverse(x, out, out)
    double = cp.ElementwiseKernel("T x", "T y", "y = x * 2", "double_it")
    with pytest.raises(ValueError, match="Output shape"):
        double(cp.ones((2, 5), cp.float32), out)
    with pytest.raises(TypeError, match="Unsupported type"):
        reverse(np.ones(3), size=3)


def test_a_raw_array_keeps_its_shape_and_takes_flat_or_full_indices() -> None:
    body = """
        const int rows = x.shape()[0], columns = x.shape()[1];
        const int at[] = {i % rows, i / rows};
        y = x[at] + 100 * x[i] + (x.strides()[0] == step ? 0.5f : 0.0f)"""
    turn = cp.ElementwiseKernel("raw T x, int64 step", "T y", body, "turned_around")
    values = np.arange(15, dtype=np.float32).reshape(3, 5)
    for x in (
        cp.asarray(values),
        cp.asarray(np.asfortranarray(values)),
        cp.asarray(values)[:, ::2],
    ):
        got = turn(x, x.strides[0], size=x.size)
        plain = x.get()
        assert np.array_equal(got.get(), plain.T.ravel() + 100 * plain.ravel() + 0.5)


def test_kernels_refuse_dtypes_other_than_declared() -> None:
    kernel = cp.ElementwiseKernel("float32 x, T y, T z", "T out", "out = x + y + z", "mixed")
    ones = cp.ones(3, cp.float32)
    with pytest.raises(TypeError, match="mismatched"):
        kernel(ones.astype(cp.float64), ones, ones)
    with pytest.raises(TypeError, match="mismatched"):
        kernel(ones, ones, ones.astype(cp.float64))
    with pytest.raises(ValueError, match="Syntax error"):
        cp.ElementwiseKernel("x", "T y", "y = 1")


def test_a_reduction_kernel_reduces_any_axes() -> None:
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    values = np.random.default_rng(1).standard_normal((3, 4, 50)).astype(np.float32)
    x = cp.asarray(values)
    for axis in (None, -1, 0, (0, 2)):
        expected = np.sqrt((values.astype(np.float64) ** 2).sum(axis=axis))
        assert norm(x, axis=axis).get() == pytest.approx(expected, rel=1e-5)
    assert norm(x.T, axis=1, keepdims=True).shape == (50, 1, 3)
    assert norm(cp.ones((2, 0), cp.float32), axis=1).get().tolist() == [0, 0]
    with pytest.raises(ValueError, match="axis"):
        norm(x, axis=(0, 0))


def test_watched_kernels_count_what_they_actually_move() -> None:
    double = cp.ElementwiseKernel("T x", "T y", "y = x * 2", "double_it")
    x = cp.ones((8, 64), cp.float32)
    traffic.take()
    double(x)
    counts = traffic.take()
    assert (counts.bytes_read, counts.bytes_written, counts.launches) == (x.nbytes, x.nbytes, 1)
    assert notes.take()["kernels"][0]["name"] == "double_it"


def test_orders_are_compared_again_once_a_launch_is_larger() -> None:
    last = cp.RawKernel(
        'extern "C" __global__ void last(int* y) { y[0] = blockIdx.x; __threadfence(); }', "last"
    )
    y = cp.zeros(1, cp.int32)
    for _ in range(7):
        last((1,), (8,), (y,))
    assert "diagnostics" not in notes.take()

    last((2,), (8,), (y,))

    assert [item["kind"] for item in notes.take()["diagnostics"]] == ["order-dependent"]


def test_writes_of_the_threads_in_the_middle_are_compared_too() -> None:
    ends = cp.RawKernel(
        'extern "C" __global__ void ends(int* y) { __shared__ int s; '
        "if (threadIdx.x % 32 == 0) s = threadIdx.x % 224; __syncthreads(); y[threadIdx.x] = s; }",
        "ends",
    )
    y = cp.zeros(256, cp.int32)
    for _ in range(3):
        ends((1,), (256,), (y,))
    assert [item["kind"] for item in notes.take()["diagnostics"]] == ["order-dependent"]


def test_the_largest_launches_run_once_where_a_smaller_one_ran_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launching, "MOST_COMPARED", 31)
    last = cp.RawKernel(
        'extern "C" __global__ void last(int* y) { y[0] = blockIdx.x; __threadfence(); }', "last"
    )
    y = cp.zeros(1, cp.int32)
    last((1,), (8,), (y,))
    last((4,), (8,), (y,))
    assert "diagnostics" not in notes.take()

    last((3,), (8,), (y,))

    assert [item["kind"] for item in notes.take()["diagnostics"]] == ["order-dependent"]


@pytest.mark.parametrize(
    ("operation", "kinds"),
    [
        ("m[i % n] += x", ["global-race", "order-dependent"]),
        ("if (x > m[i / n]) m[i / n] = x", ["global-race"]),
        ("m[i % n] = x; __threadfence()", ["order-dependent"]),
        ("atomicMax((int*)&m[i / n], __float_as_int(x))", []),
        ("m[i / n * n + i % n] = x", []),
    ],
)
def test_raw_outputs_are_watched_and_compared(operation: str, kinds: list[str]) -> None:
    kernel = cp.ElementwiseKernel("float32 x, int32 n", "raw float32 m", operation, "shared")
    rows, columns = 10, 256
    values = np.random.default_rng(0).random((rows, columns), dtype=np.float32)

    kernel(cp.asarray(values), np.int32(columns), cp.zeros(values.size, cp.float32))

    found = notes.take().get("diagnostics", [])
    assert [item["kind"] for item in found] == kinds
    assert all("m[" in item["message"] for item in found)
