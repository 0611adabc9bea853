"""Reading in a browser: steps, places, search, copying, and all of it without script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from time import monotonic

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from conftest import CHROMIUM, CHROMIUM_ARGUMENTS, EXPECT_MS, lay_out_at_once
from tests.e2e.content import CHAPTER_PATH, chapter, listing
from tests.platform.instance import Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
STEPS = [step["key"] for step in chapter()["steps"]]
# What is long is laid out when it comes near.
SCROLL_THROUGH = """async () => {
  for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
    scrollTo({ top, behavior: "instant" });
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  }
}"""
NOT_LAID_OUT = """() => [...document.querySelectorAll(".part h2")]
  .filter((title) => !title.checkVisibility({ contentVisibilityAuto: true })).length"""


@pytest.fixture(scope="module")
def reader(chromium: Browser, platform_instance: Instance) -> Iterator[Page]:
    """One reader for the module; tests that need a clean memory clear it."""
    context = chromium.new_context(
        base_url=platform_instance.base_url,
        viewport={"width": 1440, "height": 900},
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
    )
    lay_out_at_once(context)
    yield context.new_page()
    context.close()


def open_chapter(page: Page, fragment: str = "", forget: bool = True) -> None:
    page.goto("/accounts/login/")  # a page without a chapter: so the fragment is a fresh visit
    if forget:
        page.evaluate("localStorage.clear()")
    page.goto(f"{CHAPTER_PATH}{fragment}")


def step(page: Page, key: str) -> Locator:
    return page.locator(f"#step-{key}")


def expect_clipboard(page: Page, text: str, said: str = "Copied") -> None:
    """Wait until `text` is copied, and this said: the marks on buttons are gone too soon."""
    until = monotonic() + EXPECT_MS / 1000
    while page.evaluate("navigator.clipboard.readText()") != text:
        assert monotonic() < until, page.evaluate("navigator.clipboard.readText()")
        page.wait_for_timeout(50)
    expect(page.locator("[data-announce]")).to_have_text(said)


# --- the derivation ------------------------------------------------
def test_steps_open_one_by_one_or_all_at_once_and_stay_open(reader: Page) -> None:
    open_chapter(reader)
    expect(step(reader, STEPS[0])).to_be_visible()
    expect(step(reader, STEPS[1])).to_be_hidden()
    button = reader.locator("[data-steps-next]")
    button.press("Enter")
    expect(step(reader, STEPS[1])).to_be_visible()
    expect(reader.locator("[data-steps-count]")).to_have_text(f"Step 2 of {len(STEPS)}")
    reader.reload()
    expect(step(reader, STEPS[1])).to_be_visible()
    reader.locator("[data-steps-all]").press("Enter")
    expect(step(reader, STEPS[-1])).to_be_visible()
    # The button that was pressed is gone; the keyboard goes on beside it.
    expect(button).to_be_focused()
    button.press("Enter")
    expect(step(reader, STEPS[1])).to_be_hidden()


def test_a_link_to_a_step_opens_it_and_print_opens_all(reader: Page) -> None:
    open_chapter(reader, "#step-jacobian")
    expect(step(reader, "jacobian")).to_be_in_viewport()
    expect(step(reader, "dgamma")).to_be_hidden()
    reader.emulate_media(media="print")
    expect(step(reader, "dgamma")).to_be_visible()
    expect(reader.locator(".site-head")).to_be_hidden()
    reader.emulate_media(media="screen")


def test_a_step_its_formula_and_its_line_light_up_together(reader: Page) -> None:
    open_chapter(reader)
    parts = [reader.locator(f"#{one}") for one in ("formula-rmsnorm", "line-rstd")]
    step(reader, "definition").hover()
    for part in parts:
        expect(part).to_have_class(re.compile(r"\blit\b"))
    # The keyboard does what the pointer does, and from the other end too.
    reader.locator("#line-rstd .line-link").focus()
    reader.mouse.move(0, 0)
    expect(step(reader, "definition")).to_have_class(re.compile(r"\blit\b"))
    see_also = step(reader, "definition").locator(".see a")
    hrefs = [link.get_attribute("href") for link in see_also.all()]
    assert hrefs[:2] == ["#formula-rmsnorm", "#line-rstd"]
    # The test is on another page, which has its place too.
    assert "/exercises/rmsnorm/#group-forward" in hrefs
    expect(reader.locator("#line-rstd .step-link")).to_have_attribute("href", "#step-definition")


def test_terms_that_a_step_changed_are_marked_for_the_eye_only(reader: Page) -> None:
    open_chapter(reader, "#step-result")
    marked = step(reader, "result").locator(".changed")
    assert marked.count() >= 3
    edge = marked.first.evaluate("mark => getComputedStyle(mark).boxShadow")
    assert edge != "none", "colour alone must not tell"
    assert reader.locator("annotation", has_text="changed").count() == 0


# --- places ------------------------------------------------
def test_a_reader_is_led_back_to_where_they_were(reader: Page) -> None:
    open_chapter(reader, "#step-jacobian")
    expect(reader.locator("[data-toc] [aria-current]")).to_contain_text("4.")
    open_chapter(reader, forget=False)
    offer = reader.get_by_role("link", name="Go on where you were: the derivation, step 4")
    expect(offer).to_be_visible()
    offer.click()
    expect(step(reader, "jacobian")).to_be_in_viewport()
    expect(offer).to_have_count(0)
    reader.goto("/")
    start = reader.locator("[data-resume]")
    expect(start).to_have_attribute("href", f"{CHAPTER_PATH}#step-jacobian")
    expect(reader.locator("[data-resume-note]")).to_contain_text("the derivation, step 4")


def test_on_this_page_follows_the_reader(reader: Page) -> None:
    open_chapter(reader, "#part-code")
    current = reader.locator("[data-toc] [aria-current]")
    expect(current).to_have_attribute("href", "#part-code")
    before = reader.locator("[data-toc] li").first.bounding_box()
    reader.goto(f"{CHAPTER_PATH}#formula-rmsnorm")
    expect(current).to_have_attribute("href", "#formula-rmsnorm")
    expect(reader.locator("[data-toc] a[href='#step-result']")).to_be_visible()
    after = reader.locator("[data-toc] li").first.bounding_box()
    assert before is not None
    assert after is not None
    assert before["height"] == after["height"], "a mark must not move the list"


def test_only_formulas_that_scroll_are_stops_of_the_tab_key(reader: Page) -> None:
    stops = """() => [...document.querySelectorAll('.math-display')]
      .filter((box) => box.offsetParent && (box.tabIndex === 0) !== (box.scrollWidth > box.clientWidth + 1))
      .length"""  # noqa: E501  JavaScript
    count = "() => document.querySelectorAll('.math-display[tabindex=\"0\"]').length"
    open_chapter(reader)
    reader.locator("[data-steps-all]").click()
    try:
        scroll_until(reader, stops)
        wide = reader.evaluate(count)
        reader.set_viewport_size({"width": 360, "height": 700})
        scroll_until(reader, stops)
        assert reader.evaluate(count) > wide
        assert reader.evaluate("document.documentElement.scrollWidth <= innerWidth")
    finally:
        reader.set_viewport_size({"width": 1440, "height": 900})


def scroll_until(page: Page, count: str) -> None:
    """Read the page through until `count` says 0, as long as the browser may take for anything."""
    until = monotonic() + EXPECT_MS / 1000
    page.evaluate(SCROLL_THROUGH)
    while left := page.evaluate(count):
        assert monotonic() < until, left
        page.evaluate(SCROLL_THROUGH)


# --- copying ------------------------------------------------
def test_every_formula_and_heading_is_in_the_tree_that_is_read_out(
    chromium: Browser, platform_instance: Instance
) -> None:
    """In a browser that serves a screen reader, what is not laid out yet is in the tree as well."""
    browser = chromium.browser_type.launch(
        executable_path=CHROMIUM, args=[*CHROMIUM_ARGUMENTS, "--force-renderer-accessibility"]
    )
    try:
        page = browser.new_page(base_url=platform_instance.base_url)
        page.add_init_script("globalThis.requestIdleCallback = () => 0")
        page.goto(CHAPTER_PATH)
        session = page.context.new_cdp_session(page)
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        roles = Counter(node["role"]["value"] for node in nodes if not node["ignored"])
        seen = "[...document.querySelectorAll(%r)].filter(e => e.checkVisibility()).length"
        assert roles["MathMLMath"] >= page.evaluate(seen % ".katex .katex-html") > 100
        assert roles["heading"] == page.evaluate(seen % "h1, h2, h3, h4")
        assert page.evaluate(NOT_LAID_OUT) > 3
    finally:
        browser.close()


def test_formulas_listings_and_places_can_be_copied(reader: Page) -> None:
    open_chapter(reader)
    formula = next(entry for entry in chapter()["formulas"] if entry["key"] == "rmsnorm")
    box = reader.locator("#formula-rmsnorm")
    box.get_by_role("button", name="Copy as LaTeX").click()
    expect_clipboard(reader, formula["tex"].strip())
    box.get_by_role("button", name="Copy as NumPy").click()
    expect_clipboard(reader, formula["numpy"].strip())
    anchor = box.locator(".anchor").first
    expect(anchor).to_have_css("opacity", "0")
    reader.keyboard.press("Shift+Tab")
    anchor.focus()
    expect(anchor).to_have_css("opacity", "1")
    anchor.press("Enter")
    expect(reader).to_have_url(re.compile(f"{CHAPTER_PATH}#formula-rmsnorm$"))
    expect_clipboard(reader, reader.url, "The link is copied.")
    reader.locator("#part-code").get_by_role("button", name="Copy").click()
    # Neither numbers nor the links to steps are in it.
    expect_clipboard(reader, listing())


# --- search ------------------------------------------------
def test_search_opens_by_a_key_and_is_worked_by_keys_alone(reader: Page) -> None:
    open_chapter(reader)
    reader.keyboard.press("/")
    dialog = reader.get_by_role("dialog")
    field = dialog.get_by_role("combobox")
    expect(field).to_be_focused()
    reader.keyboard.type("learned scale")
    # Not what the first letters found.
    expect(dialog.locator("[data-shown-for='learned scale']")).to_be_visible()
    first, second = (dialog.get_by_role("option").nth(place) for place in (0, 1))
    expect(first).to_have_attribute("aria-selected", "true")
    expect(first.locator("mark").first).to_have_text(re.compile("learned|scale", re.IGNORECASE))
    reader.keyboard.press("ArrowDown")
    expect(second).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", second.get_attribute("id") or "?")
    target = second.get_attribute("href") or ""
    reader.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    assert reader.url.endswith(target)
    expect(reader.locator(target[target.index("#") :])).to_be_in_viewport()


def test_search_closes_by_escape_leaves_fields_alone_and_its_key_can_be_turned_off(
    reader: Page,
) -> None:
    open_chapter(reader)
    dialog = reader.get_by_role("dialog")
    number = reader.locator("input[name=value]").first
    number.focus()
    reader.keyboard.press("/")
    expect(number).to_have_value("/")
    expect(dialog).to_have_count(0)
    reader.keyboard.press("Control+k")
    expect(dialog).to_be_visible()
    reader.keyboard.type("nomalization")
    suggestion = dialog.get_by_role("link", name="normalization")
    suggestion.click()
    expect(dialog.get_by_role("option").first).to_be_visible()
    dialog.get_by_role("checkbox").uncheck()
    reader.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    reader.locator("h1").click()
    reader.keyboard.press("/")
    expect(dialog).to_be_hidden()
    reader.get_by_role("link", name="Search").click()
    expect(dialog).to_be_visible()
    reader.keyboard.press("Escape")


# --- the home page ------------------------------------------------
def test_the_home_pages_formula_is_alive(reader: Page) -> None:
    reader.goto("/")
    outputs = reader.locator("[data-try-y]")
    before = outputs.all_text_contents()
    reader.get_by_role("button", name="All × 10").click()
    assert outputs.all_text_contents() == before
    reader.get_by_role("button", name="All + 1").click()
    assert outputs.all_text_contents() != before
    reader.get_by_role("button", name="Back").click()
    reader.get_by_label("x 1").fill("-1")
    expect(outputs.first).to_have_text(f"-{before[0]}")


# --- without script ------------------------------------------------
def test_reading_and_searching_work_without_script(
    chromium: Browser, platform_instance: Instance
) -> None:
    context = chromium.new_context(base_url=platform_instance.base_url, java_script_enabled=False)
    page = context.new_page()
    page.goto(CHAPTER_PATH)
    for key in STEPS:
        expect(step(page, key)).to_be_visible()
    assert page.locator(".js-only:visible").count() == 0
    page.locator("#formula-rmsnorm .formula-text summary").click()
    expect(page.locator("#formula-rmsnorm .spoken")).to_be_visible()
    page.get_by_role("link", name="Search").click()
    page.get_by_role("searchbox").fill(r"\frac{\partial L}{\partial x_i}")
    page.get_by_role("searchbox").press("Enter")
    page.locator(".results a").first.click()
    expect(page).to_have_url(re.compile("#step-result$"))
    page.goto("/")
    expect(page.locator("[data-try-y]").first).to_have_text("0.365")
    context.close()
