"""The page on which a grader decides on a submission that is held for review."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from courses import held_forms
from courses.admin.writing import HELD_TEXT, show_as_sent
from grader import access
from grader.models import Submission
from grader.services import decide_flagged
from grader.services.decide import MAX_REASON_CHARACTERS, SCORES
from grader.services.errors import DecisionRefused, NotDecidable

from .readonly import shown_report, shown_source

TEMPLATE = "admin/grader/submission/decide.html"


class DecisionForm(forms.Form):
    outcome = forms.ChoiceField(
        # No default: nothing is accepted by accident.
        choices=[
            ("", "Choose one"),
            *(
                (outcome.value, f"{outcome.label}, score {score:g}")
                for outcome, score in SCORES.items()
            ),
        ]
    )
    reason = forms.CharField(
        max_length=MAX_REASON_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 4, "class": "vLargeTextField"}),
        help_text="The learner reads it as “Decided by a grader: …”. Your name is not shown.",
    )


def may_decide(request: HttpRequest, submission: Submission | None) -> bool:
    """Return whether there is something to decide, and this person may."""
    return bool(
        submission and submission.is_flagged and access.may_change_submissions(request.user)
    )


def decide(request: HttpRequest, pk: int, site: admin.AdminSite) -> HttpResponse:
    """Show the form and record the decision; a refused one is shown again with the reason."""
    if not access.may_change_submissions(request.user):
        raise PermissionDenied
    submission = get_object_or_404(access.visible_submissions(request.user), pk=pk)
    held = held_forms.held_for(request) if request.method == "GET" else None
    if held is not None:
        show_as_sent(request, held)
        messages.warning(request, HELD_TEXT)
    form = DecisionForm(request.POST or None)
    if request.method == "POST" and held is None and form.is_valid():
        try:
            decide_flagged(submission, cast(User, request.user), **form.cleaned_data)
        except DecisionRefused as refusal:
            form.add_error(refusal.field, refusal.message)
        except NotDecidable as refusal:
            messages.error(request, refusal.message)
            return redirect(_back(submission))
        else:
            held_forms.forget(request)
            messages.success(request, "Decided. The learner's page shows it, with your reason.")
            return redirect(_back(submission))
    elif not submission.is_flagged:
        messages.error(request, "This submission is not held for review.")
        return redirect(_back(submission))
    return TemplateResponse(request, TEMPLATE, _context(request, submission, form, site))


def _back(submission: Submission) -> str:
    return reverse("admin:grader_submission_change", args=[submission.pk])


def _context(
    request: HttpRequest, submission: Submission, form: DecisionForm, site: admin.AdminSite
) -> dict[str, Any]:
    failure = (submission.report or {}).get("failure") or {}
    return {
        **site.each_context(request),
        "opts": Submission._meta,
        "title": f"Decide on {submission.public_id}",
        "submission": submission,
        "form": form,
        "objection": failure.get("message", ""),
        "source": shown_source(submission),
        "report": shown_report(submission),
    }
