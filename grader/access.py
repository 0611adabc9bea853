"""Who may see and change submissions: the one rule behind pages, REST and admin.

Learners see their own submissions; whoever has the permission to view submissions sees all of them.
A token never gives more than its owner's role, and gives less where it lacks the scope of the call.
"""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from .deadlines import with_deadline
from .models import ApiToken, Scope, Submission

VIEW_PERMISSION: Final = "grader.view_submission"
CHANGE_PERMISSION: Final = "grader.change_submission"


def has_scope(token: ApiToken | None, scope: Scope) -> bool:
    """Return whether a call may use the scope; one without a token has all of the user's role."""
    return token is None or scope.value in token.scopes


def sees_all_submissions(
    user: User | AnonymousUser, scope: Scope = Scope.READ, token: ApiToken | None = None
) -> bool:
    """Return whether a call under this scope reaches every learner's submissions."""
    return has_scope(token, scope) and user.has_perm(VIEW_PERMISSION)


def visible_submissions(
    user: User | AnonymousUser, scope: Scope = Scope.READ, token: ApiToken | None = None
) -> QuerySet[Submission]:
    """Return the submissions that a call under this scope reaches, with exercise and learner."""
    submissions = Submission.objects.select_related("exercise", "user")
    if not user.is_authenticated:
        return submissions.none()
    if sees_all_submissions(user, scope, token):
        return submissions
    return submissions.filter(user=user)


def may_see(
    user: User | AnonymousUser,
    submission: Submission,
    scope: Scope = Scope.READ,
    token: ApiToken | None = None,
) -> bool:
    """Return whether `visible_submissions` holds this one: an owner costs no query."""
    return submission.user_id == user.pk or sees_all_submissions(user, scope, token)


def find_submission(
    user: User | AnonymousUser,
    public_id: str,
    scope: Scope = Scope.READ,
    token: ApiToken | None = None,
) -> Submission | None:
    """Return a visible submission with all that its page shows; None also where it is hidden.

    Callers answer both alike, so that nobody learns which ids there are.
    """
    related = ("exercise__chapter__course", "user", "override", "second")
    submissions = with_deadline(Submission.objects.select_related(*related))
    submission = submissions.filter(public_id=public_id).first()
    if submission is None or not may_see(user, submission, scope, token):
        return None
    return submission


def may_change_submissions(user: User | AnonymousUser) -> bool:
    """Return whether a user grades: decides, overrides scores, regrades, extends deadlines."""
    return user.has_perm(CHANGE_PERMISSION)


def may_resubmit(user: User, submission: Submission) -> bool:
    """Return whether a user may send a submission again that the platform failed to grade."""
    return submission.user_id == user.pk or may_change_submissions(user)
