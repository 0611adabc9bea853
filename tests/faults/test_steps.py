"""A death at each exact step of a grading: one final outcome, never two, never none."""

from __future__ import annotations

import pytest

from tests.faults.platform import DEADLY, PATIENCE_SECONDS, Platform, Row
from tests.platform.client import chapter_listing
from tests.platform.instance import wait_for

pytestmark = pytest.mark.services

WORKER_STEPS = ("before the claim", "after the claim", "before the verdict", "after the verdict")
WRONG = "class Another:\n    pass\n"


def good(number: int = 0) -> str:
    return f"{chapter_listing()}\n# {number}\n"


def has_one_outcome(row: Row, outcome: str) -> None:
    assert (row.state, row.outcome) == ("finished", outcome)
    assert row.states.count("finished") == 1, row
    assert set(row.states) <= {"finished", "lost"}, row


def test_a_worker_killed_at_any_step(platform: Platform) -> None:
    platform.worker.kill()
    names = ("learner", "author", "grader")
    held: dict[str, str] = {}
    parts = {}
    for number, step in enumerate((*WORKER_STEPS, "before the verdict")):
        identity = platform.submit(good(number), names[number % 3])
        part = platform.stopping("worker", step, identity).start()
        wait_for(part.is_stopped, PATIENCE_SECONDS, f"a worker to stop {step}: {part.output()}")
        held[identity] = step
        parts[identity] = part
    late = identity
    late_worker = parts.pop(late)
    for part in parts.values():
        part.kill()
    platform.worker.start()
    rows = platform.wait_until_ended(*held)
    for identity, step in held.items():
        has_one_outcome(rows[identity], "accepted")
        # A verdict that was sent counts, and the death after it costs nothing.
        stopped = f"worker that stops {step} of {identity}"
        killed = [a for a in rows[identity].attempts if a.node == stopped]
        assert {attempt.state for attempt in killed} <= {
            "finished" if step == "after the verdict" else "lost"
        }
        assert bool(killed) == (step != "before the claim")

    # The one that was taken for dead wakes up, and says what nobody asks for any more.
    late_worker.resume()
    wait_for(
        lambda: f"verdict for submission {late}" in platform.control.output(),
        PATIENCE_SECONDS,
        "the late verdict to come",
    )
    assert platform.row(late) == rows[late]


@pytest.mark.parametrize("step", ["before recording", "while recording", "after recording"])
def test_the_control_worker_killed_over_a_verdict(platform: Platform, step: str) -> None:
    platform.control.kill()
    identity = platform.submit(good())
    wait_for(lambda: platform.verdicts(identity), PATIENCE_SECONDS, "the verdict to be sent")
    part = platform.stopping("control", step, identity).start()
    wait_for(part.is_stopped, PATIENCE_SECONDS, f"control to stop {step}: {part.output()}")
    part.kill()
    recorded = platform.row(identity).state == "finished"
    assert recorded == (step == "after recording"), "half a verdict was written, or none"
    platform.control.start()
    row = platform.wait_until_ended(identity)[identity]
    has_one_outcome(row, "accepted")
    # What was not recorded comes back from the queue, or is given up for lost and graded again.
    assert len(row.attempts) == 1 or not recorded


def test_a_deadly_submission_ends_and_the_others_flow(platform: Platform) -> None:
    platform.worker.kill()
    platform.stopping("worker", "never", "none").start()
    deadly = platform.submit(WRONG + DEADLY)
    others = [platform.submit(WRONG, name) for name in ("learner", "author", "grader")]
    rows = platform.wait_until_ended(deadly, *others)
    has_outcomes = {identity: row.outcome for identity, row in rows.items()}
    assert has_outcomes == {deadly: "not_gradable", **dict.fromkeys(others, "contract_error")}
    assert rows[deadly].states == ["lost"] * 3
    for identity in others:
        has_one_outcome(rows[identity], "contract_error")
    # Nothing of it is left to kill the next worker.
    wait_for(lambda: not platform.unacknowledged(), PATIENCE_SECONDS, "the queue to be clean")
    assert platform.broker().llen("cpu") == 0
