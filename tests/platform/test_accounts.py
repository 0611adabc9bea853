"""A class behind one address comes in, guessing is slow, and nobody learns who has an account."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from courses import limits as pages_limits
from grader.models import AuditEntry
from grader.services import active_tokens, create_token
from learnml.middleware.responses import RetryAfterMiddleware
from learnml.settings import base

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough phrase"
NEW_PASSWORD = "another long phrase"
CLASS_SIZE = 300


class Clock:
    """Stands in for allauth's `time`: stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        raise AssertionError("nobody else holds the lock")


@pytest.fixture
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The limits of the real settings, which those of the tests turn off, and a still clock."""
    settings.ACCOUNT_RATE_LIMITS = base.ACCOUNT_RATE_LIMITS
    clock = Clock()
    monkeypatch.setattr(ratelimit, "time", clock)
    monkeypatch.setattr("learnml.accounts.limits.time", clock)
    cache.clear()
    yield clock
    cache.clear()


def sign_up(client: Client, name: str, email: str = "", **changes: str) -> Any:
    form = {"username": name, "email": email, "password1": PASSWORD, "password2": PASSWORD}
    return client.post("/accounts/signup/", {**form, **changes})


def sign_in(client: Client, login: str, password: str = PASSWORD) -> Any:
    return client.post("/accounts/login/", {"login": login, "password": password})


# --- a class in one room --------------------------------------------------------------------------
def test_a_class_behind_one_address_comes_in_at_once(clock: Clock) -> None:
    """Without any time passing: 300 people, each of whom sends every form twice."""

    def try_once(action: str, key: str) -> Any:
        request = RequestFactory().post("/", REMOTE_ADDR="10.0.0.1")
        return ratelimit.consume(request, app="allauth.account", action=action, key=key)

    for number in range(CLASS_SIZE):
        for _ in range(2):
            assert try_once("signup", "")
            assert try_once("login", "")
        # One slip each; the right password gives its try back.
        assert try_once("login_failed", f"learner-{number}")
    assert not try_once("login_failed", "one-more"), "guessing over many names has an end"
    clock.now += 300
    assert try_once("login_failed", "one-more")


def test_the_limits_are_those_of_the_pages(clock: Clock, client: Client, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"signup": "2/300s/ip", "login": "2/300s/ip"}
    for number in range(2):
        assert sign_up(Client(), f"learner-{number}").status_code == 302
        assert sign_in(Client(), f"learner-{number}").status_code == 302
    clock.now += 100
    for refused in (sign_up(client, "late"), sign_in(client, "learner-0")):
        assert (refused.status_code, refused["Retry-After"]) == (429, "200")
        assert "Wait 4 minutes" in refused.content.decode()
    clock.now += 200
    assert sign_up(client, "late").status_code == 302


def test_guessing_one_account_is_slow_whatever_the_case(clock: Clock, client: Client) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    for name in ("ada", "ADA", "Ada", "ａda", "aDa"):
        assert sign_in(client, name, "wrong").status_code == 200
    for name in ("ada", "adA"):
        refused = sign_in(client, name)
        assert (refused.status_code, refused["Retry-After"]) == (429, "300")
    clock.now += 300
    assert sign_in(client, "ada").status_code == 302


def test_signing_in_anew_for_a_change_is_limited_too(clock: Clock, client: Client) -> None:
    client.force_login(User.objects.create_user("ada", password=PASSWORD))
    answers = [client.post("/accounts/reauthenticate/", {"password": "wrong"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1]["Retry-After"] == "300"


def test_letters_to_one_address_are_limited(
    clock: Clock, client: Client, mailoutbox: list[EmailMessage]
) -> None:
    answers = [client.post("/accounts/password/reset/", {"email": "a@b.org"}) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [302] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) >= 60
    assert len(mailoutbox) == 5


@pytest.mark.parametrize("path", ["/accounts/password/change/", "/accounts/email/"])
def test_limits_of_an_account_say_when_to_come_back(
    clock: Clock, client: Client, settings: Any, path: str
) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"change_password": "1/60s/user", "manage_email": "1/60s/user"}
    client.force_login(User.objects.create_user("ada", password=PASSWORD))
    client.post(path, {"action_add": ""})
    clock.now += 20
    refused = client.post(path, {"action_add": ""})
    assert (refused.status_code, refused["Retry-After"]) == (429, "40")


def test_no_answer_of_429_is_without_retry_after() -> None:
    def refuse(request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=429)

    assert int(RetryAfterMiddleware(refuse)(RequestFactory().get("/"))["Retry-After"]) > 0
    assert "learnml.middleware.responses.RetryAfterMiddleware" in base.MIDDLEWARE
    assert pages_limits.WINDOW_SECONDS == 60  # what search and answers say


# --- who has an account ---------------------------------------------------------------------------
@pytest.fixture
def hashes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count how often a password is hashed: what takes the time of signing in and up."""
    done: list[str] = []
    encode = MD5PasswordHasher.encode

    def counted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        done.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    return done


@pytest.fixture
def ada() -> User:
    """An account whose address is confirmed."""
    user = User.objects.create_user("ada", "ada@example.org", PASSWORD)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def seen(answer: Any) -> tuple[Any, ...]:
    """Return what a caller sees of an answer, without what they typed."""
    text = re.sub(r'value="[^"]*"', "", answer.content.decode())
    return (answer.status_code, answer.get("Location"), text)


def same_for_both(hashes: list[str], act: Callable[[str], Any]) -> None:
    """Do the same with an address that an account has, and with one that none has; compare."""
    told = []
    for address in ("ada@example.org", "eve@example.org"):
        del hashes[:]
        told.append((*seen(act(address)), len(hashes)))
    assert told[0] == told[1]


@pytest.mark.parametrize("verification", ["none", "optional", "mandatory"])
def test_signing_up_does_not_tell_who_has_an_account(
    ada: User, hashes: list[str], settings: Any, mailoutbox: list[EmailMessage], verification: str
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    ada.set_password(NEW_PASSWORD)  # which the one who tries does not know
    ada.save()
    clients = {"ada@example.org": Client(), "eve@example.org": Client()}
    names = {"ada@example.org": "the-first", "eve@example.org": "the-other"}
    same_for_both(hashes, lambda email: sign_up(clients[email], names[email], email))
    letters = [letter.to for letter in mailoutbox]
    assert letters == ([] if verification == "none" else [["ada@example.org"], ["eve@example.org"]])
    # What is there afterwards tells nothing either: both accounts are.
    same_for_both(hashes, lambda email: sign_in(Client(), names[email]))
    same_for_both(hashes, lambda email: sign_in(Client(), email))
    same_for_both(hashes, lambda email: sign_up(Client(), names[email], password2="other"))
    if letters:
        known, new = (letter.body for letter in mailoutbox[:2])
        assert "confirmed for yours already" in known
        assert "/accounts/confirm-email/" not in known
        assert "/accounts/confirm-email/" in new


def test_signing_in_does_not_tell_who_has_an_account(ada: User, hashes: list[str]) -> None:
    # Accounts of others that claim the same addresses change nothing.
    for number in range(2):
        for address in ("ada@example.org", "eve@example.org"):
            sign_up(Client(), f"claims-{number}-{address[:3]}", address)
    same_for_both(hashes, lambda email: sign_in(Client(), email, "wrong"))
    assert len(hashes) == 1
    same_for_both(hashes, lambda email: sign_in(Client(), email[:3], "wrong"))
    assert len(hashes) == 1


def test_only_a_confirmed_address_stands_for_an_account(ada: User) -> None:
    User.objects.create_user("eve", "bob@example.org", PASSWORD)
    assert sign_in(Client(), "Ada@Example.org").status_code == 302
    assert sign_in(Client(), "bob@example.org").status_code == 200
    # Nor can a name that reads as somebody's address be had.
    assert "has no @" in sign_up(Client(), "bob@example.org").content.decode()


def test_a_new_password_does_not_tell_who_has_an_account(
    ada: User, hashes: list[str], mailoutbox: list[EmailMessage]
) -> None:
    for name in ("first", "second"):
        sign_up(Client(), name, "two@example.org")

    def ask(email: str) -> Any:
        return Client().post("/accounts/password/reset/", {"email": email})

    same_for_both(hashes, ask)
    assert seen(ask("two@example.org")) == seen(ask("nobody@example.org"))
    # One letter each, however many accounts: sending takes time, too.
    assert [letter.to[0][:3] for letter in mailoutbox] == ["ada", "eve", "two", "nob"]
    both = mailoutbox[2].body
    assert both.count("/accounts/password/reset/key/") == 2
    assert "Your user name is first." in both
    assert "Your user name is second." in both


def test_adding_an_address_does_not_tell_who_has_an_account(
    ada: User, hashes: list[str], mailoutbox: list[EmailMessage]
) -> None:
    clients = {}
    for address in ("ada@example.org", "eve@example.org"):
        clients[address] = Client()
        clients[address].force_login(User.objects.create_user(f"adds-{address[:3]}"))

    def add(email: str) -> Any:
        return clients[email].post("/accounts/email/", {"action_add": "", "email": email})

    same_for_both(hashes, add)
    assert [letter.to for letter in mailoutbox] == [["ada@example.org"], ["eve@example.org"]]
    assert "confirmed for yours already" in mailoutbox[0].body
    assert EmailAddress.objects.get(email="ada@example.org", verified=True).user == ada


# --- tokens end with the password -----------------------------------------------------------------
def change(client: Client, **more: str) -> Any:
    new = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    return client.post("/accounts/password/change/", {**new, **more})


def calls_with(token: str) -> int:
    headers = {"Authorization": f"Token {token}"}
    return Client().get("/api/v1/submissions/", headers=headers).status_code


def test_a_new_password_ends_the_tokens(client: Client, ada: User) -> None:
    row, token = create_token(ada, "script", ["read"])
    assert calls_with(token) == 200
    client.force_login(ada)
    assert "Keep my API token working" in client.get("/accounts/password/change/").content.decode()
    assert change(client, oldpassword="wrong").status_code == 200
    assert calls_with(token) == 200
    assert change(client).status_code == 302
    assert calls_with(token) == 401
    entry = AuditEntry.objects.get(action="token.revoked")
    assert (entry.actor, entry.target) == (ada, f"token:{row.public_id}")
    assert "Keep my API token" not in client.get("/accounts/password/change/").content.decode()


def test_a_new_password_keeps_the_tokens_where_the_page_says_so(client: Client, ada: User) -> None:
    _, token = create_token(ada, "script", ["read"])
    client.force_login(ada)
    assert change(client, keep_tokens="on").status_code == 302
    assert calls_with(token) == 200
    # Said for that moment alone.
    swapped = {"oldpassword": NEW_PASSWORD, "password1": PASSWORD, "password2": PASSWORD}
    assert client.post("/accounts/password/change/", swapped).status_code == 302
    assert calls_with(token) == 401


@pytest.mark.parametrize("keep", [{}, {"keep_tokens": "on"}])
def test_a_link_to_a_new_password_ends_the_tokens_too(
    client: Client, ada: User, mailoutbox: list[EmailMessage], keep: dict[str, str]
) -> None:
    _, token = create_token(ada, "script", ["read"])
    client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    (path,) = re.findall(r"http://[^/]+(/accounts/password/reset/key/\S+)", mailoutbox[0].body)
    page = client.get(path, follow=True)
    assert "Keep my API token" in page.content.decode()
    new = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD, **keep}
    client.post(page.request["PATH_INFO"], new)
    ada.refresh_from_db()
    assert ada.check_password(NEW_PASSWORD)
    assert calls_with(token) == (200 if keep else 401)


@pytest.mark.parametrize(
    "form",
    [
        {"usable_password": "true", "password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
        {"usable_password": "false", "unset-password": "1"},
    ],
)
def test_a_password_set_or_taken_in_the_admin_ends_the_tokens(
    client: Client, ada: User, form: dict[str, str]
) -> None:
    _, token = create_token(ada, "script", ["read"])
    root = User.objects.create_superuser("root", password=PASSWORD)
    client.force_login(root)
    page = f"/admin/auth/user/{ada.pk}/password/"
    assert "API tokens end" in client.get(page).content.decode()
    assert client.post(page, form).status_code == 302
    assert not User.objects.get(pk=ada.pk).check_password(PASSWORD)
    assert calls_with(token) == 401
    assert AuditEntry.objects.get(action="token.revoked").actor == root


def test_what_is_no_new_password_ends_no_token(ada: User, settings: Any) -> None:
    _, token = create_token(ada, "script", ["read"])
    ada.first_name = "Ada"
    ada.save()
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    assert sign_in(Client(), "ada").status_code == 302
    ada.refresh_from_db()
    assert ada.password.startswith("pbkdf2"), "hashed anew while signing in"
    assert active_tokens(ada).exists()
    assert calls_with(token) == 200


def test_the_command_finds_the_name_and_ends_the_tokens(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.core.management import call_command

    _, token = create_token(ada, "script", ["read"])
    terminal = SimpleNamespace(getpass=lambda prompt: NEW_PASSWORD)
    monkeypatch.setattr("django.contrib.auth.management.commands.changepassword.getpass", terminal)
    call_command("changepassword", "ADA")
    ada.refresh_from_db()
    assert ada.check_password(NEW_PASSWORD)
    assert calls_with(token) == 401
