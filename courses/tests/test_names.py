"""Account names are not confusable, and look-ups ignore the case."""

from __future__ import annotations

import unicodedata

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from courses.accounts import names
from courses.accounts.confusables import skeleton
from courses.models import AccountName

pytestmark = pytest.mark.postgres

PASSWORD = "a long enough phrase"

# A name, and one that looks like it or is it in another case.
ALIKE = [
    ("ada", "ADA"),
    ("ada", "аda"),  # Cyrillic a
    ("ada", "АDА"),  # Cyrillic A, twice, in another case
    ("ada", "ａda"),  # full width
    ("mary", "rnary"),
    ("paul", "pauI"),  # capital I
    ("paul", "pau1"),
    ("Ian", "lan"),
    ("bobO", "bob0"),
    ("сосо", "coco"),  # Cyrillic alone
    ("νero", "vero"),  # Greek nu
    ("émile", "É" + "mile"),
    ("straße", "STRASSE"),
    ("ﬁona", "fiona"),  # a ligature
    ("éa", unicodedata.normalize("NFD", "éa")),
]
APART = [
    ("ada", "adam"),
    ("ian", "lan"),
    ("bobo", "bob0"),
    ("emile", "émile"),
    ("user1", "user2"),
    ("jan", "jän"),
    ("анна", "яна"),
    ("李明", "李名"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_are_told(one: str, other: str) -> None:
    assert same_look(one, other)
    assert same_look(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_names_that_differ_are_not(one: str, other: str) -> None:
    assert not same_look(one, other)


def same_look(one: str, other: str) -> bool:
    return bool(names.looks(one).items() & names.looks(other).items())


def test_the_table_is_unicodes() -> None:
    """Examples of UTS #39; prototypes are their own, so that a skeleton's skeleton is itself."""
    assert skeleton("раураӏ") == skeleton("paypal")
    assert skeleton("ѕсоре") == skeleton("scope")
    for text in ("mary", "раураӏ", "ǉeto", "éÅ", "1I|l"):
        assert skeleton(skeleton(text)) == skeleton(text)


@pytest.mark.django_db
class TestAccounts:
    @pytest.fixture(autouse=True)
    def ada(self) -> User:
        return User.objects.create_user("ada", password=PASSWORD)

    @pytest.mark.parametrize("name", ["Ada", "аda", "ａda"])
    def test_a_look_alike_cannot_sign_up(self, client: Client, name: str) -> None:
        form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
        page = client.post("/accounts/signup/", form).content.decode()
        assert names.TAKEN in page
        assert f'value="{name}"' in page, "what was typed is still there"
        assert User.objects.count() == 1

    def test_a_name_is_kept_in_one_spelling(self, client: Client) -> None:
        form = {"username": "ﬁona", "password1": PASSWORD, "password2": PASSWORD}
        assert client.post("/accounts/signup/", form).status_code == 302
        assert User.objects.filter(username="fiona").exists()

    @pytest.mark.parametrize("name", ["admin", "Admin", "ＡＤＭＩＮ", "root", "support"])
    def test_reserved_names_cannot_be_registered(self, client: Client, name: str) -> None:
        form = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
        assert client.post("/accounts/signup/", form).status_code == 200
        assert not User.objects.filter(username__iexact=name).exists()

    def test_names_of_deleted_accounts_cannot_be_imitated(self, client: Client) -> None:
        form = {"username": "Dеleted-x1", "password1": PASSWORD, "password2": PASSWORD}
        assert "No name begins with" in client.post("/accounts/signup/", form).content.decode()

    def test_nor_be_made_or_renamed_in_the_admin(self, client: Client, ada: User) -> None:
        client.force_login(User.objects.create_superuser("root", password=PASSWORD))
        form = {"username": "аda", "usable_password": "true"}
        new = client.post(
            "/admin/auth/user/add/", {**form, "password1": PASSWORD, "password2": PASSWORD}
        )
        assert names.TAKEN in new.content.decode()
        bob = User.objects.create_user("bob")
        page = f"/admin/auth/user/{bob.pk}/change/"
        rename = {"date_joined_0": "2026-01-01", "date_joined_1": "12:00:00", "is_active": "on"}
        answer = client.post(page, {**rename, "username": "AdA"})
        assert names.TAKEN in answer.content.decode()
        # One's own name may change its case, and stay as it is.
        for name in ("Bob", "Bob"):
            assert client.post(page, {**rename, "username": name}).status_code == 302
        assert names.find_account("BOB") == bob

    def test_nor_by_a_command_or_program(self) -> None:
        with pytest.raises(CommandError, match="looks like it"):
            call_command("createsuperuser", interactive=False, username="аda", email="a@b.org")
        with pytest.raises(ValidationError):
            User.objects.create_user("ADA")

    def test_nor_at_the_same_moment(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        """The second of two who were both told that the name is free."""
        monkeypatch.setattr(names, "check_free", lambda *args: None)
        form = {"username": "аda", "password1": PASSWORD, "password2": PASSWORD}
        answer = client.post("/accounts/signup/", form)
        assert answer.status_code == 409
        assert names.TAKEN in answer.content.decode()
        assert User.objects.count() == AccountName.objects.count() == 1

    @pytest.mark.parametrize("name", ["ada", "ADA", "aDa", "ａda"])
    def test_signing_in_ignores_the_case(self, client: Client, name: str) -> None:
        form = {"login": name, "password": PASSWORD}
        assert client.post("/accounts/login/", form).status_code == 302

    def test_so_it_does_outside_of_ascii(self, client: Client) -> None:
        emile = User.objects.create_user("Émile", password=PASSWORD)
        assert names.find_account("ÉMILE") == names.find_account("émile") == emile
        form = {"login": "émile", "password": PASSWORD}
        assert client.post("/accounts/login/", form).status_code == 302

    def test_a_look_alike_is_not_found_for_another(self) -> None:
        assert names.find_account("аda") is None
        assert names.find_account("ada\0") is None

    def test_accounts_are_found_in_the_admin_whatever_the_case(self, client: Client) -> None:
        User.objects.create_user("Émile")
        client.force_login(User.objects.create_superuser("root", password=PASSWORD))
        for term in ("émile", "ÉMILE", "ÉMI"):
            page = client.get("/admin/auth/user/", {"q": term}).content.decode()
            assert "Émile</a>" in page

    def test_names_from_before_stay_and_keep_later_ones_out(self, ada: User) -> None:
        AccountName.objects.all().delete()
        User.objects.bulk_create([User(username="Ada"), User(username="АDA"), User(username="x")])
        assert names.note_missing() == 4
        assert names.note_missing() == 0
        assert dict(AccountName.objects.values_list("user__username", "place")) == {
            "ada": 0,
            "Ada": 1,
            "АDA": 2,
            "x": 0,
        }
        # Only the exact name is found where several are alike, as it was before.
        assert names.find_account("ada") == ada
        assert names.find_account("Ada") == User.objects.get(username="Ada")
        assert names.find_account("ADA") is None
        for account in User.objects.all():  # None of them has to be renamed to be changed.
            account.first_name = "A"
            account.save()
        ada.delete()
        with pytest.raises(ValidationError):
            User.objects.create_user("aDa")

    def test_the_table_itself_refuses_a_second_one(self) -> None:
        User.objects.bulk_create([User(username="Ada")])
        with pytest.raises(IntegrityError), transaction.atomic():
            names.note(User.objects.get(username="Ada"))
