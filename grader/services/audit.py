"""Writing audit entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from gpu_worker import logs
from grader.models import AuditAction, AuditEntry
from grader.origin import current_origin

MAX_VALUE_CHARACTERS: Final = 2_000
"""Of one text; whole statements are in the history of their exercise."""


def record_act(
    actor: AbstractBaseUser | AnonymousUser | None,
    action: AuditAction,
    target: str,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    **detail: Any,
) -> AuditEntry:
    """Record who did what to `target` ("submission:<id>"). Call it in the act's transaction.

    `before` and `after` map the same names to the values that the act changed; None means that
    there was, or is, nothing. The origin comes from the current request. `actor` is None for acts
    of no account: a command, a failed sign-in.
    """
    origin = current_origin()
    return AuditEntry.objects.create(
        actor_id=actor.pk if actor else None,
        actor_name=actor.get_username() if actor else "",
        action=action,
        target=target[: AuditEntry._meta.get_field("target").max_length],
        before=None if before is None else _kept(before),
        after=None if after is None else _kept(after),
        detail=_kept(detail),
        origin=origin.kind,
        token_name=origin.token_name,
        request_id=logs.current(logs.REQUEST_ID),
    )


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of both that differ, by the names in common."""
    names = [name for name in before if name in after and before[name] != after[name]]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


def _kept(value: Any) -> Any:
    """Return a value as JSON: times as ISO 8601, long texts truncated and marked as such."""
    if isinstance(value, Mapping):
        return {str(name): _kept(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(each) for each in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, str) and len(value) > MAX_VALUE_CHARACTERS:
        return f"{value[:MAX_VALUE_CHARACTERS]} [and {len(value) - MAX_VALUE_CHARACTERS:,} more]"
    return value
