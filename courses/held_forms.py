"""An edit survives the end of its author's session.

Whoever presses *Save* when the session has ended is sent to sign in. The form is kept meanwhile,
for the account that had opened the page: a signed cookie says which, since the session no longer
does. That cookie opens nothing. After signing in, the same account finds the form as it was sent,
and saves it by pressing *Save* once more; another account never learns of it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, User
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import reverse
from django.utils import timezone

from courses.models import HeldForm

COOKIE: Final = "author"
COOKIE_LIFETIME: Final = timedelta(days=30)
"""Longer than a session: a page may have been open for weeks."""
KEPT_FOR: Final = timedelta(days=1)
MAX_HELD_BYTES: Final = 4 * 1024 * 1024
"""Of one request, as sent: four times the texts that a chapter may have."""
MAX_HELD: Final = 5
"""Of one account; the oldest make room."""
PARAMETER: Final = "held"
# Never kept: a form that has them is shown again without them.
SECRET_WORDS: Final = ("password", "token", "secret")

_SALT: Final = "courses.held_forms"


def remember_author(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set a cookie that identifies the page's author even after the session ends."""
    user = request.user
    if not user.is_authenticated or author_of(request) == user.pk:
        return
    response.set_cookie(
        COOKIE,
        signing.dumps(user.pk, salt=_SALT),
        max_age=COOKIE_LIFETIME,
        path=reverse("admin:index"),
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def author_of(request: HttpRequest) -> int | None:
    """Return the key of the account that last opened the admin in this browser; None if unknown."""
    try:
        key = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=COOKIE_LIFETIME)
    except signing.BadSignature:
        return None
    return key if isinstance(key, int) else None


def hold(request: HttpRequest) -> HeldForm | None:
    """Keep a form for the account that opened it; None where unknown, or where it is too large."""
    key = author_of(request)
    if key is None or len(request.path) > 300:
        return None
    user = User.objects.filter(pk=key, is_active=True, is_staff=True).first()
    if user is None:
        return None
    fields = [
        (name, text)
        for name, texts in request.POST.lists()
        for text in texts
        if not is_secret(name)
    ]
    content = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
    if not fields or len(content) > MAX_HELD_BYTES:
        return None
    packed = zlib.compress(content)
    forget_held_forms()
    with transaction.atomic():
        held, _ = HeldForm.objects.update_or_create(
            user=user,
            path=request.path,
            defaults={"content": packed, "created_at": timezone.now()},
        )
        own = HeldForm.objects.filter(user=user)
        newest = own.order_by("-created_at", "id").values_list("pk", flat=True)[:MAX_HELD]
        own.exclude(pk__in=list(newest)).delete()
    return held


def is_secret(name: str) -> bool:
    """Return whether a field of this name may hold something that must not be kept or shown."""
    return any(word in name.lower() for word in SECRET_WORDS)


def held_for(request: HttpRequest) -> HeldForm | None:
    """Return the form that this address asks for, if it belongs to this account and page."""
    try:
        key = UUID(request.GET.get(PARAMETER, ""))
    except ValueError:
        return None
    return kept_of(request.user).filter(pk=key, path=request.path).first()


def kept_of(user: Any) -> Any:
    """Return an account's kept forms, newest first, without their content."""
    if not isinstance(user, AbstractBaseUser):
        return HeldForm.objects.none()
    fresh = HeldForm.objects.filter(created_at__gt=timezone.now() - KEPT_FOR)
    return fresh.filter(user_id=user.pk)


def address_of(held: HeldForm) -> str:
    """Return the address where a kept form is shown."""
    return f"{held.path}?{PARAMETER}={held.pk}"


def data_of(held: HeldForm) -> QueryDict:
    """Return the fields of a kept form, as they were sent."""
    data = QueryDict(mutable=True)
    fields: Iterable[tuple[str, str]] = json.loads(zlib.decompress(held.content))
    for name, text in fields:
        data.appendlist(name, text)
    data._mutable = False
    return data


def forget(request: HttpRequest) -> None:
    """Delete this account's kept forms of this page: it was saved."""
    if isinstance(request.user, AbstractBaseUser):
        HeldForm.objects.filter(user_id=request.user.pk, path=request.path).delete()


def forget_held_forms() -> int:
    """Delete forms that nobody came back for; return their number."""
    deleted, _ = HeldForm.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    return deleted
