"""Grading on the CuPy track without a device: the same judge, counts in place of times."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.judge import Options, grade_source
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.kernels.counting import counts_of
from gpu_worker.judge.running import builds
from gpu_worker.messages.protocol import GradeJob, Report, Track
from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU
from gpu_worker.sandbox import stand_in
from gpu_worker.sandbox.client import Zygote
from gpu_worker.tests.cupy.conftest import GradeCupy, submission
from gpu_worker.worker import node
from gpu_worker.worker import offers as devices

OFFERING = [slug for slug in slugs() if Track.CUPY in get(slug).tracks]
BOTH = ["layernorm", "rmsnorm"]
STEPS = [slug for slug in OFFERING if Track.NUMPY not in get(slug).tracks]
"""The exercises of the CuPy track alone, whose starters are right and over their budget."""


def test_a_cpu_node_offers_the_track() -> None:
    assert sorted([*BOTH, *STEPS]) == OFFERING
    assert len(STEPS) == 6
    assert devices.gradable_tracks(QUEUE_CPU) == [Track.NUMPY, Track.CUPY]
    assert devices.gradable_tracks(QUEUE_GPU) == []
    assert any(text.startswith("functional CuPy on CPU") for text in node.node_report().devices)


@pytest.mark.parametrize("slug", BOTH)
def test_the_starter_loads_and_is_not_accepted(slug: str, grade_cupy: GradeCupy) -> None:
    graded = grade_cupy(get(slug).starter("cupy"), slug, cases="public")
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert "NotImplementedError" in graded.report.failure.traceback


def test_plans_hold_bfloat16_and_every_family_layout_and_sequence_of_numpys() -> None:
    for slug in BOTH:
        exercise = get(slug)
        plain, kernels = exercise.plans_for("numpy"), exercise.plans_for("cupy")
        for name in ("group", "family", "layout", "sequence", "parameters", "dout", "checks"):
            assert {getattr(p, name) for p in plain} == {getattr(p, name) for p in kernels}, name
        assert {"bfloat16", "float16", "float32", "float64"} <= {p.dtype for p in kernels}
        assert not any("bfloat16" in p.dtype or "kernel" in p.dtype for p in plain)
        assert len(kernels) < len(plain)
        rows = [c.shape for c in casegen.hidden_cases(exercise, 1, Track.CUPY)]
        assert max(shape[-1] for shape in rows) >= 8192


def test_array_expressions_are_accepted_and_marked_functional(
    right_arrays: str, grade_cupy: GradeCupy
) -> None:
    graded = grade_cupy(right_arrays)
    report = graded.report
    assert (graded.outcome, graded.score) == ("accepted", 1.0)
    assert report.execution == "functional, executed on CPU, not timed"
    assert report.speed is None
    assert report.counted is not None
    forward, backward = report.counted.rows
    assert (forward.direction, backward.direction) == ("forward", "backward")
    assert forward.bytes_least == 2 * 16 * 1024 * 4
    assert forward.launches == 10
    assert forward.bytes_read + forward.bytes_written > 5 * forward.bytes_least
    assert "NDs moved" in report.counted.advice[0]
    assert Report.from_message(report.to_message()) == report


def test_a_kernels_bytes_barriers_and_occupancy_are_reported(
    right_kernel: str, grade_cupy: GradeCupy
) -> None:
    graded = grade_cupy(right_kernel)
    assert graded.outcome == "accepted"
    assert graded.report.counted is not None
    forward = graded.report.counted.rows[0]
    (kernel,) = forward.kernels
    assert kernel.name == "forward<float, float>"
    assert (kernel.grid, kernel.block) == ([16, 1, 1], [128, 1, 1])
    assert kernel.barriers_per_row == 2
    assert kernel.coalescing == 1.0
    assert kernel.bank_conflicts == 0
    # Rows on x are as many as there are blocks there: nothing to ask.
    assert "checking launches" not in {each.phase for each in graded.report.timings}
    # x is read twice, gamma in every row, but from the cache.
    size = 16 * 1024 * 4
    assert 2 * size < forward.bytes_read < 2.4 * size
    assert kernel.registers is None or (kernel.registers > 8 and kernel.occupancy == 1.0)
    assert graded.report.findings == []
    assert any("forward<float, float>: reads x twice" in a for a in graded.report.notes)


def test_source_that_no_device_would_compile_is_reported(
    right_kernel: str, grade_cupy: GradeCupy
) -> None:
    """The C library's names are there on a processor; NVIDIA's compiler for programs has none."""
    line = "    A square = 0;"
    source = right_kernel.replace(line, "    A square = INFINITY - INFINITY > 0;", 1)
    assert source != right_kernel
    graded = grade_cupy(source, "rmsnorm")
    assert graded.outcome == "accepted"
    told = [f for f in graded.report.findings if f.kind == "compile-error"]
    assert {item.severity for item in told} == {"warning"}
    assert {source.splitlines()[(item.line or 0) - 1].strip() for item in told} == {
        "A square = INFINITY - INFINITY > 0;"
    }
    assert 'identifier "INFINITY" is undefined' in told[0].message


def test_counts_of_a_source_are_available_to_a_chapter(zygote: Zygote, right_kernel: str) -> None:
    whole = counts_of(get("rmsnorm"), submission("array_expressions"), zygote)
    fused = counts_of(get("rmsnorm"), right_kernel, zygote)
    assert whole is not None
    assert fused is not None
    assert fused.rows[0].bytes_read < whole.rows[0].bytes_read
    wrong = counts_of(get("rmsnorm"), submission("second_term_missing", "wrong"), zygote)
    assert wrong is None


def test_known_mistakes_are_named_as_on_the_numpy_track(grade_cupy: GradeCupy) -> None:
    graded = grade_cupy(submission("gamma_missing_in_sum", "wrong"))
    (mistake,) = graded.report.mistakes
    assert mistake.id == "gamma-missing-in-sum"
    assert mistake.formula == "rmsnorm"


def test_a_numpy_array_is_refused_as_a_result(grade_cupy: GradeCupy) -> None:
    graded = grade_cupy(submission("numpy_result", "wrong"), cases="public")
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert "must be exactly a cupy.ndarray" in graded.report.failure.message


def test_cupy_is_absent_on_the_numpy_track(grade: Any, right: str) -> None:
    for package in ("cupy", "ml_dtypes", "gpu_worker"):
        graded = grade(f"import {package}\n{right}", cases="public")
        assert graded.outcome == "contract_error", package


def test_modules_outside_the_track_are_absent(right_arrays: str, grade_cupy: GradeCupy) -> None:
    assert grade_cupy(f"import ml_dtypes, numpy\n{right_arrays}", cases="public").score == 1.0
    for package in ("torch", "gpu_worker", "cupyx"):
        graded = grade_cupy(f"import {package}\n{right_arrays}", cases="public")
        assert graded.outcome == "contract_error", package


@pytest.mark.parametrize(
    "line",
    [
        "import cupyx",
        "from cupyx import jit",
        "import cupyx.scipy.special",
    ],
)
def test_a_part_of_cupy_that_is_not_offered_is_reported_as_such(
    line: str, right_arrays: str, grade_cupy: GradeCupy
) -> None:
    graded = grade_cupy(f"import cupy as cp\n{line}\n{right_arrays}", cases="public")
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert "cupyx is a part of CuPy that is not offered here" in graded.report.failure.message
    assert "cupy.RawKernel" in graded.report.failure.message


# --- kernels -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("missing_barrier", "missing-barrier", "partial[0] + partial[1]"),
        ("reads_beyond_the_row", "out-of-bounds-read", "(A)x[start + j]"),
        ("does_not_compile", "compile-error", "for (int j = threadIdx.x"),
        ("one_over_d_is_zero", "integer-division", "(1 / dim)"),
    ],
)
def test_findings_name_the_learners_own_line(
    name: str, kind: str, text: str, grade_cupy: GradeCupy
) -> None:
    source = submission(name, "wrong")
    graded = grade_cupy(source, cases="public")
    assert graded.outcome != "accepted"
    found = next(finding for finding in graded.report.findings if finding.kind == kind)
    assert found.line is not None
    assert text in source.splitlines()[found.line - 1]
    assert found.kernel_line is not None
    assert found.kernel_line < found.line
    assert found.message


def test_a_defective_kernel_is_a_wrong_answer_even_with_right_numbers(
    grade_cupy: GradeCupy,
) -> None:
    graded = grade_cupy(submission("missing_barrier", "wrong"), cases="public")
    assert graded.outcome == "wrong_answer"
    assert graded.report.failure is not None
    assert "kernel is wrong" in graded.report.failure.message
    assert not any("No known mistake" in note for note in graded.report.notes)


def test_output_of_kernels_in_hidden_cases_is_not_shown(
    right_kernel: str, grade_cupy: GradeCupy
) -> None:
    source = right_kernel.replace(
        "    A square = 0;",
        '    if (threadIdx.x == 0) printf("LEAK %d\\n", dim);\n    A square = 0;',
        1,
    )
    graded = grade_cupy(source)
    assert graded.outcome == "accepted"
    assert {line for line in graded.report.output.split("\n") if line} == {"LEAK 4", "LEAK 3"}


def test_source_built_from_hidden_inputs_appears_in_no_text(
    right_arrays: str, grade_cupy: GradeCupy
) -> None:
    source = right_arrays.replace(
        "    def forward(self, x):\n",
        "    def forward(self, x):\n"
        "        if x.shape not in [(1, 4), (2, 3), (2, 2, 3), (4,)]:\n"
        "            name = 'LEAK' + str(x.ndim)\n"
        "            code = f'extern \"C\" __global__ void {name}() {{ {name}_is_no_name; }}'\n"
        "            cp.RawKernel(code, name).compile()\n",
    )
    graded = grade_cupy(source)
    assert graded.outcome == "runtime_error"
    assert [finding.kind for finding in graded.report.findings] == ["compile-error"]
    assert graded.report.failure is not None
    assert "A kernel does not compile" in graded.report.failure.message
    assert "LEAK" not in graded.report.model_dump_json()


def test_kernels_are_built_once_for_all_runs_of_a_grading(
    right_kernel: str, zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    compile_source = builds.compile_source

    def counted(source: str, *rest: Any) -> Any:
        asked.append(source)
        return compile_source(source, *rest)

    monkeypatch.setattr(builds, "compile_source", counted)
    graded = grade_source("rmsnorm", "cupy", right_kernel, zygote=zygote)
    assert graded.outcome == "accepted"
    # The public, the hidden and the counting run ask for the same one.
    assert len(asked) == 3
    assert len(set(asked)) == 1


def test_without_a_compiler_kernels_are_our_fault_and_arrays_work(
    right_kernel: str,
    right_arrays: str,
    grade_cupy: GradeCupy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*_: Any) -> Any:
        raise builds.CompilerMissingError("Install g++: apt-get install g++.")

    monkeypatch.setattr(builds, "compile_source", missing)
    graded = grade_cupy(right_kernel)
    assert graded.outcome == "not_gradable"
    assert graded.report.failure is not None
    assert "apt-get install g++" in graded.report.failure.message
    assert grade_cupy(right_arrays).outcome == "accepted"


def test_a_missing_disk_for_kernels_is_our_fault_too(
    right_kernel: str, right_arrays: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stand_in, "make_builds_folder", lambda: "")
    with Zygote() as bare:
        graded = grade_source("rmsnorm", "cupy", right_kernel, Options(cases="public"), zygote=bare)
        assert graded.outcome == "not_gradable"
        assert graded.report.failure is not None
        assert "LEARNML_BUILDS_FOLDER" in graded.report.failure.message
        arrays = grade_source("rmsnorm", "cupy", right_arrays, Options(cases="public"), zygote=bare)
        assert arrays.outcome == "accepted"


def test_too_many_builds_run_into_a_limit(right_arrays: str, grade_cupy: GradeCupy) -> None:
    source = right_arrays + (
        "\n\nfor n in range(4):\n"
        "    code = f'extern \"C\" __global__ void f{n}(int* x) {{ *x = {n}; }}'\n"
        "    cp.RawKernel(code, f'f{n}').compile()\n"
    )
    graded = grade_cupy(source, cases="public", limits={"builds": 2.0})
    assert graded.outcome == "time_limit"
    assert graded.report.failure is not None
    assert graded.report.failure.limit == "2 builds"
    assert grade_cupy(source, cases="public").outcome == "accepted"


ROWS_ALONG = '''
import cupy as cp
import numpy as np

SOURCE = r"""
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int rows, int dim,
                                   float eps) {
    for (int row = FIRST; row < rows; row += STRIDE) {
        const float* in = x + (long long)row * dim;
        float square = 0;
        for (int j = threadIdx.x; j < dim; j += 32) square += in[j] * in[j];
        for (int offset = 16; offset; offset /= 2)
            square += __shfl_xor_sync(0xffffffffu, square, offset);
        const float rstd = rsqrtf(square / dim + eps);
        for (int j = threadIdx.x; j < dim; j += 32)
            y[(long long)row * dim + j] = in[j] * rstd * gamma[j];
    }
}
"""
KERNEL = cp.RawKernel(SOURCE, "forward")


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps, self.gamma = dim, eps, cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        y = cp.empty_like(x)
        all_rows = x.size // self.dim
        flat, out = x.reshape(-1, self.dim), y.reshape(-1, self.dim)
        for first in range(0, all_rows, max(1, PIECE)):
            rows = min(all_rows - first, PIECE)
            sizes = np.int32(rows), np.int32(self.dim), np.float32(self.eps)
            KERNEL(GRID, (32,), (flat[first:], self.gamma, out[first:], *sizes))
        return y
'''


@pytest.mark.parametrize(
    ("grid", "first", "stride", "piece", "taken"),
    [
        ("(1, rows)", "blockIdx.y", "rows", "all_rows", False),
        ("(1, 1, rows)", "blockIdx.z", "rows", "all_rows", False),
        ("(1, min(rows, 65535))", "blockIdx.y", "gridDim.y", "all_rows", True),
        ("(1, rows)", "blockIdx.y", "rows", "65_535", True),
    ],
)
def test_grids_limited_to_65535_rows_along_y_or_z_are_reported(
    grid: str, first: str, stride: str, piece: str, taken: bool, grade_cupy: GradeCupy
) -> None:
    source = ROWS_ALONG.replace("GRID", grid).replace("PIECE", piece)
    source = source.replace("FIRST", first).replace("STRIDE", stride)
    graded = grade_cupy(source, "rmsnorm_two_kernels")
    failure, found = graded.report.failure, {each.kind for each in graded.report.findings}
    assert (graded.outcome == "runtime_error") is not taken, failure
    assert ("launch-size" in found) is not taken
    assert "checking launches" in {each.phase for each in graded.report.timings}
    if failure and not taken:
        assert "many rows, shape (6" in failure.message
        assert "Rows belong on x" in failure.message
        assert graded.score < 1


@pytest.mark.parametrize(
    ("loop", "seconds", "outcome", "waits"),
    [
        ("while (atomicAdd(done, 0) < gridDim.x) { }", 20.0, "runtime_error", True),
        ("for (int i = 0; i >= 0; i = (i + 1) % 97) x[i % 2] += 1;", 2.0, "time_limit", False),
    ],
)
def test_only_a_loop_seen_spinning_is_reported_as_waiting(
    loop: str, seconds: float, outcome: str, waits: bool, grade_cupy: GradeCupy
) -> None:
    kernel = f'extern "C" __global__ void k(volatile float* x, int* done) {{ {loop} }}'
    source = (
        "import cupy as cp\n\n"
        f"K = cp.RawKernel({kernel!r}, 'k')\n\n\n"
        "class RMSNormScratch:\n"
        "    def __init__(self, dim, eps=1e-6):\n"
        "        self.gamma = self.dgamma = cp.ones(dim)\n\n"
        "    def forward(self, x):\n"
        "        K((2,), (1,), (cp.zeros(2, cp.float32), cp.zeros(1, cp.int32)))\n"
    )
    limits = {"wall_seconds": seconds, "cpu_seconds": seconds}
    graded = grade_cupy(source, cases="public", limits=limits)
    assert graded.outcome == outcome
    assert graded.report.failure is not None
    message = graded.report.failure.message
    assert ("waits for another block never ends" in message) is waits
    assert ("endless-wait" in {each.kind for each in graded.report.findings}) is waits


def test_the_jobs_message_names_the_track() -> None:
    message = {"submission": "s", "lease": "l", "attempt": 1, "exercise": "rmsnorm", "source": ""}
    assert GradeJob.from_message({**message, "track": "cupy"}).track is Track.CUPY


def test_an_exercise_without_a_counted_shape_is_accepted_without_counts(
    right_arrays: str, grade_cupy: GradeCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = dataclasses.replace(get("rmsnorm"), counted_shape=None)
    monkeypatch.setattr("gpu_worker.judge.grading.get", lambda slug: bare)
    graded = grade_cupy(right_arrays)
    assert graded.outcome == "accepted"
    assert graded.report.counted is None
