"""The report for the API: the worker's, with links from mistakes into the chapter."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from gpu_worker.messages import protocol
from grader.models import Exercise, Graded, Submission
from grader.presentation.page import mistake_links
from grader.presentation.result_view import ResultView


class Mistake(protocol.Mistake):
    """A known mistake that explains every wrong result."""

    links: dict[str, str] = {}
    """Where the chapter speaks of it: `formula`, `step`, `line`, each if it names one."""


class Report(protocol.Report):
    """What the grading found. Values of hidden cases appear only where the exercise allows it."""

    mistakes: list[Mistake] = []  # type: ignore[assignment]


def report_of(verdict: Graded, exercise: Exercise, request: Request) -> dict[str, Any] | None:
    """Return the report with absolute links; None while there is none."""
    report = verdict.report
    if not verdict.is_final or not isinstance(report, dict) or not report:
        return None
    chapter = exercise.chapter
    url = request.build_absolute_uri(chapter.get_absolute_url()) if chapter else ""
    mistakes = [
        {**mistake, "links": mistake_links(mistake, url)} for mistake in report.get("mistakes", [])
    ]
    return {**report, "mistakes": mistakes, "naming": verdict.is_naming}


class ReportField(serializers.Field[Any, Any, Any, Any]):
    """The report of a submission, or of a `ResultView`; null while there is none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(source="*", read_only=True, **kwargs)

    def to_representation(self, value: Submission | ResultView) -> dict[str, Any] | None:
        verdict = value.verdict if isinstance(value, ResultView) else value
        return report_of(verdict, value.exercise, self.context["request"])
