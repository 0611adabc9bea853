"""A long chapter is laid out where the reader is, and soon everywhere: nothing moves meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.content import CHAPTER_PATH, chapter
from tests.e2e.test_main_job import give_answer
from tests.platform.instance import PATIENCE_SECONDS, Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
QUESTION = next(entry for entry in chapter()["questions"] if entry["kind"] == "single")
NOT_LAID_OUT = """() => [...document.querySelectorAll(".part h2, .formula *, .question *")]
  .filter((part) => part.checkVisibility())
  .filter((part) => !part.checkVisibility({ contentVisibilityAuto: true }))
  .length"""
NOTE_SHIFTS = """
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shifts.push(entry.value);
  }).observe({ type: "layout-shift", buffered: true });
"""
# The scripts' own work for idle time waits until the test lets it begin: as it comes, or all of it
# before the next frame, as a slow machine does.
HOLD_IDLE_WORK = """
  const atItsTime = requestIdleCallback.bind(window);
  let now = (work) => held.push(work);
  window.held = [];
  window.requestIdleCallback = (work) => now(work);
  window.letGo = (together) => {
    now = together ? (work) => work() : (work) => atItsTime(work);
    held.forEach((work) => now(work));
  };
"""
# Where `element` stands in the window, at each frame.
NOTE_PLACES = """(element) => {
  window.places = [];
  const look = () => {
    places.push(element.getBoundingClientRect().top);
    requestAnimationFrame(look);
  };
  look();
}"""
# How high each part is with the containment that "content-visibility: auto" brings, and without.
HEIGHTS = """() => {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet];
  return ["layout paint style", "none"].map((contain) => {
    const style = `content-visibility: visible !important; contain: ${contain}`;
    sheet.replaceSync(`.part, .part :is(.formula, .question) { ${style} }`);
    const parts = document.querySelectorAll(".part, .part .formula, .part .question");
    return [...parts].map((part) => part.getBoundingClientRect().height);
  });
}"""
NOTE_WHERE_IT_STANDS = """(element) => {
  window.stood = [];
  const look = () => {
    const top = Math.round(element.getBoundingClientRect().top + scrollY);
    if (top !== stood.at(-1)) stood.push(top);
    requestAnimationFrame(look);
  };
  look();
}"""
SOME_FRAMES = """async () => {
  for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
}"""


@pytest.fixture
def page(chromium: Browser, platform_instance: Instance) -> Iterator[Page]:
    """A page that is laid out as a reader's is, and notes what moves by itself."""
    context = chromium.new_context(base_url=platform_instance.base_url)
    context.add_init_script(NOTE_SHIFTS)
    yield context.new_page()
    context.close()


def wait_until(page: Page, true: str) -> None:
    """Wait until JavaScript's expression holds; the site's policy forbids the browser's own way."""
    until = monotonic() + PATIENCE_SECONDS
    while not page.evaluate(true):
        assert monotonic() < until, true
        page.wait_for_timeout(50)


@pytest.mark.parametrize("together", [False, True], ids=["a piece a time", "all in one frame"])
def test_all_is_laid_out_in_a_while_and_the_reader_stays_in_place(
    page: Page, together: bool
) -> None:
    page.add_init_script(HOLD_IDLE_WORK)
    page.goto(f"{CHAPTER_PATH}#question-{QUESTION['key']}")
    wait_until(page, "held.length > 0")
    page.evaluate(SOME_FRAMES)
    height = page.evaluate("document.documentElement.scrollHeight")
    assert page.evaluate(NOT_LAID_OUT) > 100
    page.locator(f"#question-{QUESTION['key']}").evaluate(NOTE_PLACES)
    page.evaluate("shifts.length = 0")
    page.evaluate("letGo", together)
    wait_until(page, "document.querySelector('[data-chapter][data-laid-out]') !== null")
    page.evaluate(SOME_FRAMES)
    assert page.evaluate(NOT_LAID_OUT) == 0
    assert page.evaluate("document.documentElement.scrollHeight") != height
    before, *after = page.evaluate("places")
    assert 0 <= before < 100
    assert after == pytest.approx([before] * len(after), abs=2)
    assert page.evaluate("shifts.reduce((sum, shift) => sum + shift, 0)") < 0.01


def test_what_is_laid_out_is_as_high_as_it_was_while_it_might_be_left_out(page: Page) -> None:
    page.goto(CHAPTER_PATH)
    contained, free = page.evaluate(HEIGHTS)
    assert min(contained) > 100
    assert free == contained


def test_an_answer_moves_what_follows_only_once(page: Page) -> None:
    page.goto(f"{CHAPTER_PATH}#question-{QUESTION['key']}")
    wait_until(page, "document.querySelector('[data-chapter][data-laid-out]') !== null")
    page.locator(f"#question-{QUESTION['key']} + .question").evaluate(NOTE_WHERE_IT_STANDS)
    give_answer(page, QUESTION)
    said = page.locator(f"#question-{QUESTION['key']} [role=status]")
    expect(said).to_be_visible()
    expect(said).not_to_be_empty()
    page.evaluate(SOME_FRAMES)
    assert len(page.evaluate("stood")) == 2
