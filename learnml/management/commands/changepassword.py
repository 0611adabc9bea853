"""Django's command, with case-insensitive account names, as in signing in."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.management.commands import changepassword

from courses.accounts.names import find_account


class Command(changepassword.Command):
    def handle(self, *args: Any, **options: Any) -> str:
        if options["username"] and (account := find_account(options["username"])):
            options["username"] = account.username
        return str(super().handle(*args, **options))
