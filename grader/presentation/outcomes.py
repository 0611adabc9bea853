"""What each outcome means and what to do next, in words. One text for page, API and admin."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from grader.models import Outcome, Phase


@dataclass(frozen=True, slots=True)
class OutcomeText:
    """`label` is a heading, `meaning` says what happened, `next_step` what to do now."""

    label: str
    meaning: str
    next_step: str

    @property
    def text(self) -> str:
        return f"{self.meaning} {self.next_step}"


TEXTS: Final = MappingProxyType(
    {
        Outcome.ACCEPTED: OutcomeText(
            "Accepted",
            "Every case ran, and every result lies within the tolerance.",
            "Compare your code with the chapter's listing, then take the next exercise.",
        ),
        Outcome.WRONG_ANSWER: OutcomeText(
            "Wrong answer",
            "At least one result lies outside the tolerance, differs between runs, or an input "
            "was modified.",
            "Look at the worst case in the report and at the step of the derivation it points to, "
            "then send a new version.",
        ),
        Outcome.CONTRACT_ERROR: OutcomeText(
            "Contract not met",
            "The class, a method or a result does not have the form that the exercise asks for: "
            "a name, type, shape or dtype is not as stated, an import is not allowed, or a right "
            "program is over the exercise's budget.",
            "Compare the message in the report with the contract in the statement, then send a new "
            "version.",
        ),
        Outcome.RUNTIME_ERROR: OutcomeText(
            "Runtime error",
            "Your code raised an exception, crashed or ended before all cases were done.",
            "Read the message in the report, try the public cases with Run, which counts nowhere, "
            "then send a new version.",
        ),
        Outcome.TIME_LIMIT: OutcomeText(
            "Time limit exceeded",
            "Your code did not finish within the time limit that the report names.",
            "Look for a loop that does not end, or replace loops over elements by array "
            "operations, then send a new version.",
        ),
        Outcome.MEMORY_LIMIT: OutcomeText(
            "Memory limit exceeded",
            "Your code asked for more memory than the limit that the report names.",
            "Look for arrays larger than the input, such as outer products, and for lists that "
            "grow with each call, then send a new version.",
        ),
        Outcome.OUTPUT_LIMIT: OutcomeText(
            "Output limit exceeded",
            "Your code printed more than the limit that the report names.",
            "Remove calls of print that run once per element or per case, then send a new version.",
        ),
        Outcome.FLAGGED: OutcomeText(
            "Held for review",
            "The run did something that solutions of this exercise do not do, so it has no score "
            "yet.",
            "A grader looks at it and decides; this page then shows the decision and its reason. "
            "You can go on and send another version meanwhile.",
        ),
        Outcome.NOT_GRADABLE: OutcomeText(
            "Could not be graded",
            "The platform failed, not your code. This does not count as an attempt.",
            "Send it again as it is.",
        ),
    }
)

PHASE_TEXTS: Final = MappingProxyType(
    {
        Phase.CLAIMED: "A worker has taken your submission.",
        Phase.SETTING_UP: "The worker is getting ready to run your code.",
        Phase.RUNNING: "Your code is running.",
        Phase.COMPARING: "The results are being compared.",
    }
)


def text_of(outcome: str) -> OutcomeText:
    return TEXTS[Outcome(outcome)]


def decided_text(reason: str) -> str:
    """Return what a submission shows in place of the outcome's text once a grader has decided."""
    return f"Decided by a grader: {reason}"


def phase_text(phase: str, case: int, cases: int) -> str:
    """Return where a claimed submission is, in a sentence; "" before it is claimed."""
    if not phase:
        return ""
    if phase == Phase.RUNNING and cases:
        return f"Your code is running: case {case} of {cases}."
    return PHASE_TEXTS[Phase(phase)]


def override_text(reason: str, graded_score: float) -> str:
    """Return the note on a submission that a grader gave another score."""
    return f"A grader set the score: {reason} The grading gave {int(graded_score * 100 + 1e-9)} %."
