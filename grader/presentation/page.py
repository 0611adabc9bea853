"""The contents of a submission's page: its verdicts, their comparison, its source."""

from __future__ import annotations

import hashlib
import re
from datetime import datetime
from functools import cached_property
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe

from courses.rendering import render_code
from grader import deadlines, queries
from grader.models import NodeKind, Outcome, Submission
from grader.waiting import waiting_for

from .hidden_characters import with_hidden_marked
from .parity import ParityView, parities
from .result_view import ResultView

HIGHLIGHTED_LINES_AT_MOST = 3_000
ANCHORS = ("formula", "step", "line", "test")
_LINE_START = re.compile(r'<span class="line" data-line="(\d+)"')
NODE_NAMES = {NodeKind.FUNCTIONAL: "a processor", NodeKind.DEVICE: "a GPU"}
WHAT_COUNTS = {
    NodeKind.FUNCTIONAL: "The verdict of a processor counts for the lesson. What a GPU finds is "
    "shown beside it, and takes nothing away.",
    NodeKind.DEVICE: "The verdict of a GPU counts for the lesson: this site requires one. What a "
    "processor finds is shown beside it.",
}


class SubmissionPage(ResultView):
    """A submission by the verdict that counts, with everything shown beside it."""

    @classmethod
    def of(cls, submission: Submission) -> SubmissionPage:
        return cls(submission, submission, waiting_for(submission, submission))

    @cached_property
    def second(self) -> ResultView | None:
        """The verdict of the other kind of node; None where there is only one kind."""
        second = getattr(self.submission, "second", None)
        if second is None:
            return None
        return ResultView(self.submission, second, waiting_for(self.submission, second))

    @property
    def results(self) -> list[ResultView]:
        """All verdicts, a processor's first."""
        found = [self, self.second] if self.second else [self]
        return sorted(found, key=lambda result: NodeKind.values.index(result.kind))

    @property
    def deadline(self) -> datetime | None:
        """The learner's deadline for this exercise."""
        return deadlines.deadline_of(self.submission)

    @property
    def is_late(self) -> bool:
        return deadlines.is_late(self.submission)

    @property
    def what_counts(self) -> str:
        return WHAT_COUNTS[NodeKind(self.kind)] if self.second else ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing more will arrive while nobody connects another node."""
        if self.is_naming or (self.second and self.second.is_naming):
            return False
        return self.is_final and not (self.second and self.second.is_awaited)

    @property
    def status_of_all(self) -> str:
        """The state of each verdict in a few words, for screen readers to announce."""
        if self.second is None:
            return self.spoken_status
        return ". ".join(f"{result.kind_title}: {result.spoken_status}" for result in self.results)

    @cached_property
    def parities(self) -> list[ParityView]:
        """Comparisons with the verdict of the other kind of node, and with the other track."""
        return parities(self, self.second)

    @property
    def etag(self) -> str:
        """Changes with everything that the fragment shows; begins with the counting verdict's
        version.
        """
        shown = (
            self.submission.public_id,
            self.deadline,
            self.shown,
            self.second.shown if self.second else None,
            [parity.other_id for parity in self.parities],
        )
        digest = hashlib.sha256(repr(shown).encode()).hexdigest()[:24]
        return f'"{self.submission.version}-{digest}"'

    @staticmethod
    def is_same_verdict(tag: str, other: str) -> bool:
        """Return whether two ETags stand for the same counting verdict.

        A GPU's result or a new position in its queue makes no difference to that.
        """
        return tag.partition("-")[:2] == other.partition("-")[:2]

    @property
    def exercise_is_open(self) -> bool:
        """Whether its page can be linked to: learners see it."""
        return self.exercise.is_open_to_learners

    @property
    def can_resubmit(self) -> bool:
        return self.outcome == Outcome.NOT_GRADABLE and self.exercise.accepts_submissions

    @property
    def asks_again(self) -> str:
        """The node for which a missing second verdict can still be requested; empty if none."""
        second = self.second
        if second is None or self.can_resubmit or not self.exercise.accepts_submissions:
            return ""
        is_missing = second.is_replaced or second.outcome == Outcome.NOT_GRADABLE
        return NODE_NAMES[NodeKind(second.kind)] if is_missing else ""

    @cached_property
    def source_html(self) -> SafeString:
        return source_html(self.submission.source, self.marked_line)

    @property
    def compare_url(self) -> str:
        """The comparison with the learner's previous submission; empty for the first."""
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
    """Return links into the chapter for a mistake: formula, step, line, where it names one."""
    if not chapter_url:
        return {}
    return {
        part: f"{chapter_url}#{part}-{mistake[part]}"
        for part in ANCHORS
        if part != "test" and mistake.get(part)
    }


def source_html(source: str, marked: int | None = None) -> SafeString:
    """Return the source with an element `#source-line-<n>` for each line; one may be marked.

    Sources with very many lines are not highlighted, so that no submission makes a slow page.
    """
    if source.count("\n") > HIGHLIGHTED_LINES_AT_MOST:
        return format_html(
            '<pre translate="no" tabindex="0"><code>{}</code></pre>', with_hidden_marked(source)
        )
    code = render_code(source, "python")

    def numbered_line(match: re.Match[str]) -> str:
        number = match[1]
        mark = " is-marked" if number == str(marked) else ""
        return f'<span class="line{mark}" id="source-line-{number}" data-line="{number}"'

    numbered = _LINE_START.sub(numbered_line, code)
    return with_hidden_marked(mark_safe(numbered))  # noqa: S308  render_code escapes its code
