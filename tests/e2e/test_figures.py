"""A learner moves the first chapter's figures: by pointer, by keyboard, on a phone, on paper."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

from conftest import lay_out_at_once
from tests.e2e.content import CHAPTER_PATH, chapter
from tests.platform.instance import Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
FIGURES = {figure["key"]: figure for figure in chapter()["figures"]}
# The kinds that the design of the first chapter asks for.
KINDS = {"norm-geometry", "scale-law", "residual-stream", "universal-approximation"}
TOUCH_PX = 44


@pytest.fixture(scope="module")
def context(chromium: Browser, platform_instance: Instance) -> Iterator[BrowserContext]:
    context = chromium.new_context(
        base_url=platform_instance.base_url, viewport={"width": 1280, "height": 900}
    )
    lay_out_at_once(context)
    yield context
    context.close()


@pytest.fixture(scope="module")
def moved(context: BrowserContext) -> Page:
    """The chapter's page; each test begins with the figures as they were."""
    page = context.new_page()
    page.goto(CHAPTER_PATH)
    return page


def figure(page: Page, key: str) -> Locator:
    found = page.locator(f"#figure-{key}")
    found.get_by_role("button", name="Start again").click()
    return found


def slider(found: Locator, control: str) -> Locator:
    return found.locator(f"input[data-control={control}]")


def set_slider(found: Locator, control: str, value: float) -> None:
    """Set a slider as a browser does that is asked by a person."""
    slider(found, control).evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
    )


def text_of(found: Locator, key: str) -> Locator:
    return found.locator(f"dd[data-value='{key}']")


def test_the_chapter_has_the_figures_of_its_design(moved: Page) -> None:
    assert {figure["kind"] for figure in FIGURES.values()} == KINDS
    expect(moved.locator("figure[data-figure] svg.picture")).to_have_count(len(FIGURES))


def test_a_point_is_dragged_and_the_numbers_follow(moved: Page) -> None:
    plane = figure(moved, "rmsnorm-plane")
    handle = plane.locator("[data-drag]")
    handle.scroll_into_view_if_needed()
    box = handle.locator("circle").first.bounding_box()
    picture = plane.locator("svg.picture").bounding_box()
    assert box is not None
    assert picture is not None
    moved.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    moved.mouse.down()
    # The middle of the picture is the row of zeros.
    middle = picture["x"] + picture["width"] / 2, picture["y"] + picture["height"] / 2
    moved.mouse.move(middle[0] - 60, middle[1] - 60, steps=4)
    moved.mouse.up()
    expect(text_of(plane, "x")).not_to_have_text("(2.20, 0.60)")
    first, second = (float(slider(plane, name).input_value()) for name in ("x1", "x2"))
    assert first < 0 < second
    assert abs(first + second) < 0.06
    expect(text_of(plane, "rms-y")).to_have_text("(−1.000, 1.000)")
    expect(plane.locator("[data-goal=same]")).to_have_class("is-found")
    expect(plane.locator("[data-status]")).to_contain_text("They add up to zero")


def test_a_point_is_moved_by_arrow_keys_and_says_where_it_is(moved: Page) -> None:
    plane = figure(moved, "rmsnorm-plane")
    handle = plane.get_by_role("slider", name="The row x")
    handle.focus()
    moved.keyboard.press("ArrowLeft")
    expect(text_of(plane, "x")).to_have_text("(2.15, 0.60)")
    moved.keyboard.press("Shift+ArrowDown")
    expect(text_of(plane, "x")).to_have_text("(2.15, 0.10)")
    expect(handle).to_have_attribute("aria-valuetext", "2.15, 0.10")
    expect(handle).to_be_focused()


def test_three_numbers_are_moved_in_the_pictures_plane(moved: Page) -> None:
    space = figure(moved, "rmsnorm-space")
    before = space.locator("g[data-part=x]").get_attribute("transform")
    space.get_by_role("slider", name="The row x").focus()
    moved.keyboard.press("ArrowRight")
    expect(text_of(space, "x")).not_to_have_text("(2.00, 0.40, 1.80)")
    after = space.locator("g[data-part=x]").get_attribute("transform")
    assert before is not None
    assert after is not None
    right = [float(place.removeprefix("translate(").split()[0]) for place in (before, after)]
    assert right[1] > right[0]
    expect(text_of(space, "square")).to_have_text("1.000")


def test_the_law_breaks_where_the_chapter_says(moved: Page) -> None:
    scale = figure(moved, "scale-invariance")
    set_slider(scale, "alpha", -3)
    expect(text_of(scale, "off")).to_have_text("8.80%")
    expect(scale.locator("[data-goal=off]")).to_have_class("is-found")
    set_slider(scale, "alpha", -4)
    expect(text_of(scale, "off")).to_have_text("74.9%")
    expect(scale.locator("[data-goal=moved]")).not_to_have_class("is-found")


def test_the_stream_without_a_norm_passes_ten_thousand_after_fourteen_doublings(
    moved: Page,
) -> None:
    stream = figure(moved, "residual-stream")
    set_slider(stream, "depth", 13)
    expect(text_of(stream, "plain-law")).to_have_text("8192")
    expect(stream.locator("[data-goal=exploded]")).not_to_have_class("is-found")
    set_slider(stream, "depth", 14)
    expect(text_of(stream, "pre-law")).to_have_text("15.00")
    expect(stream.locator("[data-goal=exploded]")).to_have_class("is-found")
    stream.locator("select[data-control=gain]").select_option("0.25")
    set_slider(stream, "depth", 48)
    expect(stream.locator("[data-goal=tamed]")).to_have_class("is-found")


def test_more_hidden_units_come_closer_but_not_with_a_polynomial(moved: Page) -> None:
    fit = figure(moved, "universal-approximation")
    set_slider(fit, "units", 40)
    expect(fit.locator("[data-goal=close]")).to_have_class("is-found")
    fit.locator("select[data-control=function]").select_option("abs")
    fit.locator("select[data-control=activation]").select_option("square")
    expect(text_of(fit, "sup")).to_have_text("0.1884")
    expect(fit.locator("[data-goal=polynomial]")).to_have_class("is-found")


def test_formulas_and_their_figures_light_up_together(moved: Page) -> None:
    key = "scale-invariance"
    moved.locator(f"#formula-{key}").hover(position={"x": 5, "y": 5})
    assert "lit" in (moved.locator(f"#figure-{key}").get_attribute("class") or "")
    moved.mouse.move(0, 0)


def test_axe_finds_nothing_in_figures_that_were_moved(moved: Page) -> None:
    results = Axe().run(moved, context="figure[data-figure]")
    assert results.violations_count == 0, results.generate_report()


def test_nothing_moves_when_the_script_starts(context: BrowserContext) -> None:
    heights = []
    for block in (True, False):
        page = context.new_page()
        if block:
            page.route("**/figures*.js", lambda route: _abort(route))
        page.goto(CHAPTER_PATH)
        if not block:
            expect(page.locator("svg.picture[role=group]")).to_have_count(len(FIGURES))
        heights.append(
            page.locator("figure[data-figure]").evaluate_all(
                "all => all.map(one => one.getBoundingClientRect().height)"
            )
        )
        page.close()
    assert heights[0] == heights[1]
    assert len(heights[0]) == len(FIGURES)


def _abort(route: Route) -> None:
    route.abort()


def test_without_a_script_the_picture_and_its_numbers_are_there(
    chromium: Browser, platform_instance: Instance
) -> None:
    context = chromium.new_context(base_url=platform_instance.base_url, java_script_enabled=False)
    page = context.new_page()
    page.goto(CHAPTER_PATH)
    found = page.locator("#figure-rmsnorm-plane")
    expect(found.locator("svg.picture")).to_be_visible()
    expect(text_of(found, "rms-y")).to_have_text("(1.364, 0.372)")
    expect(found.get_by_role("slider")).to_have_count(0)
    expect(found.locator(".figure-goals")).to_be_hidden()
    context.close()


def test_on_paper_there_is_the_still_and_no_controls(moved: Page) -> None:
    moved.emulate_media(media="print")
    found = moved.locator("#figure-residual-stream")
    expect(found.locator("svg.picture")).to_be_visible()
    expect(found.locator("figcaption")).to_be_visible()
    expect(found.locator(".figure-controls")).to_be_hidden()
    moved.emulate_media(media="screen")


def test_a_phone_has_room_for_a_thumb_and_no_sideways_scroll(
    chromium: Browser, platform_instance: Instance
) -> None:
    context = chromium.new_context(
        base_url=platform_instance.base_url,
        viewport={"width": 360, "height": 740},
        has_touch=True,
        is_mobile=True,
    )
    lay_out_at_once(context)
    page = context.new_page()
    page.goto(CHAPTER_PATH)
    expect(page.locator("svg.picture[role=group]")).to_have_count(len(FIGURES))
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    targets = page.locator("figure[data-figure]").locator(
        "input[type=range]:visible, select, [data-reset], summary, .touch, .is-switch label"
    )
    sizes = targets.evaluate_all(
        "all => all.map(one => [one.outerHTML.slice(0, 60), one.getBoundingClientRect().height])"
    )
    assert len(sizes) > 3 * len(FIGURES)
    assert [size for size in sizes if size[1] < TOUCH_PX] == []
    context.close()
