"""A run that ends before its end: which limit, in which method, in which group of cases."""

from __future__ import annotations

import pytest

from gpu_worker.exercises import get
from gpu_worker.judge import Graded
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.running.execution import crash_stop
from gpu_worker.messages.protocol import Phase
from gpu_worker.sandbox.run import RunResult
from gpu_worker.tests.conftest import Grade

LATER = "        if dout.size > 12:\n            {}\n        d = dout"


def in_hidden_backward(right: str, line: str) -> str:
    """Do something in the first hidden case that calls backward."""
    return "import os, sys\n" + right.replace("        d = dout", LATER.format(line))


def in_forward(right: str, lines: str, after: str = "") -> str:
    return right.replace("        wide = x", f"        {lines}\n        wide = x") + after


def message(graded: Graded) -> str:
    assert graded.report.failure is not None
    return graded.report.failure.message


def group(slug: str, id: str) -> str:
    return get(slug).group_titles[id]


def assert_no_hidden_number_is_shown(graded: Graded) -> None:
    assert graded.report.receipt is not None
    cases = casegen.hidden_cases(get("rmsnorm"), int(graded.report.receipt.seed, 16))
    # Results of public cases may look alike.
    text = graded.report.model_copy(update={"public": []}).model_dump_json()
    for array in (array for case in cases for array in case.script.arrays):
        for value in array.values.ravel()[:20]:
            digits = f"{float(value):.9g}"
            assert len(digits) < 7 or digits not in text


# --- where it stood ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "outcome", "limits"),
    [
        ("while True: pass", "time_limit", {"cpu_seconds": 1.0}),
        ("os._exit(0)", "runtime_error", {}),
        ("os.abort()", "runtime_error", {}),
        ("kept = [0]\n            while True: kept = kept + kept", "memory_limit", {}),
        ("raise KeyError(1)", "runtime_error", {}),
    ],
)
def test_method_and_group_are_reported_but_no_input(
    line: str, outcome: str, limits: dict[str, float], grade: Grade, right: str
) -> None:
    graded = grade(in_hidden_backward(right, line), limits=limits)
    assert graded.outcome == outcome
    assert "backward" in message(graded)
    assert f"a hidden case of the group “{group('rmsnorm', 'gradient-x')}”" in message(graded)
    assert_no_hidden_number_is_shown(graded)


def test_a_failed_public_case_is_reported_rather_than_a_later_end(grade: Grade, right: str) -> None:
    """It is what the learner can look at; that the program was stopped is said beside it."""
    wrong = in_hidden_backward(right, "while True: pass").replace("self.eps)", "self.eps) + 1")
    graded = grade(wrong, limits={"cpu_seconds": 1.0})
    assert graded.outcome == "wrong_answer"
    assert "In a public case" in message(graded)
    (note,) = graded.report.notes
    assert "Later, the program was stopped as well. The program used" in note
    assert group("rmsnorm", "gradient-x") in note
    assert graded.report.mistakes == []
    assert_no_hidden_number_is_shown(graded)


def test_a_run_that_ends_in_a_public_case_or_while_loading_says_so(
    grade: Grade, right: str
) -> None:
    endless = right.replace("        self.eps = eps", "        while True: pass")
    said = message(grade(endless, limits={"cpu_seconds": 1.0}))
    assert "It was running __init__ in a public case of the group “Public examples”" in said
    said = message(grade("while True: pass\n", limits={"cpu_seconds": 1.0}))
    assert said.endswith("It was loading your file.")


# --- memory --------------------------------------------------------------------------------------
KEPT = "\nKEPT = []\n"
ON_AND_ON = {
    "lists of large pieces": "k = []\n        while True: k.append(bytearray(1 << 26))",
    "lists of small pieces": "k = []\n        while True: k.append(bytearray(100))",
    "caught for ever": (
        "while True:\n            try:\n                KEPT.append(bytearray(1 << 20))\n"
        "            except MemoryError:\n                pass"
    ),
    "recursion without a limit": "sys.setrecursionlimit(10**9)\n        self.forward(x)",
}


@pytest.mark.parametrize("name", ON_AND_ON)
def test_a_program_that_only_allocates_hits_the_memory_limit_not_the_time_limit(
    name: str, grade: Grade, right: str
) -> None:
    graded = grade("import sys\n" + in_forward(right, ON_AND_ON[name], KEPT))
    assert graded.outcome == "memory_limit"
    assert graded.report.failure is not None
    assert graded.report.failure.limit == "512 MB"
    assert "forward" in message(graded)


def test_too_much_memory_in_one_large_case_costs_only_that_group(grade: Grade, right: str) -> None:
    outer = in_forward(right, "_ = np.empty((x.shape[-1],) * 2) if x.shape[-1] > 16000 else 0")
    graded = grade(outer)
    assert graded.outcome == "memory_limit"
    assert [g.id for g in graded.report.groups if not g.passed] == ["shapes"]


# --- exceptions and files that cannot be loaded --------------------------------------------------
@pytest.mark.parametrize("raised", ["ValueError", "KeyboardInterrupt", "SystemExit"])
def test_an_exception_without_a_usable_str_is_reported_by_type_and_line(
    raised: str, grade: Grade, right: str
) -> None:
    wordless = f"\n\nclass Wordless(Exception):\n    def __str__(self):\n        raise {raised}\n"
    graded = grade(in_forward(right, "raise Wordless", wordless))
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert graded.report.failure.line == 12
    assert "submission.Wordless" in graded.report.failure.traceback


@pytest.mark.parametrize(
    ("source", "error", "line"),
    [
        ("class A:\nx = 1\n", "IndentationError", 2),
        ("class A:\n    x = (\n", "SyntaxError", 2),
        ("x = 1\n\tif x:\n        pass\n", "IndentationError", 2),
    ],
)
def test_a_file_that_is_not_python_fails_while_loading(
    source: str, error: str, line: int, grade: Grade
) -> None:
    seen: list[Phase] = []
    graded = grade(source, on_progress=lambda phase, case, cases: seen.append(phase))
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert f"Your file is not valid Python: {error}." in message(graded)
    assert graded.report.failure.line == line
    assert [timing.phase for timing in graded.report.timings] == [
        "setting up",
        "loading your file",
    ]
    assert seen == [Phase.SETTING_UP]


# --- output and repeated results -----------------------------------------------------------------
@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (40, "40"), (64, "SIGRTMAX")])
def test_any_signal_that_ended_a_program_is_reported(number: int, name: str) -> None:
    stop = crash_stop(RunResult(signal=number), {"memory_megabytes": 512.0})
    assert stop.outcome == "runtime_error"
    assert stop.message == f"The program was ended by the signal {name}."


def test_limits_on_output_are_stated_exactly(grade: Grade) -> None:
    graded = grade("while True: print('y' * 1000)\n")
    assert graded.outcome == "output_limit"
    assert graded.report.failure is not None
    assert graded.report.failure.limit == "8 MB"
    assert "64 KB are kept and shown" in message(graded)
    assert len(graded.report.output) == 64 * 1024
    assert graded.report.receipt is not None
    limits = graded.report.receipt.limits
    assert (limits["printed_megabytes"], limits["output_kilobytes"]) == (8, 64)


@pytest.mark.parametrize("spread", ["0.1", "1e-9"])
def test_results_that_never_repeat_are_called_so(spread: str, grade: Grade, right: str) -> None:
    noisy = right.replace(
        "return (self.xhat", f"return (np.random.default_rng().normal(1, {spread}) * self.xhat"
    )
    graded = grade(noisy)
    assert graded.outcome == "wrong_answer"
    assert "The same input gave different results when it was given again" in message(graded)
    assert [mistake.id for mistake in graded.report.mistakes] == ["not-repeatable"]
