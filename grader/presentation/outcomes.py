"""How outcomes are shown: one table of label, text, tone and icon for pages, REST and admin."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from grader.models import CodeRun, Graded, Outcome, Phase, RunOutcome, RunState, SubmissionState


class Tone(StrEnum):
    """How good a result is. Style sheets colour it by the class `is-<tone>`."""

    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    BUSY = "busy"
    NEUTRAL = ""


class Icon(StrEnum):
    """The icons of `_icon.html` for results."""

    CHECK = "check"
    CROSS = "cross"
    ALERT = "alert"
    CLOCK = "clock"
    DASH = "dash"


@dataclass(frozen=True, slots=True)
class Badge:
    """A result in one line, for `_badge.html`; its colour is never the only sign."""

    tone: Tone
    icon: Icon
    label: str


@dataclass(frozen=True, slots=True)
class ShownOutcome:
    """Everything shown of an outcome; `meaning` says what happened, `next_step` what to do."""

    outcome: Outcome
    tone: Tone
    icon: Icon
    meaning: str
    next_step: str

    @property
    def label(self) -> str:
        """The heading: the choice's own label, as in the admin."""
        return str(self.outcome.label)

    @property
    def text(self) -> str:
        return f"{self.meaning} {self.next_step}"

    @property
    def badge(self) -> Badge:
        return Badge(self.tone, self.icon, self.label)


_TABLE: Final = (
    ShownOutcome(
        Outcome.ACCEPTED,
        Tone.GOOD,
        Icon.CHECK,
        "Every case ran, and every result lies within the tolerance.",
        "Compare your code with the chapter's listing, then take the next exercise.",
    ),
    ShownOutcome(
        Outcome.WRONG_ANSWER,
        Tone.BAD,
        Icon.CROSS,
        "At least one result lies outside the tolerance, differs between runs, or an input "
        "was modified.",
        "Look at the worst case in the report and at the step of the derivation it points to, "
        "then send a new version.",
    ),
    ShownOutcome(
        Outcome.CONTRACT_ERROR,
        Tone.BAD,
        Icon.CROSS,
        "The class, a method or a result does not have the form that the exercise asks for: "
        "a name, type, shape or dtype is not as stated, an import is not allowed, or a right "
        "program is over the exercise's budget.",
        "Compare the message in the report with the contract in the statement, then send a new "
        "version.",
    ),
    ShownOutcome(
        Outcome.RUNTIME_ERROR,
        Tone.BAD,
        Icon.CROSS,
        "Your code raised an exception, crashed or ended before all cases were done.",
        "Read the message in the report, try the public cases with Run, which counts nowhere, "
        "then send a new version.",
    ),
    ShownOutcome(
        Outcome.TIME_LIMIT,
        Tone.BAD,
        Icon.CLOCK,
        "Your code did not finish within the time limit that the report names.",
        "Look for a loop that does not end, or replace loops over elements by array "
        "operations, then send a new version.",
    ),
    ShownOutcome(
        Outcome.MEMORY_LIMIT,
        Tone.BAD,
        Icon.CROSS,
        "Your code asked for more memory than the limit that the report names.",
        "Look for arrays larger than the input, such as outer products, and for lists that "
        "grow with each call, then send a new version.",
    ),
    ShownOutcome(
        Outcome.OUTPUT_LIMIT,
        Tone.BAD,
        Icon.CROSS,
        "Your code printed more than the limit that the report names.",
        "Remove calls of print that run once per element or per case, then send a new version.",
    ),
    ShownOutcome(
        Outcome.FLAGGED,
        Tone.WARN,
        Icon.ALERT,
        "The run did something that solutions of this exercise do not do, so it has no score yet.",
        "A grader looks at it and decides; this page then shows the decision and its reason. "
        "You can go on and send another version meanwhile.",
    ),
    ShownOutcome(
        Outcome.NOT_GRADABLE,
        Tone.WARN,
        Icon.ALERT,
        "The platform failed, not your code. This does not count as an attempt.",
        "Send it again as it is.",
    ),
)
OUTCOMES: Final = MappingProxyType({shown.outcome: shown for shown in _TABLE})

RUN_OUTCOMES: Final = MappingProxyType(
    {
        RunOutcome.COMPLETED: (Tone.GOOD, Icon.CHECK),
        RunOutcome.WRONG_ANSWER: (Tone.BAD, Icon.CROSS),
        RunOutcome.CONTRACT_ERROR: (Tone.BAD, Icon.CROSS),
        RunOutcome.RUNTIME_ERROR: (Tone.BAD, Icon.CROSS),
        RunOutcome.TIME_LIMIT: (Tone.BAD, Icon.CLOCK),
        RunOutcome.MEMORY_LIMIT: (Tone.BAD, Icon.CROSS),
        RunOutcome.OUTPUT_LIMIT: (Tone.BAD, Icon.CROSS),
        RunOutcome.FLAGGED: (Tone.WARN, Icon.ALERT),
        RunOutcome.NOT_RUN: (Tone.WARN, Icon.ALERT),
    }
)
"""Tone and icon of a run's outcome; its label is the choice's own. A run needs no text."""

PASSED: Final = Badge(Tone.GOOD, Icon.CHECK, "Passed")
FAILED: Final = Badge(Tone.BAD, Icon.CROSS, "Failed")
NOT_RUN: Final = Badge(Tone.NEUTRAL, Icon.DASH, "Not run")

PHASE_TEXTS: Final = MappingProxyType(
    {
        Phase.CLAIMED: "A worker has taken your submission.",
        Phase.SETTING_UP: "The worker is getting ready to run your code.",
        Phase.RUNNING: "Your code is running.",
        Phase.COMPARING: "The results are being compared.",
    }
)


def shown_outcome(outcome: str) -> ShownOutcome:
    return OUTCOMES[Outcome(outcome)]


def badge_of(verdict: Graded) -> Badge:
    """Return a verdict's badge: its outcome, or its state while there is none."""
    if verdict.outcome:
        return shown_outcome(verdict.outcome).badge
    state = str(verdict.get_state_display())
    label = state[:1].upper() + state[1:]
    if verdict.state == SubmissionState.REPLACED:
        return Badge(Tone.NEUTRAL, Icon.DASH, label)
    return Badge(Tone.BUSY, Icon.CLOCK, label)


def badge_of_run(run: CodeRun, label: str) -> Badge:
    """Return a run's badge, with a label of its own."""
    if run.state != RunState.FINISHED or not run.outcome:
        return Badge(Tone.BUSY, Icon.CLOCK, label)
    return Badge(*RUN_OUTCOMES[RunOutcome(run.outcome)], label)


def badge_of_cases(passed: bool | None) -> Badge:
    """Return the badge of a case or of a group; None for `passed` means that it did not run."""
    if passed is None:
        return NOT_RUN
    return PASSED if passed else FAILED


def decided_text(reason: str) -> str:
    """Return the text in place of the outcome's own once a grader has decided."""
    return f"Decided by a grader: {reason}"


def phase_text(phase: str, case: int, cases: int) -> str:
    """Return the progress of a claimed submission, in a sentence; empty before it is claimed."""
    if not phase:
        return ""
    if phase == Phase.RUNNING and cases:
        return f"Your code is running: case {case} of {cases}."
    return PHASE_TEXTS[Phase(phase)]


def override_text(reason: str, graded_score: float) -> str:
    """Return the note on a submission whose score a grader overrode."""
    return f"A grader set the score: {reason} The grading gave {int(graded_score * 100 + 1e-9)} %."
