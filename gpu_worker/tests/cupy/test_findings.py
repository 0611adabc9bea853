"""Findings point to the learner's own line, and carry nothing out of a hidden case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpu_worker.cupy_cpu.executor.defects import Defect
from gpu_worker.exercises import get
from gpu_worker.judge import Graded
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.cases.case import describe
from gpu_worker.judge.diagnosis.search import as_message
from gpu_worker.judge.kernels import findings
from gpu_worker.judge.kernels import track as kernel_track
from gpu_worker.judge.kernels.occupancy import most_threads, occupancy, registers_of_block
from gpu_worker.judge.kernels.registers import refused_launches, remember
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.verdict.kernel_faults import MEANINGS
from gpu_worker.judge.verdict.notes import read_notes
from gpu_worker.sandbox.inside.building import BuildRequest, decode_build, encode_build
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, WireError
from gpu_worker.tests.cupy.conftest import GradeCupy, submission

KERNEL = "__global__ void twice(float* x) {\n  x[0] *= 2;\n  x[1] *= 2;\n  x[0] *= 2;\n}\n"
SOURCE = f'''import cupy as cp

CODE = r"""
{KERNEL}"""
k = cp.ElementwiseKernel("T x", "T y",
                         "y = rsqrt(x) * 3", "scaled")
'''


def note(**fields: Any) -> dict[str, Any]:
    return {
        "kind": "out-of-bounds-read",
        "severity": "error",
        "kernel": "twice",
        "line": 3,
        "message": "LEAK 0.5",
        "build": 0,
        **fields,
    }


def found(
    *notes: dict[str, Any],
    public: bool = True,
    built: Any = None,
    code: str = KERNEL,
    options: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
) -> list[Any]:
    exercise = get("rmsnorm")
    cases = casegen.public_cases(exercise) if public else casegen.hidden_cases(exercise, 1)[:3]
    noted = read_notes(
        [
            Frame(
                FrameKind.NOTES,
                0,
                0,
                json.dumps({"diagnostics": notes[place : place + 64]}).encode(),
            )
            for place in range(0, len(notes), 64)
        ]
    )
    requests = {0: BuildRequest(code, options, names)}
    return findings.merged(findings.findings(SOURCE, requests, built or {}, noted, cases))


def test_a_line_of_the_kernel_is_found_in_the_file() -> None:
    (finding,) = found(note(line=3))
    assert (finding.line, finding.kernel_line, finding.kernel) == (6, 3, "twice")
    assert "x[1] *= 2" in SOURCE.splitlines()[5]
    # The same text occurs twice; the surrounding lines show which one is meant.
    assert [found(note(line=line))[0].line for line in (2, 4)] == [5, 7]


def test_the_line_of_a_learners_expression_is_found() -> None:
    generated = "#include <x>\nfor (;;) {\n\ny = rsqrt(x) * 3;\n}\n"
    assert found(note(line=4), code=generated)[0].line == 11
    # Source that the stand-in wrote is on no line of the learner's.
    assert found(note(line=2), code=generated)[0].line is None


@pytest.mark.parametrize("line", [None, 0, -4, 10**9])
def test_an_impossible_line_is_left_out(line: int | None) -> None:
    (finding,) = found(note(line=line))
    assert finding.line is None
    assert finding.kernel_line is None


def test_in_hidden_cases_messages_are_the_judges() -> None:
    (public,) = found(note())
    (hidden,) = found(note(), public=False)
    assert public.message == "LEAK 0.5"
    assert hidden.message == MEANINGS["out-of-bounds-read"]
    assert hidden.kernel_line == 3
    # A name that is not in the file could carry something too.
    assert found(note(kernel="LEAK"), public=False)[0].kernel == ""
    for name in ("twice<0.25>", "twice<17>", "twice<x>\x1b", "twice<LEAK>"):
        assert found(note(kernel=name), public=False)[0].kernel == "twice"
    assert found(note(kernel="twice<float>"), public=False)[0].kernel == "twice<float>"


def test_compiler_messages_are_shown_for_source_that_the_learner_wrote() -> None:
    built = {0: [note(kind="compile-error", message="expected ';'")]}
    (own,) = found(note(kind="compile-error"), public=False, built=built)
    assert own.message == "expected ';'"
    (made_up,) = found(note(kind="compile-error"), public=False, built=built, code="LEAK\n\n\n")
    assert made_up.message == MEANINGS["compile-error"]


@pytest.mark.parametrize("made_up", ["-DSCALE=0.2500125", "-Dx0p7989", "twice<17>"])
def test_compiler_messages_are_withheld_if_options_were_made_up(
    made_up: str,
) -> None:
    built = {0: [note(kind="compile-error", message="LEAK 0.5")]}
    asked: dict[str, Any] = {
        "options": (made_up,) if made_up.startswith("-") else (),
        "names": () if made_up.startswith("-") else (made_up,),
    }
    (hidden,) = found(note(kind="compile-error"), public=False, built=built, **asked)
    assert hidden.message == MEANINGS["compile-error"]
    (own,) = found(note(kind="compile-error"), public=False, built=built, names=("twice<float>",))
    assert own.message == "LEAK 0.5"


def test_findings_are_unique_by_kind_and_line_and_worst_first() -> None:
    many = [
        note(kind="half-accumulation", severity="warning", kernel="twice<float>"),
        note(kernel="twice<float>"),
        note(kernel="twice<double>"),
        note(kind="no-such-kind"),
        note(severity="no-such-severity", line=2),
    ]
    assert [(f.severity, f.kind) for f in found(*many)] == [
        ("error", "out-of-bounds-read"),
        ("warning", "half-accumulation"),
    ]


def test_of_too_many_notes_the_worst_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def count(finder: object, kernel: str) -> str:
        looked_at.append(kernel)
        return ""

    monkeypatch.setattr(findings._LineFinder, "name", count)
    flood = [note(severity="note", message=str(n)) for n in range(2 * findings.MAX_NOTES)]
    assert found(*flood, note())[0].severity == "error"
    assert len(looked_at) == findings.MAX_NOTES


def test_every_defect_has_an_explanation() -> None:
    assert {str(kind) for kind in Defect} == set(MEANINGS)
    assert all(text.endswith(".") for text in MEANINGS.values())


# --- requests for builds --------------------------------------------------------------------------
def test_a_build_request_survives_the_round_trip() -> None:
    for request in (
        BuildRequest("é\0x", (), ()),
        BuildRequest("code", ("-std=c++17", "-DX=1"), ("f<float>", "g")),
    ):
        assert decode_build(encode_build(request)) == request


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_a_cut_or_changed_request_is_refused(cut: int) -> None:
    whole = encode_build(BuildRequest("code", ("-a",), ("f", "g")))
    with pytest.raises(WireError):
        decode_build(whole[:cut] + b"\xff" * 3)


# --- occupancy ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("threads", "registers", "shared", "share", "limit"),
    [
        (1024, 32, 0, 1.0, "threads"),
        (1024, 64, 0, 0.5, "registers"),
        (256, 128, 0, 0.25, "registers"),
        (256, 32, 100 * 1024, 0.25, "shared memory"),
        (32, 16, 0, 0.5, "blocks"),
        (128, 255, 0, 0.125, "registers"),
        # 21 warps' registers, but five in each quarter of the multiprocessor.
        (32, 96, 0, 20 / 64, "registers"),
    ],
)
def test_occupancy_is_the_tightest_bound(
    threads: int, registers: int, shared: int, share: float, limit: str
) -> None:
    result = occupancy(threads, registers, shared)
    assert result.share == pytest.approx(share)
    assert limit in result.limit


def test_registers_are_allotted_to_whole_warps_of_each_quarter() -> None:
    # Of the header's own check: eights for each thread, and as many warps in each quarter.
    assert registers_of_block(1024, 64) == registers_of_block(256, 255) == 65_536
    assert registers_of_block(1024, 65) == 1024 * 72
    assert registers_of_block(257, 168) == 384 * 168 < 65_536 < registers_of_block(257, 169)
    assert [most_threads(n) for n in (32, 64, 65, 92, 168, 169, 255)] == [
        *(1024, 1024, 896, 640, 384, 256, 256),
    ]  # fmt: skip


LARGE = """__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
THREADS = 1024"""


@pytest.mark.parametrize(
    ("block", "registers", "source", "public", "words"),
    [
        ([1024, 1, 1], 65, LARGE, False, ("1,024 threads take 73,728", "65 reg", "bounds__(1024)")),
        ([1024, 1, 1], 65, LARGE.replace("1024", "n"), True, ("1,024 threads", "for 896 threads")),
        ([32, 32, 1], 65, LARGE.replace("1024", "n"), False, ("65 registers", "for 896 threads")),
        ([32, 32, 1], 65, "f(x)", False, ("its threads take more than the 65,536",)),
        ([1024, 1, 1], 64, LARGE, False, ()),
    ],
)
def test_too_many_registers_are_reported_without_a_hidden_number(
    monkeypatch: pytest.MonkeyPatch,
    block: list[int],
    registers: int,
    source: str,
    public: bool,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setattr(
        "gpu_worker.judge.kernels.registers.resources_of",
        lambda *_: {"twice": {"registers": registers}},
    )
    kernel = {
        "name": "twice", "build": 0, "grid": [1], "shared_mem": 0, "launches": 1,
        "counters": {"barriers": 0, "global_bytes_read": 0, "global_bytes_written": 0},
    }  # fmt: skip
    kernels = [{**kernel, "block": one} for one in ([257, 1, 1], block)]
    kernels.append({**kernel, "name": "other", "generated": True, "block": [1024]})
    noted = read_notes([Frame(FrameKind.NOTES, 1, 0, json.dumps({"kernels": kernels}).encode())])
    cases = casegen.public_cases(get("rmsnorm"))
    builds = Builds("", {})
    builds.requests[0] = BuildRequest(LARGE.partition("\n")[0], (), ())
    remember(builds, noted, cases, shown=public)
    told = refused_launches(source, builds)
    assert len(told) == bool(words)
    for item in told:
        assert all(word in item.message for word in words)
        assert (item.kind, item.severity, item.case) == ("launch-size", "error", describe(cases[1]))
        assert public or "1024" in source or "024" not in item.message


def about_argument(number: int, severity: str) -> dict[str, Any]:
    message = f"For argument {number}, the launch passes another type."
    return note(kind="wrong-scalar-type", severity=severity, line=None, message=message)


def test_every_wrong_argument_is_reported_with_errors_first() -> None:
    told = found(*(about_argument(number, "warning") for number in (4, 6, 4)))
    told += found(about_argument(5, "error"))
    told += found(about_argument(7, "warning"), about_argument(5, "error"), public=False)
    kept = findings.merged(told)
    assert [(item.severity, item.message[4:14]) for item in kept] == [
        *(("error", "argument 5"), ("warning", "argument 4"), ("warning", "argument 6")),
    ]


def test_a_failure_names_the_argument_that_ended_the_launch(grade_cupy: GradeCupy) -> None:
    source = (get("rmsnorm_fused_forward").folder / "reference_cupy.py").read_text("utf-8")
    wrong = source.replace("np.int32(self.dim), np.float32(self.eps)", "self.dim, self.eps")
    report = grade_cupy(wrong, "rmsnorm_fused_forward", cases="public").report
    assert [(item.kind, item.severity) for item in report.findings] == [
        *(("wrong-scalar-type", "error"), ("wrong-scalar-type", "warning")),
    ]
    assert report.failure is not None
    assert "For argument 5, eps," in report.failure.message
    assert "Pass np.float32(eps)." in report.failure.message


BFLOAT16_FORGOTTEN = """
import cupy as cp
import numpy as np

CODE = r'''
#include <cuda_bf16.h>
extern "C" __global__ void scaled(const __nv_bfloat16* x, const __nv_bfloat16* w, int n) {}
'''
KERNEL = cp.RawKernel(CODE, "scaled")
ADDED = cp.ElementwiseKernel("T x, T w", "T y", "y = x + w", "added")


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps, self.gamma, self.dgamma = eps, cp.ones(dim, dtype=cp.float32), None

    def forward(self, x):
        if x.dtype.name == "bfloat16" and x.size:
            FAILING
        self.kept, self.dtype = x.astype(cp.float64), x.dtype
        self.rstd = 1 / cp.sqrt((self.kept**2).mean(axis=-1, keepdims=True) + self.eps)
        return (self.kept * self.rstd * self.gamma).astype(x.dtype)

    def backward(self, dout):
        d, h = dout.astype(cp.float64), self.kept * self.rstd
        self.dgamma = (d * h).sum(axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        return ((g - h * (g * h).mean(axis=-1, keepdims=True)) * self.rstd).astype(self.dtype)
"""
LAUNCH = "KERNEL((1,), (32,), {})"
NARROW = "np.int32(x.shape[-1])"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            LAUNCH.format(f"(x, self.gamma.astype(cp.float32), {NARROW})"),
            "For argument 2, w, the launch passes an array of float32, but the kernel takes "
            "__nv_bfloat16*.",
        ),
        (
            LAUNCH.format("(x, self.gamma, 0.5)"),
            "For argument 3, n, the launch passes Python's float, passed as double, but the kernel "
            "takes int.",
        ),
        (
            LAUNCH.format("(x, self.gamma)"),
            "The launch passes 2 arguments, but the kernel takes 3: (const __nv_bfloat16* x, const "
            "__nv_bfloat16* w, int n).",
        ),
        (
            LAUNCH.format(f"(x, cp.asnumpy(self.gamma), {NARROW})"),
            "For argument 2, w, the launch passes a NumPy array of bfloat16, but the kernel takes "
            "__nv_bfloat16*.",
        ),
        (
            "ADDED(x, self.gamma.astype(cp.float64))",
            "For argument 2, w, the launch passes an array of float64, but the kernel takes an "
            "array of bfloat16.",
        ),
    ],
)
def test_a_wrong_argument_is_reported_with_both_types_even_in_hidden_cases(
    call: str, words: str, grade_cupy: GradeCupy
) -> None:
    graded = grade_cupy(BFLOAT16_FORGOTTEN.replace("FAILING", call), seed=1, named=False)
    failure = graded.report.failure
    assert failure is not None
    assert graded.outcome == "runtime_error"
    assert "hidden case" in failure.message
    assert words in failure.message
    assert any(" the kernel takes " in finding.message for finding in graded.report.findings)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"argument": 2, "name": "x", "passed": "an array of float64", "taken": "float*"}, True),
        ({"argument": 2, "name": "LEAK", "passed": "an array of float64", "taken": "float*"}, True),
        ({"argument": 2, "name": "x", "passed": "an array of LEAK", "taken": "float*"}, False),
        ({"argument": 2, "name": "x", "passed": "a number", "taken": "float* LEAK"}, False),
    ],
)
def test_of_arguments_in_hidden_cases_only_types_are_reported(
    fields: dict[str, Any], expected: bool
) -> None:
    (hidden,) = found(note(kind="wrong-array-type", line=None, arguments=fields), public=False)
    assert "LEAK" not in hidden.message
    assert (hidden.message == MEANINGS["wrong-array-type"]) is not expected


def test_no_mistake_is_sought_where_kernel_errors_explain_every_failure(
    grade_cupy: GradeCupy, right_kernel: str
) -> None:
    early: list[Graded] = []
    forgotten = submission("argument_forgotten", "wrong")
    graded = grade_cupy(forgotten, cases="public", on_verdict=early.append)
    assert "argument-count" in {finding.kind for finding in graded.report.findings}
    assert "looking for known mistakes" not in {each.phase for each in graded.report.timings}
    assert early == []
    # Where a case failed beside which nothing was found, it is.
    no_eps = right_kernel.replace("+ eps", "")
    graded = grade_cupy(no_eps, cases="public", on_verdict=early.append)
    assert graded.outcome == "wrong_answer"
    assert [each.report.naming for each in (*early, graded)] == [True, False]


def test_racing_threads_are_not_taken_for_random_numbers() -> None:
    exercise = get("rmsnorm")
    bank = {known.id: as_message(known) for known in exercise.module("mistakes").MISTAKES}
    mistakes = [bank["not-repeatable"], bank["no-eps"]]
    error = found(note(kind="atomic-sum"))
    assert kernel_track.explained(exercise, mistakes, error) == [bank["no-eps"]]
    for other in (note(kind="atomic-sum", severity="warning"), note(kind="integer-division")):
        assert kernel_track.explained(exercise, mistakes, found(other)) == mistakes
