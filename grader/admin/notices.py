"""Notices shown on the next page of the admin that their recipient opens."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from grader.models import CheckState, ExerciseCheck


def tell_of_checks(request: HttpRequest) -> None:
    """Tell whoever asked to publish an exercise how its check ended, once."""
    if not request.user.is_authenticated or not hasattr(request, "_messages"):
        return
    ended = ExerciseCheck.objects.filter(
        asked_by_id=request.user.pk,
        told_at=None,
        state__in=[CheckState.PASSED, CheckState.FAILED],
    )
    for check in ended.select_related("exercise").order_by("id"):
        # Of two simultaneous pages, only one shows it.
        if ended.filter(pk=check.pk).update(told_at=timezone.now()):
            _tell(request, check)


def _tell(request: HttpRequest, check: ExerciseCheck) -> None:
    change = reverse("admin:grader_exercise_change", args=[check.exercise_id])
    link = format_html('<a href="{}">{}</a>', change, check.exercise.title)
    if check.state == CheckState.PASSED:
        text = format_html("The check of {} has passed: the exercise is published.", link)
        messages.success(request, text)
    else:
        text = format_html("{} was not published. {}", link, check.reason)
        messages.error(request, text)
