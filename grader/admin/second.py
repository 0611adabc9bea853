"""The action that lets the other kind of node grade submissions once more."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from grader import limits
from grader.models import GradingAttempt, Submission
from grader.services import Refused, ask_second_again


@admin.action(description="Ask for the second verdict again")
def ask_again(modeladmin: Any, request: HttpRequest, rows: QuerySet[Any]) -> None:
    """Ask for those of the chosen submissions, or of the chosen attempts' submissions."""
    submissions = rows
    if rows.model is GradingAttempt:
        submissions = Submission.objects.filter(pk__in=rows.order_by().values("submission"))
    most = limits.max_regrade_submissions()
    chosen = list(submissions.defer("source", "report").order_by("pk")[: most + 1])
    if len(chosen) > most:
        messages.error(request, f"At most {most} submissions go at once. Choose fewer.")
        return
    done = Counter(_ask(cast(User, request.user), submission) for submission in chosen)
    texts = [f"{number} {what}" for what, number in done.items()]
    messages.success(request, f"{'; '.join(texts)}. What counts for the lesson stays as it is.")


def _ask(by: User, submission: Submission) -> str:
    try:
        asked = ask_second_again(by, submission)
    except Refused:
        return "without a second verdict"
    return "asked for" if asked else "awaited already"
