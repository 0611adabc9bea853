"""One verdict of a submission, as plain values for templates and serializers."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

from django.utils.http import urlencode

from grader.models import Exercise, Graded, NodeKind, Outcome, Submission, SubmissionState, Track
from grader.registry import find_spec
from grader.waiting import Nodes, Waiting

from . import outcomes
from .hints import NOTHING_KNOWN, hints
from .places import ChapterPlace, names_in, places_of
from .repairs import repair_of
from .words import about, in_words, inputs_text, layout_text

UNREACHABLE = (
    "Queued: the grading queue is not reachable at the moment, your submission is kept and will "
    "be graded"
)
STATE_TEXTS = {
    SubmissionState.QUEUED: "Queued",
    SubmissionState.CLAIMED: "A worker has taken it",
    SubmissionState.RUNNING: "Being graded",
    SubmissionState.FINISHED: "Finished",
    SubmissionState.REPLACED: "Replaced by a newer submission",
}
NO_NODE: Final = {
    (NodeKind.DEVICE, Nodes.NONE): "No GPU node is connected at the moment. Your submission is "
    "kept, and graded on a GPU as soon as one is.",
    (NodeKind.DEVICE, Nodes.UNUSABLE): "A GPU node is connected, but no GPU of it can be used at "
    "the moment. Your submission is kept, and graded as soon as one can.",
    (NodeKind.FUNCTIONAL, Nodes.NONE): "No worker that grades this track is connected at the "
    "moment. Your submission is kept, and graded as soon as one is.",
}
ON_A_GPU: Final = {
    Nodes.CONNECTED: ", later",
    Nodes.UNUSABLE: " as soon as one can be used: a GPU node is connected, but no GPU of it can be "
    "used now",
    Nodes.NONE: " as soon as a GPU node is connected, which none is now",
}
"""When a submission that is not yet sent will have its second verdict; agrees with `NO_NODE`."""
REPLACED: Final = (
    "You sent a newer version while this one waited for its turn {there}, and the newer one took "
    "its place there. The verdict that counts stays."
)
SECOND_FLAGGED: Final = (
    "The run did something that solutions of this exercise do not do, so it has no score. The "
    "verdict that counts is another one, and stays as it is."
)
SECOND_NOT_GRADABLE: Final = (
    "The platform failed, not your code, and the verdict that counts stays as it is. You can ask "
    "for this one again."
)


class ResultView:
    """One verdict, of one kind of node: the submission's own, or its second one."""

    def __init__(self, submission: Submission, verdict: Graded, waiting: Waiting | None) -> None:
        self.submission = submission
        self.verdict = verdict
        self.waiting = waiting

    @property
    def counts(self) -> bool:
        """Whether this is the verdict that counts for the lesson."""
        return self.verdict is self.submission

    @property
    def prefix(self) -> str:
        """The prefix of ids on the page, where it shows more than one verdict."""
        return "" if self.counts else "second-"

    @property
    def kind(self) -> str:
        return self.verdict.kind

    @property
    def kind_title(self) -> str:
        text = str(self.verdict.get_kind_display())
        return text[:1].upper() + text[1:]

    @property
    def shown(self) -> tuple[Any, ...]:
        """A value that changes with anything shown of it."""
        return (self.verdict.kind, self.verdict.version, self.waiting_text, self.is_naming)

    @property
    def exercise(self) -> Exercise:
        return self.submission.exercise

    @property
    def state(self) -> str:
        return self.verdict.state

    @property
    def queue_position(self) -> int | None:
        return self.waiting.position if self.waiting else None

    @property
    def estimated_seconds(self) -> float | None:
        return self.waiting.seconds if self.waiting else None

    @property
    def is_awaited(self) -> bool:
        """Whether a verdict is to come from a node that is connected."""
        return self.waiting is not None and self.waiting.nodes is Nodes.CONNECTED

    @property
    def state_text(self) -> str:
        if self.waiting and self.waiting.unreachable:
            return UNREACHABLE
        return STATE_TEXTS[SubmissionState(self.verdict.state)]

    @property
    def badge(self) -> outcomes.Badge:
        """Its tone and icon, with its outcome or state."""
        return outcomes.badge_of(self.verdict)

    @property
    def status(self) -> str:
        """Its outcome or state, in a few words."""
        return self.outcome_label if self.outcome else self.state_text

    @property
    def spoken_status(self) -> str:
        """The status, and whether mistakes are being named or were named."""
        if self.is_naming:
            return f"{self.status}, and the name of the mistake is looked for"
        count = len(self.report.get("mistakes", []))
        if not count:
            return self.status
        return f"{self.status}, and {count} mistake{'s are' if count > 1 else ' is'} named"

    @property
    def waiting_text(self) -> str:
        """The progress of an open verdict, in a sentence or two; empty for a final one."""
        if self.waiting is None:
            return ""
        if self.verdict.state != SubmissionState.QUEUED:
            return self.phase_text
        place = self.waiting.position
        if missing := NO_NODE.get((NodeKind(self.kind), self.waiting.nodes)):
            return f"{missing} Position {place} in the queue." if place else missing
        if place is None:
            return "Waiting for a worker."
        text = f"Position {place} in the queue."
        if self.waiting.seconds is None:
            return text
        return f"{text} The verdict is expected in {about(self.waiting.seconds)}."

    @property
    def phase_text(self) -> str:
        return outcomes.phase_text(self.verdict.phase, self.verdict.case, self.verdict.cases)

    @property
    def is_final(self) -> bool:
        return self.verdict.is_final

    @property
    def is_naming(self) -> bool:
        """Whether mistakes are still being named."""
        return self.verdict.is_naming

    @property
    def is_replaced(self) -> bool:
        """Whether a newer submission replaced it before a node took it."""
        return bool(self.verdict.state == SubmissionState.REPLACED)

    @property
    def outcome(self) -> str | None:
        return self.verdict.outcome

    @property
    def outcome_label(self) -> str:
        return outcomes.shown_outcome(self.outcome).label if self.outcome else ""

    @property
    def outcome_text(self) -> str:
        if self.counts and self.submission.decided_at:
            return outcomes.decided_text(self.submission.decision_reason)
        if not self.counts and self.outcome == Outcome.FLAGGED:
            return SECOND_FLAGGED
        if not self.counts and self.outcome == Outcome.NOT_GRADABLE:
            return SECOND_NOT_GRADABLE
        if self.is_replaced:
            return REPLACED.format(there=self.verdict.get_kind_display())
        return outcomes.shown_outcome(self.outcome).text if self.outcome else ""

    @property
    def message(self) -> str:
        """The state or outcome, and what to do, in words."""
        if self.is_final:
            return self.outcome_text
        if self.state == SubmissionState.QUEUED:
            return f"{self.state_text}. {self.waiting_text}".strip()
        return self.phase_text or f"{self.state_text}."

    @property
    def score_percent(self) -> int | None:
        """Rounded down: 100 means that everything passed."""
        score = self.verdict.score
        return None if score is None else int(score * 100 + 1e-9)

    @property
    def score_is_set(self) -> bool:
        """Whether a grader overrode the score; the first note says why."""
        return self.counts and hasattr(self.submission, "override")

    @cached_property
    def report(self) -> dict[str, Any]:
        """The worker's report; after a grader's decision, the objection becomes a note."""
        report = self.verdict.report if isinstance(self.verdict.report, dict) else {}
        if not self.counts:
            return report
        if override := getattr(self.submission, "override", None):
            note = outcomes.override_text(override.reason, override.graded_score)
            report = {**report, "notes": [note, *report.get("notes", [])]}
        failure = report.get("failure")
        if not self.submission.decided_at or not failure:
            return report
        note = f"It was held for review: {failure['message']}"
        return {**report, "failure": None, "notes": [*report.get("notes", []), note]}

    @property
    def chapter_url(self) -> str:
        chapter = self.exercise.chapter
        return chapter.get_absolute_url() if chapter else ""

    @cached_property
    def spec(self) -> Any:
        return find_spec(self.exercise.slug)

    @cached_property
    def _names(self) -> dict[str, str]:
        return names_in(self.exercise.chapter)

    @property
    def _reading_url(self) -> str:
        """The chapter's address, if learners can read it."""
        chapter = self.exercise.chapter
        return self.chapter_url if chapter and chapter.published else ""

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """Return each named mistake, with its places in the chapter."""
        return [
            {
                "explanation": mistake["explanation"],
                "places": places_of(mistake, self._names, self._reading_url),
            }
            for mistake in self.report.get("mistakes", [])
        ]

    @property
    def hints(self) -> list[str]:
        """Hints where no mistake is named; nothing while mistakes are still being named."""
        if self.is_naming:
            return []
        return hints(
            self.report,
            self.spec.gradients if self.spec else (),
            outcome=self.outcome,
            at_home=self.submission.track == Track.NUMPY,
        )

    @property
    def reading(self) -> list[ChapterPlace]:
        """The part of the chapter to read where no mistake is named."""
        worst = self.report.get("worst") or {}
        if self.outcome != "wrong_answer" or not worst.get("failed"):
            return []
        part = "part-formulas" if worst["quantity"] == "y" else "part-derivation"
        name = self._names.get(part)
        return [ChapterPlace(f"{self.chapter_url}#{part}", name)] if name else []

    @property
    def repair_url(self) -> str:
        """The editor with the repaired source; empty where there is nothing to repair."""
        exercise, source = self.exercise, self.submission.source
        if not exercise.is_open_to_learners or repair_of(source, self.report) is None:
            return ""
        query = {"from": self.submission.public_id, "track": self.submission.track, "repaired": "1"}
        return f"{exercise.get_absolute_url()}?{urlencode(query)}#your-code"

    @property
    def inputs_text(self) -> str:
        return inputs_text(self.report["worst"], self.titles)

    @cached_property
    def titles(self) -> dict[str, str]:
        """The titles of the public cases by their ids."""
        return {case.id: case.title for case in self.spec.public_cases} if self.spec else {}

    @property
    def layout_text(self) -> str:
        return layout_text(self.report["worst"]["layout"])

    @property
    def cases_passed(self) -> str:
        """The progress of a run that was stopped: "3 of 116"."""
        groups = self.report.get("groups", [])
        passed = sum(group["cases_passed"] for group in groups)
        return f"{passed} of {sum(group['cases'] for group in groups)}"

    @property
    def notes(self) -> list[str]:
        """Return the worker's notes, except those that the page shows elsewhere."""
        elsewhere = ["Speed, "] if self.report.get("speed") else []
        elsewhere += [NOTHING_KNOWN] if self.hints else []
        notes = self.report.get("notes", [])
        return [note for note in notes if not note.startswith(tuple(elsewhere))]

    @property
    def failure_text(self) -> str:
        return in_words(self.report["failure"]["message"], self.titles)

    @property
    def marked_line(self) -> int | None:
        """The line of an exception or a syntax error in the source."""
        line = (self.report.get("failure") or {}).get("line")
        return line if isinstance(line, int) else None

    @property
    def marked_text(self) -> str:
        lines = self.submission.source.split("\n")
        number = self.marked_line or 0
        return lines[number - 1].strip(" \t\r") if 1 <= number <= len(lines) else ""
