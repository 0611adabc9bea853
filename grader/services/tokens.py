"""Create, find and revoke API tokens."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from grader import limits
from grader.access import sees_all_submissions
from grader.models import ApiToken, AuditAction, Scope
from grader.origin import current_origin, current_user

from .audit import record_act
from .errors import NotAllowed, Refused

TOKEN_PREFIX = "lml_"  # noqa: S105  marks a leaked token as one of ours
HINT_CHARACTERS = 8
# A read should not cost a write: last use is stored to the minute.
LAST_USED_GRAIN = timedelta(minutes=1)
MAX_ACTIVE_TOKENS = 50
_KEEPS_TOKENS = "_keeps_tokens"


class ScopesRefused(Refused):
    code = "scopes_invalid"
    field = "scopes"


def allowed_scopes(user: User) -> list[str]:
    """Return the scopes that the user's role carries."""
    scopes = [Scope.READ.value, Scope.SUBMIT.value]
    if sees_all_submissions(user):
        scopes.append(Scope.GRADE.value)
    return scopes


def create_token(
    user: User, name: str, scopes: Sequence[str], expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Create a token. Return its row and the token itself, which is stored nowhere.

    Raises:
        ScopesRefused: an unknown scope, or one that the user's role does not carry.
        Refused: the expiry is past or too far off, or too many tokens are active.
    """
    unique = sorted(set(scopes))
    _check_scopes(user, unique)
    now = timezone.now()
    latest = now + timedelta(days=limits.token_lifetime_days())
    if expires_at is not None and not now < expires_at <= latest:
        raise Refused(f"A token expires after now and within {limits.token_lifetime_days()} days.")
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        active = active_tokens(user).count()
        if active >= MAX_ACTIVE_TOKENS:
            raise Refused(f"You have {active} active tokens. Revoke one that you no longer use.")
        row = ApiToken.objects.create(
            user=user,
            name=name,
            digest=digest_of(token),
            hint=token[:HINT_CHARACTERS],
            scopes=unique,
            expires_at=expires_at or latest,
        )
        record_act(
            user,
            AuditAction.TOKEN_CREATED,
            f"token:{row.public_id}",
            after={"name": name, "scopes": unique, "expires_at": row.expires_at},
        )
    return row, token


def revoke_token(user: User, token: ApiToken) -> None:
    """Revoke a token immediately; idempotent.

    Raises:
        NotAllowed: it is another user's, and the user does not manage tokens.
    """
    if token.user_id != user.pk and not user.has_perm("grader.change_apitoken"):
        raise NotAllowed("Only its owner or an operator can revoke a token.")
    _revoke(user, token)


def _revoke(by: User | None, token: ApiToken, **detail: str) -> None:
    with transaction.atomic():
        now = timezone.now()
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
            record_act(
                by,
                AuditAction.TOKEN_REVOKED,
                f"token:{token.public_id}",
                before={"revoked_at": None},
                after={"revoked_at": now},
                name=token.name,
                owner=token.user.get_username(),
                **detail,
            )


def active_tokens(user: User) -> QuerySet[ApiToken]:
    """Return a user's active tokens: neither revoked nor expired."""
    return ApiToken.objects.filter(user=user, revoked_at=None, expires_at__gt=timezone.now())


def keep_tokens(user: User) -> None:
    """Keep the tokens through the next change of password of this instance."""
    setattr(user, _KEEPS_TOKENS, True)


def end_tokens_with_password(sender: type[User], instance: User, **kwargs: Any) -> None:
    """Revoke the tokens of a user whose password was changed; a receiver of `post_save`.

    Whoever knew the old password may have created one. It does not matter which page or command set
    the new password; rehashing the same one while signing in is not a change.
    """
    is_new = getattr(instance, "_password", None) is not None or not instance.has_usable_password()
    if not is_new or instance.__dict__.pop(_KEEPS_TOKENS, False):
        return
    # The link in an e-mail is used by the account's owner; a command by no account.
    by = current_user() or (instance if current_origin().request else None)
    with transaction.atomic():
        for token in active_tokens(instance):
            _revoke(by, token, because="the password changed")


def find_token(token: str) -> ApiToken | None:
    """Return the active token of an active user, and record its use; None where there is none.

    The token has 256 random bits, so one look-up by its SHA-256 digest is enough: its timing
    reveals nothing.
    """
    now = timezone.now()
    row = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest_of(token), revoked_at=None, expires_at__gt=now, user__is_active=True)
        .first()
    )
    if row is None:
        return None
    if row.last_used_at is None or now - row.last_used_at > LAST_USED_GRAIN:
        # Reads must work where nothing can be written, as on a full disk.
        with suppress(DatabaseError), transaction.atomic():
            ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)
    return row


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _check_scopes(user: User, scopes: Sequence[str]) -> None:
    unknown = [scope for scope in scopes if scope not in Scope.values]
    if unknown or not scopes:
        raise ScopesRefused(f"Choose one or more of the scopes {', '.join(Scope.values)}.")
    beyond = [scope for scope in scopes if scope not in allowed_scopes(user)]
    if beyond:
        raise ScopesRefused(
            f"Your role does not carry the scope {', '.join(beyond)}. "
            f"You can have {', '.join(allowed_scopes(user))}."
        )
