"""Letters about accounts say in the site's own words what happened and what to do."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.test import Client

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough phrase"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


def reset(client: Client, address: str) -> None:
    answer = client.post("/accounts/password/reset/", {"email": address})
    # The same answer whoever asks: the page tells nobody who has an account.
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/password/reset/done/")


def test_a_new_password_is_one_link_away(
    client: Client, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    reset(client, "ada@example.org")
    (letter,) = mailoutbox
    assert letter.to == ["ada@example.org"]
    assert "/accounts/password/reset/key/" in letter.body
    assert "Your user name is ada." in letter.body


def test_an_address_without_an_account_is_told_so(
    client: Client, ada: User, mailoutbox: list[EmailMessage]
) -> None:
    reset(client, "eve@example.org")
    (letter,) = mailoutbox
    assert letter.to == ["eve@example.org"]
    assert letter.subject == "[LearnML] No account with this address"
    assert "no account has it" in letter.body
    assert "/accounts/signup/" in letter.body
