"""The search over the real course: best hits first, and every result has its anchor."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from courses.content.importer import load_course
from courses.management.commands.load_course import LIBRARY
from courses.models import Chapter
from courses.search.documents import Document, Segment, SegmentKind
from courses.search.excerpts import MAX_CHARACTERS
from courses.search.index import Index, Query
from courses.search.markup import passages
from courses.search.service import Results, search

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture(scope="module", autouse=True)
def library(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The real course, rendered once for all tests of this module."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_course(LIBRARY / "learn-ml-from-scratch")
        yield
        transaction.set_rollback(True)


def anchors(found: Results) -> list[str]:
    return [result.url.rpartition("/")[2] for result in found.results]


def ids_of(page: str) -> set[str]:
    found: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.update(value for name, value in attrs if name == "id" and value)

    Reader().feed(page)
    return found


def test_formulas_are_read_by_their_tex_and_their_drawing_is_left_out() -> None:
    page = Chapter.objects.get(slug="deep-neural-representations").current_revision.page
    first, *rest = passages(page["intuition_html"])
    assert first.anchor == ""
    assert "1.1^100 ≈ 13,781 times" in first.text
    assert r"1.1^{100} \approx 13{,}781" in first.formulas
    assert rest[0].anchor == "two-ways-to-measure-a-row"
    assert rest[0].title == "Two ways to measure a row"


@pytest.mark.parametrize(
    ("query", "anchor"),
    [
        ("chain rule", "#step-chain-rule"),
        ("universal approximation", "#formula-universal-approximation"),
        ("layer normalization", "#formula-layernorm"),
        ("where a row lands", "#where-a-normalized-row-lands"),
        ("self.rstd sqrt", "#line-rstd"),
        ("dgamma np.sum xhat axis", "#line-dgamma"),
        ("Leshno", "#part-references"),
        (r"\frac{\partial L}{\partial \gamma_i}", "#step-dgamma"),
    ],
)
def test_the_best_place_comes_first(query: str, anchor: str) -> None:
    assert anchors(search(query))[0] == anchor


@pytest.mark.parametrize("query", ["γ", "gamma", r"\gamma", "GAMMA", "learned scale"])
def test_a_symbol_is_found_at_the_formulas_that_explain_it(query: str) -> None:
    assert {"#formula-rmsnorm", "#formula-layernorm"} <= set(anchors(search(query))[:4])


def test_every_result_leads_to_a_place_that_the_page_has(client: Client) -> None:
    pages: dict[str, set[str]] = {}
    for query in ("x", "norm", "row", "rms", "gradient", r"\frac", "def", "numpy", "softmax"):
        for result in search(query, limit=1000).results:
            url, _, anchor = result.url.partition("#")
            if url not in pages:
                pages[url] = ids_of(client.get(url).content.decode())
            assert not anchor or anchor in pages[url], result.url
    assert len(pages) >= 2


def test_a_word_may_be_unfinished_and_a_whole_word_counts_more() -> None:
    assert "#formula-universal-approximation" in anchors(search("univers approxim"))
    texts = ("normalization of rows", "a norm of rows")
    index = Index.of(Document("", "", "", (Segment(SegmentKind.PROSE, text),)) for text in texts)
    assert [hit.document for hit in index.hits(Query.of("norm"))] == [1, 0]


def test_all_words_are_asked_for_and_less_is_said_to_be_less() -> None:
    assert search("hornik cybenko").complete
    partial = search("hornik zebra")
    assert not partial.complete
    assert partial.total > 0


def test_a_misspelt_word_is_mended_and_nonsense_is_not() -> None:
    assert search("nomalization").suggestion == "normalization"
    # Each word is compared with every word of the course: a page full of them is not.
    assert search("nomalization " * 12).suggestion == "normalization " * 12
    assert search("nomalization " * 13).suggestion == ""
    assert search("zzzzqqq") == Results((), 0, True, "")


def test_an_excerpt_is_short_and_shows_the_words_together() -> None:
    for result in search("gradient rms").results:
        text = "".join(piece.text for piece in result.excerpt.pieces)
        assert len(text) <= MAX_CHARACTERS + len("… ") + len(" …")
    # Elsewhere the two numbers stand too far from each other for one excerpt.
    together = [one for one in search("7% to 64%").results if "deep-neural" in one.url]
    assert together
    for result in together:
        marked = [piece.text for piece in result.excerpt.pieces if piece.marked]
        assert {"7", "64"} <= set(marked)


def test_searching_again_costs_one_query() -> None:
    search("warm")
    with CaptureQueriesContext(connection) as queries:
        search("gradient")
    assert len(queries) <= 2
