"""What a learner may and may not see of a grading; partial credit; the receipt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from gpu_worker.__main__ import main
from gpu_worker.exercises import get
from gpu_worker.exercises.stored import stored
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.report.reporting import clean_text, outcome_notes
from gpu_worker.messages.protocol import Finding, Outcome, Phase
from gpu_worker.sandbox import isolation
from gpu_worker.sandbox.client import Zygote
from gpu_worker.tests.conftest import Grade
from gpu_worker.worker.running import run_public_cases


def test_output_is_shown_for_loading_and_public_cases_but_not_hidden_ones(
    grade: Grade, right: str
) -> None:
    source = right.replace(
        "        wide = x", "        print('forward', x.shape, flush=True)\n        wide = x"
    )
    graded = grade("print('loaded')\n" + source)
    lines = graded.report.output.splitlines()
    assert lines[0] == "loaded"
    assert len(lines) == 1 + len(get("rmsnorm").public_cases)
    assert graded.outcome == "accepted"


def test_an_error_in_a_public_case_shows_the_whole_trace(grade: Grade, right: str) -> None:
    graded = grade(
        right.replace("        d = dout", "        raise ValueError('mine')\n        d = dout")
    )
    failure = graded.report.failure
    assert failure is not None
    assert failure.line == 18
    assert "ValueError: mine" in failure.traceback
    assert 'File "submission.py", line 18, in backward' in failure.traceback
    assert "harness" not in failure.traceback


def test_an_error_in_a_hidden_case_shows_type_and_line_and_none_of_its_values(
    grade: Grade, right: str
) -> None:
    leak = """
        if x.size > 12:
            class_name = "Input_%s" % float(x.ravel()[0])
            print("LEAK", x.ravel()[:3])
            raise type(class_name, (Exception,), {})("LEAK %s" % x.ravel()[:3])
        wide = x"""
    graded = grade(right.replace("\n        wide = x", leak))
    failure = graded.report.failure
    assert graded.outcome == "runtime_error"
    assert failure is not None
    assert failure.traceback == ""
    assert failure.line == 15
    assert "Your code raised Exception in forward." in failure.message
    everything = graded.report.model_dump_json()
    assert "LEAK" not in everything
    assert "Input_" not in everything


@pytest.mark.parametrize(
    "result",
    [
        "type('Input_%s' % float(x.ravel()[0]), (), {})()",
        "np.zeros(1, [('LEAK%s' % float(x.ravel()[0]), float)])",
        "type('LEAK%s' % float(x.ravel()[0]), (np.ndarray,), {})((1,))",
    ],
)
def test_the_name_of_a_type_or_dtype_carries_no_value_of_a_hidden_case(
    grade: Grade, right: str, result: str
) -> None:
    leak = f"""
        if x.size > 12:
            return {result}
        wide = x"""
    graded = grade(right.replace("\n        wide = x", leak))
    assert graded.outcome == "contract_error"
    everything = graded.report.model_dump_json()
    assert "LEAK" not in everything
    assert "Input_" not in everything
    assert graded.report.failure is not None
    assert "In a hidden case" in graded.report.failure.message


def test_a_hidden_case_shows_a_single_element_and_no_other_number(grade: Grade, right: str) -> None:
    graded = grade(
        right.replace("self.xhat * self.gamma)", "self.xhat * self.gamma * (x.size < 13))")
    )
    worst = graded.report.worst
    assert worst is not None
    assert worst.failed
    cases = casegen.hidden_cases(get("rmsnorm"), int(graded.report.receipt.seed, 16))  # type: ignore[union-attr]
    # Results of public cases may look alike.
    text = graded.report.model_copy(update={"public": []}).model_dump_json()
    shown = {worst.expected, worst.got}
    for case in cases:
        for array in case.script.arrays:
            for value in array.values.ravel()[:50]:
                digits = f"{float(value):.9g}"
                assert len(digits) < 7 or digits in shown or digits not in text


def test_the_report_of_a_wrong_answer_is_complete(grade: Grade, right: str) -> None:
    graded = grade("print('mine')\n" + right.replace("+ self.eps", "+ 1e-5"))
    report = graded.report
    assert [group.id for group in report.groups] == [g.id for g in get("rmsnorm").groups]
    assert report.output.startswith("mine\n")
    assert report.worst is not None
    assert sum(report.worst.histogram) > 0
    assert report.worst.units is not None
    assert report.worst.units > report.worst.limit
    assert report.worst.dtype in ("float16", "float32", "float64")
    (mistake,) = report.mistakes
    assert all((mistake.step, mistake.formula, mistake.line, mistake.test, mistake.explanation))
    phases = [timing.phase for timing in report.timings]
    assert phases[0] == "setting up"
    assert "looking for known mistakes" in phases
    receipt = report.receipt
    assert receipt is not None
    hashes = (receipt.source_sha256, receipt.reference_sha256, receipt.cases_sha256)
    assert all(len(digest) == 64 for digest in hashes)
    assert all((receipt.python, receipt.numpy, receipt.platform, receipt.node, receipt.isolation))
    assert receipt.limits["wall_seconds"] == 10.0


def test_a_files_habits_do_not_matter(grade: Grade, right: str) -> None:
    windows = "\ufeff" + right.replace("    ", "\t").replace("\n", "\r\n")
    windows += '\r\nif __name__ == "__main__":\r\n\traise SystemExit(1)\r\n'
    assert grade(windows).outcome == "accepted"
    assert grade("# -*- coding: latin-1 -*-\n\u03b5 = 1\n" + right).outcome == "accepted"


def test_text_that_is_not_unicode_is_refused_with_advice(grade: Grade) -> None:
    graded = grade("# \udcff\n")
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert "UTF-8" in graded.report.failure.message


def test_a_source_is_limited_in_bytes(grade: Grade, right: str) -> None:
    graded = grade(right + "# " + "\u03b5" * 33_000)
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert "65536" in graded.report.failure.message


def test_forward_alone_earns_its_groups(grade: Grade, right: str) -> None:
    graded = grade(right[: right.index("    def backward")])
    passed = {group.id for group in graded.report.groups if group.passed}
    assert passed == {"forward"}
    assert graded.outcome == "contract_error"
    assert graded.score == pytest.approx(0.2)


def test_groups_passed_before_a_limit_count_and_the_rest_stay_open(
    grade: Grade, right: str
) -> None:
    endless = right.replace(
        "        d = dout", "        while dout.size > 12: pass\n        d = dout"
    )
    # Processor time does not depend on how busy the machine is.
    graded = grade(endless, limits={"cpu_seconds": 1.0})
    states = {group.id: group.passed for group in graded.report.groups}
    assert graded.outcome == "time_limit"
    assert states["public"] is True
    assert states["forward"] is True
    assert states["state"] is None
    assert graded.score == pytest.approx(0.3)


def test_all_cases_must_pass_for_acceptance_however_rare_the_fault(
    grade: Grade, right: str
) -> None:
    rare = right.replace(
        "        wide = x", "        x = x * (0 if x.shape[-1] > 8000 else 1)\n        wide = x"
    )
    graded = grade(rare)
    assert graded.outcome == "wrong_answer"
    assert 0 < graded.score < 1
    assert graded.report.worst is not None
    assert graded.report.worst.shape[-1] > 8000
    assert graded.report.mistakes == []
    assert "No known mistake" in graded.report.notes[0]


@pytest.mark.parametrize(
    ("severity", "said"),
    [("error", []), ("warning", ["What is warned of may."]), ("note", ["a rare one, or several."])],
)
def test_an_unnamed_wrong_answer_points_to_the_warnings(
    severity: Literal["error", "warning", "note"], said: list[str]
) -> None:
    finding = Finding(
        kind="integer-division",
        severity=severity,
        kernel="k",
        line=1,
        kernel_line=1,
        message="1 / D divides integers.",
    )
    notes = outcome_notes(Outcome.WRONG_ANSWER, None, [], [finding])
    assert len(notes) == len(said)
    assert all(note.endswith(end) for note, end in zip(notes, said, strict=True))


def test_a_nan_in_one_row_must_not_reach_another(grade: Grade, right: str) -> None:
    touching = right.replace("        wide = x", "        x = x + 0 * x.sum()\n        wide = x")
    graded = grade(touching)
    assert graded.outcome == "wrong_answer"


def test_the_receipt_repeats_the_cases(grade: Grade, right: str) -> None:
    first = grade(right).report.receipt
    assert first is not None
    again = grade(right, seed=int(first.seed, 16)).report.receipt
    assert again is not None
    assert again.cases_sha256 == first.cases_sha256
    assert grade(right).report.receipt != first
    assert first.isolation == isolation.establish().text
    assert first.limits["wall_seconds"] == 10


def test_progress_goes_through_the_phases_to_the_last_case(grade: Grade, right: str) -> None:
    seen: list[tuple[Phase, int, int]] = []
    grade(right, on_progress=lambda *item: seen.append(item))
    phases = list(dict.fromkeys(phase for phase, _, _ in seen))
    assert phases == [Phase.SETTING_UP, Phase.RUNNING, Phase.COMPARING]
    running = [case for phase, case, _ in seen if phase is Phase.RUNNING]
    total = seen[-1][2]
    assert running == list(range(1, total + 1))
    assert total == len(get("rmsnorm").public_cases) + len(get("rmsnorm").plans)


def test_public_only_runs_the_public_cases_only(grade: Grade, right: str) -> None:
    graded = grade(right, cases="public")
    assert [group.id for group in graded.report.groups] == ["public"]
    assert graded.score == 1.0


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (b"a\x00b\x1b[31mc\r\nd\te\n", "ab[31mc\nd\te\n"),
        (b"\xff ok", "\ufffd ok"),
        ("\udcff", "?"),
        (b"50%\r100%\n", "50%100%\n"),
    ],
)
def test_control_characters_are_removed_from_output(raw: bytes | str, clean: str) -> None:
    assert clean_text(raw) == clean


def test_control_characters_are_removed_from_method_names(
    grade: Grade, zygote: Zygote, right: str
) -> None:
    source = right + (
        "\ndef forward(self): pass\nforward.__qualname__ = 'x\\x00\\x1b[31m'\n"
        "RMSNormScratch.forward = forward\n"
    )
    graded = grade(source, cases="public").report.failure
    tried = run_public_cases(get("rmsnorm"), source, zygote)[1].cases[0].failure
    for failure in (graded, tried):
        assert failure is not None
        assert "Python says: x[31m() takes 1 positional" in failure.message


def test_the_command_prints_a_report_and_says_by_its_code_whether_it_passed(
    tmp_path: Path, right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(right, encoding="utf-8")
    assert main(["grade", str(file), "--exercise", "rmsnorm"]) == 0
    assert "accepted, score 100%" in capsys.readouterr().out
    file.write_text(right.replace("+ self.eps", "+ 1e-5"), encoding="utf-8")
    assert main(["grade", str(file), "--exercise", "rmsnorm", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["outcome"] == "wrong_answer"
    assert data["report"]["mistakes"][0]["id"] == "eps-fixed-1e-5"
    assert main(["grade", str(tmp_path / "none.py"), "--exercise", "rmsnorm"]) == 2


def test_an_exercise_without_eps_reports_none(grade: Grade) -> None:
    slug = "softmax_cross_entropy"
    graded = grade(next(iter(stored(get(slug), "correct"))).source, slug, timed=False)
    assert graded.outcome == "accepted"
    assert graded.report.worst is not None
    assert graded.report.worst.eps is None
