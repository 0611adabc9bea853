"""Demo accounts, created at the first start on one's own machine and nowhere else."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group
from django.db import transaction

from learnml.roles import AUTHOR, GRADER, LEARNER

# Role (also the user's name) -> may enter the admin.
DEMO_ROLES = {LEARNER: False, AUTHOR: True, GRADER: True}
PASSWORD_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # noqa: S105  no look-alikes
NOTE_NAME = "demo_accounts.json"


class DemoAccountsRefused(Exception):
    """The settings do not allow demo accounts."""


@dataclass(frozen=True, slots=True)
class DemoAccounts:
    usernames: tuple[str, ...]
    password: str


def make_demo_accounts(password: str = "") -> DemoAccounts | None:
    """Create one account for each role if there are no accounts at all; else return None.

    An empty `password` creates a random one, readable aloud.

    Raises:
        DemoAccountsRefused: `settings.DEMO_ACCOUNTS_ALLOWED` is False.
    """
    if not settings.DEMO_ACCOUNTS_ALLOWED:
        raise DemoAccountsRefused(
            "Demo accounts have a password that is printed and stored, so these settings refuse "
            "them. Make accounts with: python manage.py createsuperuser"
        )
    users = get_user_model().objects
    if users.exists():
        return None
    password = password or random_password()
    # Hashing is slow by design: once for the three accounts of one password, and outside of the
    # transaction.
    hashed = make_password(password)
    with transaction.atomic():
        if users.exists():
            return None
        for role, is_staff in DEMO_ROLES.items():
            user = users.create(username=role, password=hashed, is_staff=is_staff)
            user.groups.add(Group.objects.get(name=role))
    return DemoAccounts(tuple(DEMO_ROLES), password)


def random_password() -> str:
    """Return a password of three groups of four characters, about 59 bits."""
    groups = ("".join(secrets.choice(PASSWORD_ALPHABET) for _ in range(4)) for _ in range(3))
    return "-".join(groups)


def write_note(accounts: DemoAccounts, data_dir: Path) -> None:
    """Store names and password for later starts to print, readable by the owner alone."""
    path = data_dir / NOTE_NAME
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"usernames": accounts.usernames, "password": accounts.password}, file)
