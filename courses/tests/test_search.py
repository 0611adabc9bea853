"""The search: words, texts, and the page with its limits."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from django.test import Client

from courses.models import Chapter
from courses.search.markup import plain_text, readable
from courses.search.service import MAX_QUERY_CHARACTERS, search
from courses.search.words import words
from courses.services import publish_chapter

from .conftest import CHAPTER_URL

pytestmark = pytest.mark.django_db


# --- words -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("γ", "gamma"),
        (r"\gamma", "gamma"),
        (r"\varepsilon", "ϵ"),
        ("GRADIENTS", "gradient"),
        ("Schrödinger", "schrodinger"),
        ("normalisation", "normalization"),
        ("∂", r"\partial"),
        ("𝛼", "alpha"),
    ],
)
def test_words_that_are_written_differently_are_the_same(one: str, other: str) -> None:
    assert [word.word for word in words(one)] == [word.word for word in words(other)]


def test_parts_of_a_compound_are_words_too_and_commands_stay_commands() -> None:
    assert [word.word for word in words(r"RMSNorm \frac")] == ["rmsnorm", "rms", "norm", r"\frac"]


def test_words_know_their_places() -> None:
    text = "the γ of x_i"
    assert [text[word.start : word.end] for word in words(text)] == ["the", "γ", "of", "x", "i"]

    # --- texts -----def test_markup_is_not_text() -> None:
    assert plain_text("<p>a<br>b <code>x &lt; y</code>.</p><pre>c</pre>") == "a b x < y. c"


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{1}{D} \, \gamma_i", "1/D γ_i"),
        (r"\frac{1}{\text{RMS}}", "1/RMS"),
        (r"\hat x \odot \hat{y}", "x̂ ⊙ ŷ"),
        (r"\sum_{i=1}^D x_i^2", "∑_(i=1)^D x_i^2"),
        (r"e^{a+b} = e^{a} e^{b}", "e^(a+b) = e^a e^b"),
        (r"e^{-x_{i}}", "e^(-x_i)"),
        (r"e^{\left(a+b\right)}", "e^(a+b)"),
        (r"x_{ij} y_{i_{j}} 10^{12}", "x_ij y_(i_j) 10^12"),
        (r"\frac{a+b}{c+d}", "(a+b)/(c+d)"),
        (r"\frac{e^{x_i}}{\sum_{j} e^{x_j}}", "e^(x_i)/(∑_j e^(x_j))"),
        (r"\frac{\partial L}{\partial x_{i}}", "∂ L/∂ x_i"),
        (r"\sqrt{\frac{1}{D}\sum_{i=1}^{D} x_i^2}", "√(1/D ∑_(i=1)^D x_i^2)"),
        (r"\{a, b\} \subset \mathbb{R}^{D}", "{a, b} subset R^D"),
    ],
)
def test_tex_can_be_read_in_a_line(tex: str, text: str) -> None:
    assert readable(tex) == text


# --- what is found, and when ------------------------------------------------------------------
def test_answers_cannot_be_searched(rows: Chapter) -> None:
    assert search("Six thirds").total == 0
    assert search("smallest").total == 0


def test_a_new_revision_is_found_at_once_and_a_withdrawn_chapter_is_not(rows: Chapter) -> None:
    assert search("xylophone").total == 0
    Chapter.objects.filter(pk=rows.pk).update(intuition="A xylophone.")
    assert search("xylophone").total == 0
    publish_chapter(rows, None)
    (result,) = search("xylophone").results
    assert result.url == f"{CHAPTER_URL}#part-intuition"
    Chapter.objects.filter(pk=rows.pk).update(published=False)
    assert search("xylophone").total == 0


# --- the page ------------------------------------------------------------------------------
def page(client: Client, query: str, **more: str) -> str:
    return client.get(f"/search/?{urlencode({'q': query, **more})}").content.decode()


def test_the_page_works_without_script_and_the_fragment_is_its_list(
    client: Client, rows: Chapter
) -> None:
    whole, fragment = page(client, "row"), page(client, "row", fragment="1")
    assert '<input id="search-text" name="q" type="search" value="row"' in whole
    assert "<mark>" in whole
    assert f'href="{CHAPTER_URL}' in fragment
    assert "<html" not in fragment
    assert fragment.strip() in whole


def test_queries_and_results_are_text_never_markup(client: Client, rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(intuition="A `<img src=x onerror=alert(1)>` here.")
    publish_chapter(rows, None)
    evil = '"><script>alert(1)</script><img onerror'
    body = page(client, evil)
    assert "<script>alert" not in body
    assert "&lt;script&gt;" in body
    body = page(client, "onerror")
    assert "<img" not in body
    assert "&lt;" in body


def test_long_and_strange_queries_are_bounded(client: Client, rows: Chapter) -> None:
    for query in ("row " * 5000, "\0", "\\" * 300, "_" * 300, "\ud800".encode("utf-8", "replace")):
        response = client.get("/search/", {"q": query, "fragment": "1"})
        assert response.status_code == 200
    assert client.get("/search/", {"q": "x" * 5000}).context["text"] == "x" * MAX_QUERY_CHARACTERS
    assert client.post("/search/", {"q": "row"}).status_code == 405


def test_searches_are_limited_per_address(client: Client, rows: Chapter, settings: Any) -> None:
    cache.clear()
    settings.SEARCHES_PER_MINUTE = 2
    statuses = [client.get("/search/?q=row").status_code for _ in range(4)]
    assert statuses == [200, 200, 429, 429]
    response = client.get("/search/?q=row&fragment=1")
    assert response["Retry-After"] == "60"
    assert "Wait a moment" in response.content.decode()
    assert client.get("/search/").status_code == 200
    assert client.get("/search/?q=row", REMOTE_ADDR="192.0.2.7").status_code == 200
    cache.clear()


def test_an_empty_site_and_an_empty_query_have_a_page(client: Client, db: None) -> None:
    assert "Nothing found" in page(client, "row")
    assert client.get("/search/").status_code == 200
