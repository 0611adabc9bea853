"""The result of a run, as plain values for templates and serializers."""

from __future__ import annotations

from typing import Any

from django.utils.functional import cached_property

from grader.models import CodeRun, RunOutcome

from .outcomes import Badge, badge_of_run
from .repairs import Repair, repair_of


class RunResult:
    """One run, waiting or ended."""

    def __init__(self, run: CodeRun) -> None:
        self.run = run

    @property
    def is_final(self) -> bool:
        return self.run.is_final

    @property
    def report(self) -> dict[str, Any]:
        return self.run.report if isinstance(self.run.report, dict) else {}

    @property
    def is_good(self) -> bool:
        return self.run.outcome == RunOutcome.COMPLETED

    @cached_property
    def label(self) -> str:
        """The result in a few words."""
        if not self.is_final:
            return "Waiting for a worker" if self.run.state == "queued" else "Running"
        cases = self.report.get("cases", [])
        if cases and self.run.outcome != RunOutcome.NOT_RUN:
            passed = sum(case["passed"] is True for case in cases)
            return f"{passed} of {len(cases)} public cases passed"
        return str(self.run.get_outcome_display())

    @property
    def badge(self) -> Badge:
        return badge_of_run(self.run, self.label)

    @property
    def line(self) -> int | None:
        """The line of the source that stopped the run, if one did."""
        failures = [self.report.get("failure")]
        failures += [case.get("failure") for case in self.report.get("cases", [])]
        return next((failure["line"] for failure in failures if failure and failure["line"]), None)

    @property
    def line_text(self) -> str:
        lines = self.run.source.split("\n")
        return lines[self.line - 1].strip(" \t\r") if self.line and self.line <= len(lines) else ""

    @property
    def milliseconds(self) -> float | None:
        timings = self.report.get("timings", [])
        return timings[0]["ms"] if timings else None

    @property
    def repair(self) -> Repair | None:
        """The bare program, where text pasted around it kept it from running."""
        return repair_of(self.run.source, self.report)

    @property
    def poll_url(self) -> str:
        return f"{self.run.get_absolute_url()}?fragment=1"
