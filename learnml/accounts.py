"""How people sign in to the pages; allauth asks this adapter."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal.ratelimit import truncate_ip
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Counts wrong passwords by name and address together.

    By the name alone, anybody could keep a learner out by guessing wrong on purpose. Guessing from
    one address is also bounded over all names.
    """

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        address = truncate_ip(self.get_client_ip(request))
        return f"{super()._get_login_attempts_cache_key(request, **credentials)}:{address}"
