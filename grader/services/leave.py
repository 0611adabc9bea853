"""What stays of a deleted account for those who grade: its submissions, without the name."""

from __future__ import annotations

from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone

from courses.accounts import deletion
from grader import limits
from grader.models import AuditEntry, Extension, RegradeRun, Submission

from .account_acts import record_deletion

KEPT_REASON = "The account was deleted, and this reason with it."


def connect() -> None:
    """Have the work of deleted accounts kept; called once, when the apps are ready."""
    deletion.keep(
        deletion.Kept(models=(Submission, Extension), until=_kept_until, note=_note_deletion)
    )


def _kept_until(user: User) -> datetime | None:
    retention = limits.deleted_work_retention()
    if not retention or not Submission.objects.filter(user=user).exists():
        return None
    return timezone.now() + retention


def _note_deletion(user: User, name: str | None, until: datetime | None) -> None:
    """Write the deletion down, and take the name from all that leads to the work."""
    if name is None:
        return  # Then the row goes, and the audit hears of that.
    record_deletion(
        user, kept_until=until, submissions=Submission.objects.filter(user=user).count()
    )
    own = Submission.objects.filter(user=user)
    targets = [f"submission:{public_id}" for public_id in own.values_list("public_id", flat=True)]
    for start in range(0, len(targets), 500):
        AuditEntry.objects.filter(actor=user, target__in=targets[start : start + 500]).update(
            actor_name=name
        )
    extensions = Extension.objects.filter(user=user)
    keys = [str(key) for key in extensions.values_list("pk", flat=True)]
    about = ContentType.objects.get_for_model(Extension)
    LogEntry.objects.filter(content_type=about, object_id__in=keys).update(object_repr=name)
    extensions.update(reason=KEPT_REASON)
    for run in RegradeRun.objects.filter(items__submission__user=user).distinct():
        if "learner" in run.filter:
            RegradeRun.objects.filter(pk=run.pk).update(filter={**run.filter, "learner": name})
