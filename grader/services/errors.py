"""Why a service refuses. Each carries a text for the learner: what is wrong and what to do."""

from __future__ import annotations


class Refused(Exception):
    """A request that cannot be met as it stands; nothing was changed.

    `code` is stable and for programs, `message` for people, `field` names the form field at fault
    and `status` is the HTTP status that says it best.
    """

    code = "refused"
    status = 400
    field = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class SourceRefused(Refused):
    """The source is empty, not UTF-8, or holds a character that no source may hold."""

    code = "source_invalid"
    field = "source"


class SourceTooLarge(Refused):
    code = "source_too_large"
    status = 413
    field = "source"


class ExerciseUnknown(Refused):
    code = "exercise_unknown"
    status = 404


class ExerciseClosed(Refused):
    code = "exercise_closed"
    status = 409


class TrackUnknown(Refused):
    code = "track_unknown"
    field = "track"


class KeyRefused(Refused):
    code = "idempotency_key_invalid"


class KeyReused(Refused):
    """The idempotency key was used before, for something else."""

    code = "idempotency_key_reused"
    status = 409


class NotResubmittable(Refused):
    code = "not_resubmittable"
    status = 409


class NoSecondVerdict(Refused):
    """Another verdict is asked for of a submission that one kind of node alone grades."""

    code = "no_second_verdict"
    status = 409


class NotDecidable(Refused):
    """A person's decision on a submission that no person has to decide on."""

    code = "not_flagged"
    status = 409


class DecisionRefused(Refused):
    """The outcome or the reason of a decision cannot be used."""

    code = "decision_invalid"

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class RegradeRefused(Refused):
    """A choice of submissions that cannot be graded again."""

    code = "regrade_invalid"

    def __init__(self, message: str, field: str = "filter") -> None:
        super().__init__(message)
        self.field = field


class RegradeNotReady(Refused):
    """A run of a regrade is not where it would have to be for this."""

    code = "regrade_state"
    status = 409


class NotOverridable(Refused):
    """A score for a submission that has none to replace, or none to take back."""

    code = "not_overridable"
    status = 409


class ChangedMeanwhile(Refused):
    """What a person saw is not what is there any more."""

    code = "changed"
    status = 412


class ConditionMissing(Refused):
    """A change that must say what it is a change of."""

    code = "if_match_required"
    status = 428


class NotAllowed(Refused):
    code = "not_allowed"
    status = 403


class TooMany(Refused):
    """Too much at once; `retry_after_seconds` says when to come back."""

    code = "too_many_submissions"
    status = 429

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds
