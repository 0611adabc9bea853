"""What the page of one submission shows, as plain values for its template."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils.html import escape
from django.utils.http import parse_etags, urlencode
from django.utils.safestring import SafeString, mark_safe

from courses.rendering import render_code
from grader import outcomes, queries
from grader.models import AttemptState, Exercise, Submission, SubmissionState, Track
from grader.registry import find_spec

from .hints import NOTHING_KNOWN, hints
from .places import Place, names_in, places_of
from .words import in_words, inputs_text, layout_text

HIGHLIGHTED_LINES_AT_MOST = 3_000
UNREACHABLE = (
    "Queued: the grading queue is not reachable at the moment, your submission is kept and will "
    "be graded"
)
STATE_TEXTS = {
    SubmissionState.QUEUED: "Queued",
    SubmissionState.CLAIMED: "A worker has taken it",
    SubmissionState.RUNNING: "Being graded",
    SubmissionState.FINISHED: "Finished",
}
ANCHORS = ("formula", "step", "line", "test")
_LINE_START = re.compile(r'<span class="line" data-line="(\d+)"')


@dataclass
class SubmissionPage:
    """One submission as shown to whoever may see it."""

    submission: Submission
    queue_position: int | None
    queue_unreachable: bool

    @classmethod
    def of(cls, submission: Submission) -> SubmissionPage:
        attempt = queries.open_attempt(submission)
        waiting = attempt is not None and attempt.state == AttemptState.QUEUED
        return cls(
            submission,
            queries.attempts_ahead(attempt) + 1 if attempt and waiting else None,
            bool(attempt and waiting and queries.queue_is_unreachable(attempt)),
        )

    @property
    def etag(self) -> str:
        """Changes with everything that the fragment shows."""
        shown = (
            self.submission.public_id,
            self.submission.version,
            self.queue_position,
            self.queue_unreachable,
        )
        return f'"{hashlib.sha256(repr(shown).encode()).hexdigest()[:24]}"'

    def is_known(self, if_none_match: str) -> bool:
        """Return whether the client has what the fragment and the API would send.

        `*` matches anything, and tags are compared weakly (RFC 9110, 13.1.2).
        """
        tags = parse_etags(if_none_match)
        return tags == ["*"] or self.etag in (tag.removeprefix("W/") for tag in tags)

    @property
    def exercise(self) -> Exercise:
        return self.submission.exercise

    @property
    def state(self) -> str:
        return self.submission.state

    @property
    def state_text(self) -> str:
        if self.queue_unreachable:
            return UNREACHABLE
        return STATE_TEXTS[SubmissionState(self.submission.state)]

    @property
    def phase_text(self) -> str:
        submission = self.submission
        return outcomes.phase_text(submission.phase, submission.case, submission.cases)

    @property
    def is_final(self) -> bool:
        return self.submission.is_final

    @property
    def outcome(self) -> str | None:
        return self.submission.outcome

    @property
    def outcome_label(self) -> str:
        return outcomes.text_of(self.outcome).label if self.outcome else ""

    @property
    def outcome_text(self) -> str:
        if self.submission.decided_at:
            return outcomes.decided_text(self.submission.decision_reason)
        return outcomes.text_of(self.outcome).text if self.outcome else ""

    @property
    def can_resubmit(self) -> bool:
        return self.outcome == "not_gradable" and self.exercise.accepts_submissions

    @property
    def score_percent(self) -> int | None:
        """Rounded down, so that 100 means that everything passed."""
        score = self.submission.score
        return None if score is None else int(score * 100 + 1e-9)

    @cached_property
    def report(self) -> dict[str, Any]:
        """What the worker found; after a person's decision its objection is a note."""
        report = self.submission.report if isinstance(self.submission.report, dict) else {}
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
        """The chapter's address, where learners can read it."""
        chapter = self.exercise.chapter
        return self.chapter_url if chapter and chapter.published else ""

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """Return what each named mistake is, and the chapter's places that speak of it."""
        return [
            {
                "explanation": mistake["explanation"],
                "places": places_of(mistake, self._names, self._reading_url),
            }
            for mistake in self.report.get("mistakes", [])
        ]

    @property
    def hints(self) -> list[str]:
        """Where to look when no mistake is named."""
        return hints(
            self.report,
            self.spec.gradients if self.spec else (),
            outcome=self.outcome,
            at_home=self.submission.track == Track.NUMPY,
        )

    @property
    def reading(self) -> list[Place]:
        """What to read when no mistake is named: the part of the chapter that it concerns."""
        worst = self.report.get("worst") or {}
        if self.outcome != "wrong_answer" or not worst.get("failed"):
            return []
        part = "part-formulas" if worst["quantity"] == "y" else "part-derivation"
        name = self._names.get(part)
        return [Place(f"{self.chapter_url}#{part}", name)] if name else []

    @property
    def inputs_text(self) -> str:
        return inputs_text(self.report["worst"], self._titles)

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {case.id: case.title for case in self.spec.public_cases} if self.spec else {}

    @property
    def layout_text(self) -> str:
        return layout_text(self.report["worst"]["layout"])

    @property
    def cases_passed(self) -> str:
        """How far a run came that was stopped: "3 of 116"."""
        groups = self.report.get("groups", [])
        passed = sum(group["cases_passed"] for group in groups)
        return f"{passed} of {sum(group['cases'] for group in groups)}"

    @property
    def notes(self) -> list[str]:
        """Return the worker's notes, less those that the page shows in a place of their own."""
        elsewhere = ["Speed, "] if self.report.get("speed") else []
        elsewhere += [NOTHING_KNOWN] if self.hints else []
        notes = self.report.get("notes", [])
        return [note for note in notes if not note.startswith(tuple(elsewhere))]

    @property
    def failure_text(self) -> str:
        return in_words(self.report["failure"]["message"], self._titles)

    @property
    def marked_line(self) -> int | None:
        """The line of the source that an exception or a mistake in its syntax points to."""
        line = (self.report.get("failure") or {}).get("line")
        return line if isinstance(line, int) else None

    @property
    def marked_text(self) -> str:
        lines = self.submission.source.split("\n")
        number = self.marked_line or 0
        return lines[number - 1] if 1 <= number <= len(lines) else ""

    @cached_property
    def source_html(self) -> SafeString:
        return source_html(self.submission.source, self.marked_line)

    @property
    def compare_url(self) -> str:
        """Where this submission is compared with the learner's one before; "" for the first."""
        earlier = queries.submission_before(self.submission)
        if earlier is None:
            return ""
        query = urlencode({"old": earlier, "new": self.submission.public_id})
        return f"{reverse('grader:compare', args=[self.exercise.slug])}?{query}"

    @property
    def poll_url(self) -> str:
        return reverse("grader:submission", args=[self.submission.public_id]) + "?fragment=1"

    @property
    def source_url(self) -> str:
        return reverse("grader:source", args=[self.submission.public_id])

    @property
    def resubmit_url(self) -> str:
        return reverse("grader:resubmit", args=[self.submission.public_id])


def mistake_links(mistake: dict[str, Any], chapter_url: str) -> dict[str, str]:
    """Return the chapter's places for one mistake: formula, step, line, each if it names one."""
    if not chapter_url:
        return {}
    return {
        part: f"{chapter_url}#{part}-{mistake[part]}"
        for part in ANCHORS
        if part != "test" and mistake.get(part)
    }


def source_html(source: str, marked: int | None = None) -> SafeString:
    """Return the source with an element `#source-line-<n>` for each line; one may be marked.

    A source of very many lines is shown without colours, so that no submission makes a slow page.
    """
    if source.count("\n") > HIGHLIGHTED_LINES_AT_MOST:
        return mark_safe(f'<pre tabindex="0"><code>{escape(source)}</code></pre>')  # noqa: S308
    code = render_code(source, "python")

    def numbered_line(match: re.Match[str]) -> str:
        number = match[1]
        mark = " is-marked" if number == str(marked) else ""
        return f'<span class="line{mark}" id="source-line-{number}" data-line="{number}"'

    numbered = _LINE_START.sub(numbered_line, code)
    return mark_safe(numbered)  # noqa: S308  render_code escapes what it is given
