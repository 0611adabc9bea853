"""What every page may cost, and that a browser and axe have nothing to complain of on any of them.

Bytes and requests are those of a first visit, scrolled to the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.budgets import PAGES, Budget, Site, prepared_site
from tests.e2e.content import CHAPTER_PATH
from tests.e2e.measured import Visit, scroll_through, visit
from tests.platform.instance import Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
EXERCISE_PATH = "/exercises/rmsnorm/"
SHIFT = 0.02
PAINT_MS = 1500.0
# The paint is a time on a machine that does other things too: what those take of it is left out,
# and the best of these counts.
TRIES = 8


@pytest.fixture(scope="module")
def site(platform_instance: Instance, chromium: Browser) -> Site:
    return prepared_site(platform_instance.base_url, chromium)


@pytest.mark.parametrize("name", PAGES)
def test_a_first_visit_stays_in_its_budget(chromium: Browser, site: Site, name: str) -> None:
    budget = PAGES[name]
    found = _visit(chromium, site, budget)
    complaints = [one for one in found.complaints if name != "not found" or "404" not in one]
    assert complaints == []
    foreign = [url for url in found.requests if not url.startswith(site.base_url)]
    assert foreign == []
    # Named by content, so that browsers keep it for good.
    static = [url for url in found.requests if "/static/" in url]
    assert [url for url in static if not re.search(r"\.[0-9a-f]{12}\.\w+$", url)] == []
    assert found.sent_bytes <= budget.kilobytes * 1000, found.requests
    assert len(found.requests) <= budget.requests, found.requests
    assert found.shift < SHIFT
    paints = [found.own_paint_ms]
    while min(paints) >= PAINT_MS and len(paints) < TRIES:
        paints.append(_visit(chromium, site, budget, scrolled=False).own_paint_ms)
    assert 0 < min(paints) < PAINT_MS, paints


def _visit(chromium: Browser, site: Site, budget: Budget, scrolled: bool = True) -> Visit:
    state = site.state if budget.signed_in else None
    return visit(chromium, site.base_url, site.path(budget), state, scrolled=scrolled)


def test_nothing_moves_in_the_hero_while_its_second_half_arrives(
    chromium: Browser, site: Site
) -> None:
    """A slow machine paints the page while it is still read: the rest may only be added below."""
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    try:
        page.goto(site.base_url)
        tops = "[...document.querySelectorAll('.hero h1, .try, .try h2')].map(e => e.offsetTop)"
        whole = page.evaluate(tops)
        page.evaluate("document.querySelectorAll('.try > :not(h2)').forEach(e => e.remove())")
        assert page.evaluate(tops) == whole
    finally:
        page.close()


def test_a_phone_sees_no_shift_either(chromium: Browser, site: Site) -> None:
    found = visit(chromium, site.base_url, CHAPTER_PATH, width=360, slow_to_the_end=True)
    assert found.shift < SHIFT


# --- accessibility --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def reader(chromium: Browser, site: Site) -> Iterator[Page]:
    """A signed-in page in the light theme."""
    context = chromium.new_context(
        base_url=site.base_url,
        storage_state=site.state,
        color_scheme="light",
        reduced_motion="reduce",
    )
    yield context.new_page()
    context.close()


# Contrast is two thirds of axe's work, and formulas and lines of code are most of a chapter's
# elements. Those that have the same colours on the same ground have the same contrast: one of each
# is enough.
NOTE_COLOURS = """() => {
  const ground = (element) => {
    if (!element) return '';
    const colour = getComputedStyle(element).backgroundColor;
    return colour === 'rgba(0, 0, 0, 0)' ? ground(element.parentElement) : colour;
  };
  window.looks ??= new Map();
  for (const piece of document.querySelectorAll('.katex, .highlight .line')) {
    const colours = [piece, ...piece.querySelectorAll('*')].map((part) => {
      const style = getComputedStyle(part);
      return style.color + style.backgroundColor;
    });
    const look = [piece.classList[0], ground(piece), ...new Set(colours)].join();
    looks.set(piece, [looks.get(piece), look].join());
  }
}"""
KEEP_ONE_OF_EACH_COLOUR = """() => {
  const seen = new Set();
  for (const [piece, look] of looks) {
    if (seen.has(look)) piece.remove();
    seen.add(look);
  }
}"""


def assert_accessible(page: Page, whole: bool = False, dark_too: bool = True) -> None:
    """Hold the page against axe's rules, in the dark theme against contrast: all it changes.

    With `whole` every formula and line of code is looked at, not one of each colour.
    """
    scroll_through(page)
    if whole:
        _assert_axe_finds_nothing(page, {"color-contrast": False, "target-size": True})
    page.evaluate(NOTE_COLOURS)
    if dark_too:
        page.emulate_media(color_scheme="dark")
        page.evaluate(NOTE_COLOURS)
    page.evaluate(KEEP_ONE_OF_EACH_COLOUR)
    if dark_too:
        _assert_axe_finds_nothing(page, only="color-contrast")
        page.emulate_media(color_scheme="light")
    if whole:
        _assert_axe_finds_nothing(page, only="color-contrast")
    else:
        _assert_axe_finds_nothing(page, {"target-size": True})


def _assert_axe_finds_nothing(
    page: Page, rules: Mapping[str, bool] | None = None, only: str = ""
) -> None:
    """Run axe with its default rules, some of them switched on or off, or with only one of all."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if only:
        options["runOnly"] = {"type": "rule", "values": [only]}
    else:
        options["rules"] = {name: {"enabled": on} for name, on in (rules or {}).items()}
    results = Axe().run(page, options=options)
    found = [
        (
            violation["id"],
            violation["help"],
            [node["html"][:200] for node in violation["nodes"]][:3],
        )
        for violation in results.response["violations"]
    ]
    assert found == []


IN_EVERY_RUN = {"exercise", "verdict", "dashboard", "sign in", "search"}
ANOTHER = pytest.mark.long("Pages made of the same parts are looked at in every run.")


# The chapters come below: answered, narrow, and without an account.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in IN_EVERY_RUN else ANOTHER)
        for name in PAGES
        if not name.startswith("chapter")
    ],
)
def test_axe_finds_nothing(reader: Page, site: Site, name: str) -> None:
    reader.goto(site.path(PAGES[name]), wait_until="networkidle")
    assert_accessible(reader)


def test_axe_finds_nothing_on_a_wrong_verdict(reader: Page, site: Site) -> None:
    reader.goto(site.wrong, wait_until="networkidle")
    assert_accessible(reader)


@pytest.mark.parametrize(
    "path", [CHAPTER_PATH, *(pytest.param(p, marks=ANOTHER) for p in (EXERCISE_PATH, "{wrong}"))]
)
def test_axe_finds_nothing_in_a_narrow_window(reader: Page, site: Site, path: str) -> None:
    reader.set_viewport_size({"width": 360, "height": 700})
    try:
        reader.goto(path.format(wrong=site.wrong), wait_until="networkidle")
        assert_accessible(reader)
    finally:
        reader.set_viewport_size({"width": 1280, "height": 720})


def test_axe_finds_nothing_once_questions_are_answered(reader: Page) -> None:
    reader.goto(CHAPTER_PATH, wait_until="networkidle")
    question = reader.locator("article.question, [id^=question-]").filter(
        has=reader.locator("input[type=radio]")
    )
    question.first.locator("input[type=radio]").first.check()
    question.first.get_by_role("button", name="Check answer").click()
    expect(question.first.locator(".feedback, [role=status]").first).to_be_visible()
    assert_accessible(reader, whole=True)


@pytest.fixture(scope="module")
def stranger(chromium: Browser, site: Site) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=site.base_url)
    yield context
    context.close()


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/accounts/signup/"),
        *(pytest.param(path, marks=ANOTHER) for path in (CHAPTER_PATH, EXERCISE_PATH)),
    ],
)
def test_axe_finds_nothing_without_an_account(stranger: BrowserContext, path: str) -> None:
    page = stranger.new_page()
    page.goto(path, wait_until="networkidle")
    assert_accessible(page, dark_too=False)
    page.close()
