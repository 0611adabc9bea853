"""How far a learner is in a chapter."""

from __future__ import annotations

from enum import StrEnum


class ChapterState(StrEnum):
    NOT_STARTED = "not started"
    IN_PROGRESS = "in progress"
    COMPLETED = "completed"
