"""Permissions of a call: the narrower of the token's scopes and its owner's role."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from grader import access
from grader.models import ApiToken, Scope


def token_of(request: Request) -> ApiToken | None:
    """Return the token that a call came with; None for a signed-in browser."""
    return request.auth if isinstance(request.auth, ApiToken) else None


def sees_all(request: Request) -> bool:
    """Return whether the call may read every learner's submissions."""
    return access.sees_all_submissions(request.user, Scope.READ, token_of(request))


class Scoped(BasePermission):
    """Requires the scope that the view's `scopes` name for the method, if any."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        scopes: dict[str, Scope] = getattr(view, "scopes", {})
        scope = scopes.get("GET" if request.method == "HEAD" else str(request.method))
        if scope is not None and not access.has_scope(token_of(request), scope):
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
    """Graders and operators may see regrades; the services require more for changes."""

    message: Any = "Only graders grade submissions again."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.has_perm("grader.view_regraderun"))
