"""The report as the API shows it: the worker's, with links from mistakes into the chapter."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from gpu_worker import protocol
from grader.models import Submission
from grader.web.page import mistake_links


class Mistake(protocol.Mistake):
    """A known mistake that explains every wrong result."""

    links: dict[str, str] = {}
    """Where the chapter speaks of it: `formula`, `step`, `line`, each if it names one."""


class Report(protocol.Report):
    """What the grading found. Values of hidden cases appear only where the exercise allows it."""

    mistakes: list[Mistake] = []  # type: ignore[assignment]


def report_of(submission: Submission, request: Request) -> dict[str, Any] | None:
    """Return the report with absolute links; None while there is none."""
    report = submission.report
    if not submission.is_final or not isinstance(report, dict) or not report:
        return None
    chapter = submission.exercise.chapter
    url = request.build_absolute_uri(chapter.get_absolute_url()) if chapter else ""
    mistakes = [
        {**mistake, "links": mistake_links(mistake, url)} for mistake in report.get("mistakes", [])
    ]
    return {**report, "mistakes": mistakes}


class ReportField(serializers.Field[Any, Any, Any, Any]):
    """The report of a submission, null while there is none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(source="*", read_only=True, **kwargs)

    def to_representation(self, value: Submission) -> dict[str, Any] | None:
        return report_of(value, self.context["request"])
