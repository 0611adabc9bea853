"""The reading page beside its text: outline, links, symbols, and small addresses."""

from __future__ import annotations

import re
import struct

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import Client

from courses.accounts.deletion import delete_account
from courses.accounts.operators import LastOperatorError
from courses.models import Chapter, Learner, QuizAttempt
from courses.pages.outline import outline_of, symbols_of
from courses.pages.samples import rmsnorm_sample
from courses.templatetags.reading import linked_headings

from .conftest import CHAPTER_URL, answer_url

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse 9"


def formula(number: int, *symbols: tuple[str, str, str]) -> dict[str, object]:
    return {
        "key": f"f{number}",
        "number": number,
        "title": f"Formula {number}",
        "symbols": [
            {"tex": tex, "html": f"<i>{tex}</i>", "name": name, "shape": shape}
            for tex, name, shape in symbols
        ],
    }


# --- symbols -------------------------------------------------------
def test_a_symbol_is_listed_once_with_each_meaning_and_its_formulas() -> None:
    page = {
        "formulas": [
            formula(1, ("x", "input row", "(D,)"), (r"\sigma", "activation", "")),
            formula(2, (" x ", "input row", "(D,)"), (r"\sigma", "deviation", "scalar")),
        ]
    }
    x, sigma = symbols_of(page)
    assert [(m.name, [f["number"] for f in m.formulas]) for m in x.meanings] == [
        ("input row", [1, 2])
    ]
    assert [(m.name, [f["number"] for f in m.formulas]) for m in sigma.meanings] == [
        ("activation", [1]),
        ("deviation", [2]),
    ]


def test_symbols_stand_in_the_order_of_letters_then_greek_then_signs() -> None:
    tex = [r"\odot", r"\gamma", "x", r"\beta", "D", r"\text{RMS}(x)", r"\lvert \alpha \rvert"]
    page = {"formulas": [formula(1, *((one, one, "") for one in tex))]}
    assert [symbol.tex for symbol in symbols_of(page)] == [
        *("D", r"\text{RMS}(x)", "x"),
        *(r"\lvert \alpha \rvert", r"\beta", r"\gamma", r"\odot"),
    ]


def test_the_page_lists_its_symbols_with_links_back_to_formulas(
    client: Client, rows: Chapter
) -> None:
    body = client.get(CHAPTER_URL).content.decode()
    assert 'id="part-symbols"' in body
    listed = body[body.index('id="part-symbols"') :]
    keys = [entry["key"] for entry in rows.current_revision.page["formulas"] if entry["symbols"]]
    assert keys
    for key in keys:
        assert f'href="#formula-{key}"' in listed


# --- places -------------------------------------------------------
def test_every_place_in_the_outline_is_on_the_page(client: Client, rows: Chapter) -> None:
    body = client.get(CHAPTER_URL).content.decode()
    outline = outline_of(rows.current_revision.page)
    places = [place for section in outline for place in (section, *section.places)]
    assert len(places) > len(outline)
    for place in places:
        assert f'id="{place.id}"' in body
        assert f'<a href="#{place.id}">' in body


def test_every_heading_formula_step_line_and_question_has_a_link_to_itself(
    client: Client, rows: Chapter
) -> None:
    body = client.get(CHAPTER_URL).content.decode()
    page = rows.current_revision.page
    anchors = set(re.findall(r'<a class="anchor" href="#([^"]+)"', body))
    expected = {heading["id"] for heading in page["headings"]}
    expected |= {f"formula-{entry['key']}" for entry in page["formulas"]}
    expected |= {f"step-{entry['key']}" for entry in page["steps"]}
    expected |= {f"mechanism-{entry['key']}" for entry in page["mechanism"]}
    expected |= {f"question-{entry['key']}" for entry in page["questions"]}
    assert expected <= anchors
    ids = set(re.findall(r'\sid="([^"]+)"', body))
    lines = set(re.findall(r'<a class="line-link" href="#([^"]+)"', body))
    code_lines = sum(len(one["code"].splitlines()) for one in page["listings"])
    assert len(lines) == code_lines > 0
    assert anchors | lines <= ids


def test_the_link_of_a_heading_stands_beside_it_and_not_in_its_name() -> None:
    markup = linked_headings('<p>a</p><h3 id="one">One <em>two</em></h3><p>b</p>')
    assert '<h3 id="one">One <em>two</em></h3><a class="anchor" href="#one"' in markup
    assert 'aria-label="Link to: One two"' in markup
    assert linked_headings("<h3>no id</h3>") == "<h3>no id</h3>"


# --- the home page's sample -------------------------------------------------------
def test_the_sample_is_rmsnorm() -> None:
    sample = rmsnorm_sample()
    # Computed with 50 digits.
    assert sample.rms == "2.739"
    assert list(sample.result) == ["0.365", "0.730", "1.095", "1.461"]
    assert sample.mean_square == "1.000"
    assert rmsnorm_sample((0.0, 0.0)).rms == "0.001"


def test_home_offers_to_begin_and_later_to_go_on(client: Client, rows: Chapter) -> None:
    assert "Start reading" in client.get("/").content.decode()
    client.post(answer_url("which"), {"choice": "one"})
    body = client.get("/").content.decode()
    assert "Go on reading" in body
    assert 'data-resume="tiny-course/rows"' in body


# --- the mark of the site -------------------------------------------------------
def test_favicon_leads_to_an_icon_of_three_sizes(client: Client) -> None:
    response = client.get("/favicon.ico")
    assert response.status_code == 301
    path = finders.find(response["Location"].removeprefix(settings.STATIC_URL).lstrip("/"))
    with open(path, "rb") as file:
        reserved, kind, count = struct.unpack("<HHH", file.read(6))
    assert (reserved, kind, count) == (0, 1, 3)


# --- accounts -------------------------------------------------------
@pytest.fixture
def ada(client: Client, db: None) -> User:
    user = User.objects.create_user("ada", "ada@example.org", PASSWORD)
    client.force_login(user)
    return user


def test_only_signed_in_users_can_change_their_name(client: Client, ada: User) -> None:
    response = client.post("/accounts/profile/", {"first_name": "Ada", "last_name": "Lovelace"})
    assert response.status_code == 302
    ada.refresh_from_db()
    assert ada.get_full_name() == "Ada Lovelace"
    client.logout()
    assert "/accounts/login/" in client.get("/accounts/profile/")["Location"]


def test_an_account_is_deleted_with_its_progress_by_its_password(
    client: Client, ada: User, rows: Chapter
) -> None:
    client.post(answer_url("which"), {"choice": "one"})
    assert QuizAttempt.objects.count() == 1
    response = client.post("/accounts/delete/", {"password": "wrong"})
    assert "not the password" in response.content.decode()
    assert User.objects.filter(pk=ada.pk).exists()
    response = client.post("/accounts/delete/", {"password": PASSWORD}, follow=True)
    assert "deleted" in response.content.decode()
    assert not User.objects.filter(pk=ada.pk).exists()
    assert QuizAttempt.objects.count() == Learner.objects.count() == 0
    assert not response.wsgi_request.user.is_authenticated


def test_the_last_operator_cannot_leave_the_site_without_one(db: None) -> None:
    first = User.objects.create_superuser("first", "", PASSWORD)
    with pytest.raises(LastOperatorError):
        delete_account(first)
    User.objects.create_superuser("second", "", PASSWORD)
    delete_account(first)
    assert list(User.objects.filter(is_superuser=True).values_list("username", flat=True)) == [
        "second"
    ]
