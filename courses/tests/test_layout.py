"""The first chapter in a browser: nothing is cut off at the usual widths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from playwright.sync_api import Browser, Page, Playwright, Route, sync_playwright

from courses.content.importer import load_course
from courses.management.commands.load_course import LIBRARY
from tests.platform import fonts

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker

pytestmark = [pytest.mark.django_db, pytest.mark.browser]
CHROMIUM = "/usr/bin/chromium"
SITE = "http://chapter.test"
URL = "/courses/learn-ml-from-scratch/deep-neural-representations/"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
CUT = """() => [...document.querySelectorAll(".table-scroll, .scroll, pre, .math-display")]
  .filter((box) => box.scrollWidth > box.clientWidth)
  .map((box) => `${box.className || box.tagName} ${box.scrollWidth} > ${box.clientWidth}`)"""

Look = Callable[[Page], Any]
See = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def answers(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> dict[str, str]:
    """What the site answers for the chapter."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_course(LIBRARY / "learn-ml-from-scratch")
        client = Client()
        # Once: a page that is kept in memory has no context.
        response = client.get(URL)
        transaction.set_rollback(True)
    return {URL: response.content.decode()}


FONTS = [family for family in fonts.FAMILIES if fonts.installed(family)]


@pytest.fixture(scope="module", params=["all", *FONTS])
def in_browser(
    request: pytest.FixtureRequest,
    answers: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Any]]:
    """Return a function that has another one called with a page that knows the site.

    The browser runs in a thread of its own: its event loop must not be that of the database. There
    is one with all fonts of the machine, and one with each family of them alone.
    """

    def serve(route: Route) -> None:
        path = urlsplit(route.request.url).path
        static = Path(settings.BASE_DIR, path.lstrip("/"))
        if path in answers:
            route.fulfill(body=answers[path], content_type="text/html")
        elif path.startswith("/static/") and static.is_file():
            route.fulfill(path=static, content_type=TYPES.get(static.suffix, "font/woff2"))
        else:
            route.abort()

    def start() -> tuple[Playwright, Browser]:
        playwright = sync_playwright().start()
        arguments = ["--no-sandbox", "--disable-gpu"]
        variables: dict[str, str | float | bool] = {**os.environ}
        if request.param != "all":
            folders = fonts.installed(request.param)
            variables |= fonts.environment(folders, tmp_path_factory.mktemp("fonts"))
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=arguments, env=variables
        )
        return playwright, browser

    def end() -> None:
        browser.close()
        playwright.stop()

    def call(use: Callable[[Page], Any]) -> Any:
        page = browser.new_page()
        page.route("**/*", serve)
        try:
            return use(page)
        finally:
            page.close()

    with ThreadPoolExecutor(1) as thread:
        playwright, browser = thread.submit(start).result()
        yield lambda use: thread.submit(call, use).result()
        thread.submit(end).result()


@pytest.fixture
def see(in_browser: Callable[..., Any]) -> See:
    """Return what a function finds on the chapter's page at each width, one after the other."""

    def run(look: Look, *widths: int, before: str = "true") -> list[Any]:
        def browse(page: Page) -> list[Any]:
            page.set_viewport_size({"width": widths[0], "height": 900})
            page.goto(f"{SITE}{URL}")
            page.evaluate("document.fonts.ready.then(() => true)")
            page.evaluate(before)
            found = []
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                found.append(look(page))
            return found

        found: list[Any] = in_browser(browse)
        return found

    return run


def test_nothing_is_cut_at_the_usual_widths(see: See) -> None:
    def cut(page: Page) -> list[str]:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes: list[str] = page.evaluate(CUT)
        return boxes

    all_steps = "document.querySelector('[data-steps-all]').click()"
    assert see(cut, 1280, 1440, 1920, before=all_steps) == [[], [], []]


def test_a_listing_does_not_overlap_its_neighbours(see: See) -> None:
    def overlaps(page: Page) -> bool:
        listing = page.locator("#part-code .listing").bounding_box()
        assert listing is not None
        for nav in page.locator(".side-nav:visible").all():
            box = nav.bounding_box()
            assert box is not None
            if (
                box["x"] < listing["x"] + listing["width"]
                and listing["x"] < box["x"] + box["width"]
            ):
                return True
        return listing["x"] < 0

    assert see(overlaps, 960, 1280, 1440, 1792) == [False] * 4


def test_on_a_phone_the_number_stands_below_its_formula_and_the_page_does_not_scroll_sideways(
    see: See,
) -> None:
    def below(page: Page) -> bool:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        rows = page.locator(".formula-row").all()
        assert len(rows) == 4
        for row in rows:
            formula = row.locator(".math-display").bounding_box()
            number = row.locator(".formula-number").bounding_box()
            assert formula is not None
            assert number is not None
            if number["y"] < formula["y"] + formula["height"]:
                return False
        return True

    assert see(below, 390) == [True]


def test_a_link_into_the_page_is_there_at_once(see: See) -> None:
    def jump(page: Page) -> float:
        page.evaluate("scrollTo(0, 0)")
        distance: float = page.evaluate(
            """() => {
              location.hash = "#question-eps-fingerprint";
              const target = document.getElementById("question-eps-fingerprint");
              return Math.abs(target.getBoundingClientRect().top);
            }"""
        )
        return distance

    for width in (390, 1280):
        assert see(jump, width)[0] < 100
