"""What a call may do: the narrower of the token's scopes and its owner's role."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from grader import queries
from grader.models import ApiToken, Scope


def has_scope(request: Request, scope: Scope) -> bool:
    """Return whether the token carries the scope; a signed-in browser has all of its role."""
    token = request.auth
    return not isinstance(token, ApiToken) or scope.value in token.scopes


def sees_all(request: Request, scope: Scope = Scope.READ) -> bool:
    """Return whether the call may see every learner's submissions, under this scope."""
    user: User | AnonymousUser = request.user
    return has_scope(request, scope) and queries.sees_all_submissions(user)


class Scoped(BasePermission):
    """Asks for the scope that the view names for the method in `scopes`; none named, none asked."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        scopes: dict[str, Scope] = getattr(view, "scopes", {})
        scope = scopes.get("GET" if request.method == "HEAD" else str(request.method))
        if scope is not None and not has_scope(request, scope):
            raise PermissionDenied(
                f"This token lacks the scope {scope.value}. Make one that has it."
            )
        return True


class SeesWorkers(BasePermission):
    """Graders and operators may see the workers."""

    message: Any = "Only graders see the workers."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.has_perm("grader.view_workernode"))


class SeesRegrades(BasePermission):
    """Graders and operators may see regrades; the services ask for more before they change one."""

    message: Any = "Only graders grade submissions again."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.has_perm("grader.view_regraderun"))
