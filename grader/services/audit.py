"""The one way to write an audit entry."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser

from grader.models import AuditAction, AuditEntry


def record_act(
    actor: AbstractBaseUser, action: AuditAction, target: str, **detail: Any
) -> AuditEntry:
    """Write who did what to `target` ("submission:<id>"). Call it inside the act's transaction."""
    return AuditEntry.objects.create(
        actor_id=actor.pk,
        actor_name=actor.get_username(),
        action=action,
        target=target,
        detail=detail,
    )
