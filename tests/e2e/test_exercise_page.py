"""The exercise's page in a browser: type, keep a draft, run, submit, compare."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from conftest import lay_out_at_once
from tests.e2e.content import CHAPTER_PATH, EPS_INSIDE_THE_ROOT, EPS_OUTSIDE_THE_ROOT
from tests.e2e.editor import editor, rich_editor
from tests.platform.instance import DEMO_PASSWORD, Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
PATH = "/exercises/rmsnorm/"
SITE_SCRIPT = Path(__file__).parents[2] / "static/js/site.js"
RUN = re.compile("^Run the . public cases$")
# A second on an idle machine; this one runs other tests too.


@pytest.fixture(scope="module")
def context(chromium: Browser, platform_instance: Instance) -> Iterator[BrowserContext]:
    """A browser in which a learner has signed in; it notes what its pages complain of."""
    context = chromium.new_context(base_url=platform_instance.base_url)
    lay_out_at_once(context)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill("author")
    page.locator("input[name=password]").fill(DEMO_PASSWORD)
    page.locator("main button[type=submit]").click()
    expect(page.get_by_role("button", name=re.compile("Sign out"))).to_be_visible()
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page of the learner's, that must have nothing to complain of."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    page.close()
    # The browser itself reports a conflict between tabs and a connection that a test cut.
    expected = (
        "409 (Conflict)",
        "net::ERR_FAILED",
        *(f"status of {n}" for n in (403, 413, 429, 502)),
    )
    assert [text for text in complaints if not any(known in text for known in expected)] == []


def saved(page: Page) -> None:
    expect(page.locator("[data-draft-state]")).to_contain_text("Saved to your account")


def result(page: Page) -> None:
    expect(page.locator("[data-run-result]")).to_have_attribute("data-final", "true")


def test_the_editor_comes_when_near_holds_the_forms_text_and_is_left_by_escape_and_tab(
    page: Page,
) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto(PATH)
    field = page.locator("#source")
    assert page.locator(".cm-editor").count() == 0
    starter = field.input_value()
    rich_editor(page).click()
    assert field.input_value() == starter
    assert field.is_hidden()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("class A:\ndef f(self):\nreturn (1")
    # Lines follow each other's indentation, brackets are closed.
    assert field.input_value() == "class A:\n    def f(self):\n        return (1)"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=RUN)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".cm-content")).to_be_focused()
    help_id = page.locator(".cm-content").get_attribute("aria-describedby")
    expect(page.locator(f"#{help_id}")).to_contain_text("press Escape, then Tab")


def test_a_run_is_quick_counts_nowhere_and_marks_the_failing_line(page: Page) -> None:
    page.goto(PATH)
    rich_editor(page)
    editor(page).fill(EPS_OUTSIDE_THE_ROOT)
    page.get_by_role("button", name=RUN).click()
    result(page)
    run = page.locator("[data-run-result]")
    expect(run).to_contain_text("of 4 public cases passed")
    expect(run).to_contain_text("y is outside the tolerance.")
    expect(page).to_have_url(re.compile(f"{re.escape(PATH)}$"))

    editor(page).fill("import numpy as np\n\n\nboom()\n")
    page.locator(".cm-content").press("ControlOrMeta+Enter")
    expect(page.locator("[data-run-result][data-line='4']")).to_be_visible()
    expect(page.locator(".cm-errorLine")).to_have_text("boom()")
    page.locator("[data-go-to-line]").click()
    expect(page.locator(".cm-content")).to_be_focused()
    # Editing elsewhere moves the mark along, a new run takes it away.
    page.keyboard.press("ControlOrMeta+Home")
    page.keyboard.type("# more\n")
    expect(page.locator(".cm-errorLine")).to_have_text("boom()")
    editor(page).fill(EPS_INSIDE_THE_ROOT)
    page.get_by_role("button", name=RUN).click()
    expect(page.locator("[data-run-result]")).to_contain_text("4 of 4 public cases passed")
    assert page.locator(".cm-errorLine").count() == 0
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []


def test_a_draft_is_kept_and_two_tabs_never_lose_a_text(
    page: Page, context: BrowserContext
) -> None:
    page.goto(PATH)
    rich_editor(page)
    editor(page).fill("# from tab one\n")
    saved(page)
    second = context.new_page()
    second.goto(PATH)
    rich_editor(second)
    assert second.locator("#source").input_value() == "# from tab one\n"
    editor(second).fill("# from tab two\n")
    saved(second)

    editor(page).fill("# tab one again\n")
    notice = page.locator("[data-draft-notice]")
    expect(notice).to_contain_text("In another tab")
    assert page.locator("#source").input_value() == "# tab one again\n"
    notice.get_by_role("button", name="Show that text").click()
    assert page.locator("#source").input_value() == "# from tab two\n"
    page.keyboard.press("ControlOrMeta+z")
    assert page.locator("#source").input_value() == "# tab one again\n"
    saved(page)

    editor(second).fill("# tab two again\n")
    notice = second.locator("[data-draft-notice]")
    notice.get_by_role("button", name="Keep what is in the editor").click()
    saved(second)
    second.reload()
    assert second.locator("#source").input_value() == "# tab two again\n"
    second.get_by_role("link", name="show that one").click()
    assert second.locator("#source").input_value() == "# tab one again\n"
    second.close()


def test_without_a_connection_the_browser_keeps_the_text(
    page: Page, context: BrowserContext
) -> None:
    page.goto(PATH)
    rich_editor(page)
    page.route("**/draft", lambda route: route.abort())
    editor(page).fill("# typed offline\n")
    expect(page.locator("[data-draft-state]")).to_contain_text("No connection")
    page.unroute("**/draft")
    again = context.new_page()
    again.goto(PATH)
    rich_editor(again)
    notice = again.locator("[data-draft-notice]")
    expect(notice).to_contain_text("your account does not have")
    notice.get_by_role("button", name="Show that text").click()
    saved(again)
    again.close()
    # This tab tries again by itself, and finds its text there.
    expect(page.locator("[data-draft-state]")).to_contain_text("Saved")


def offered(page: Page, text: str) -> None:
    """Open the exercise anew: the text is offered, and taken."""
    page.goto(PATH)
    rich_editor(page)
    notice = page.locator("[data-draft-notice]")
    expect(notice).to_contain_text("your account does not have")
    notice.get_by_role("button", name="Show that text").click()
    assert page.locator("#source").input_value() == text


ANSWERS: dict[str, dict[str, Any]] = {
    "forbidden": {"status": 403, "content_type": "text/html", "body": "<h1>Forbidden</h1>"},
    "too large": {"status": 413, "content_type": "text/html", "body": "<h1>Too large</h1>"},
    "too many": {"status": 429, "content_type": "text/html", "body": "<h1>Slow down</h1>"},
    "in trouble": {"status": 502, "content_type": "text/html", "body": "<h1>Bad gateway</h1>"},
    "a page in between": {"status": 200, "content_type": "text/html", "body": "<h1>Wi-Fi</h1>"},
    "not the site's": {"status": 200, "content_type": "application/json", "body": "{}"},
    "no answer": {},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_whatever_stores_nothing_leaves_the_text_to_be_offered_again(
    page: Page, context: BrowserContext, name: str
) -> None:
    answer = ANSWERS[name]
    text = f"# precious: {name}\n"

    def reply(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
        elif answer:
            route.fulfill(**answer)
        else:
            route.abort()

    page.goto(PATH)
    rich_editor(page)
    page.route("**/exercises/rmsnorm/**", reply)
    editor(page).fill(text)
    state = page.locator("[data-draft-state]")
    expect(state).to_contain_text("This browser keeps the text.")
    expect(state).not_to_contain_text("Saved")
    page.get_by_role("button", name=RUN).click()
    expect(page.locator("[data-run-panel]")).to_contain_text("This browser keeps the text.")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("[data-submit-state]")).to_contain_text("This browser keeps the text.")
    expect(page).to_have_url(re.compile(f"{re.escape(PATH)}$"))
    again = context.new_page()
    offered(again, text)
    saved(again)
    again.close()


def test_a_session_that_ended_costs_no_text(
    chromium: Browser, context: BrowserContext, platform_instance: Instance
) -> None:
    own = chromium.new_context(
        base_url=platform_instance.base_url, storage_state=context.storage_state()
    )
    page = own.new_page()
    page.goto(PATH)
    rich_editor(page)
    own.clear_cookies()
    editor(page).fill("# typed after the session ended\n")
    expect(page.locator("[data-draft-state]")).to_contain_text("You are signed out")
    # Refused, the page tries once more to save: that is over before somebody signs in.
    with page.expect_response(lambda response: response.url.endswith("/draft")):
        page.get_by_role("button", name="Submit", exact=True).click()
    # The page stays as it is, text and all.
    with own.expect_page() as opened:
        page.locator("[data-submit-state]").get_by_role("link", name="Sign in").click()
    assert page.locator("#source").input_value() == "# typed after the session ended\n"
    page = opened.value
    page.locator("input[name=login]").fill("author")
    page.locator("input[name=password]").fill(DEMO_PASSWORD)
    page.locator("main button[type=submit]").click()
    expect(page).to_have_url(re.compile(re.escape(PATH)))
    notice = page.locator("[data-draft-notice]")
    expect(notice).to_contain_text("your account does not have")
    # Typing before deciding writes over neither text.
    rich_editor(page)
    editor(page).fill("# typed before deciding\n")
    page.goto(PATH)
    texts = []
    for _ in range(2):
        expect(notice).to_be_visible()
        notice.get_by_role("button", name="Show that text").click()
        texts.append(page.locator("#source").input_value())
    assert texts == ["# typed before deciding\n", "# typed after the session ended\n"]
    expect(notice).to_be_hidden()
    saved(page)
    page.goto(PATH)
    rich_editor(page)
    expect(notice).to_be_hidden()
    own.close()


def test_a_browser_that_keeps_nothing_promises_nothing(page: Page) -> None:
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('no room'); };")
    page.goto(PATH)
    rich_editor(page)
    page.route("**/exercises/rmsnorm/**", lambda route: route.abort())
    editor(page).fill("# only here\n")
    for place in ("[data-draft-state]", "[data-submit-state]"):
        expect(page.locator(place)).to_contain_text("copy the text before you leave")
        page.get_by_role("button", name="Submit", exact=True).click()
    page.unroute("**/exercises/rmsnorm/**")
    saved(page)


def test_what_was_pasted_is_repaired_by_one_press_and_what_is_hidden_shows(page: Page) -> None:
    page.goto(PATH)
    rich_editor(page)
    field = page.locator("#source")
    editor(page).fill(">>> x = 1\n>>> y = 2\n")
    offer = page.locator("[data-repair]")
    expect(offer).to_contain_text("the prompts are removed")
    offer.get_by_role("button", name="Repair it").click()
    expect(offer).to_be_hidden()
    assert field.input_value() == "x = 1\ny = 2\n"
    page.keyboard.press("ControlOrMeta+z")
    assert field.input_value() == ">>> x = 1\n>>> y = 2\n"

    editor(page).fill("class RMSNormScratch:\n\u00a0   pass  # \u202e\n")
    marks = page.locator(".cm-content .hidden-character")
    expect(marks).to_have_count(2)
    assert [mark.get_attribute("data-code") for mark in marks.all()] == ["U+00A0", "U+202E"]
    page.get_by_role("button", name=RUN).click()
    result(page)
    run = page.locator("[data-run-result]")
    expect(run).to_contain_text("no-break space (U+00A0) in line 2, column 1")
    expect(run).to_contain_text("right-to-left override (U+202E)")
    run.get_by_role("button", name="Repair it in the editor").click()
    assert field.input_value() == "class RMSNormScratch:\n    pass  # \u202e\n"


def test_a_visitors_text_comes_back(chromium: Browser, platform_instance: Instance) -> None:
    context = chromium.new_context(base_url=platform_instance.base_url)
    page = context.new_page()
    page.goto(PATH)
    rich_editor(page)
    starter = page.locator("#source").input_value()
    editor(page).fill("# a visitor's\n")
    expect(page.locator("[data-draft-state]")).to_contain_text("Kept in this browser")
    page.goto(f"{PATH}?track=cupy")
    assert page.locator("#source").input_value() != "# a visitor's\n"
    page.goto(PATH)
    rich_editor(page)
    assert page.locator("#source").input_value() == "# a visitor's\n"
    expect(editor(page)).to_contain_text("# a visitor's")
    expect(page.locator("[data-draft-notice]")).to_be_hidden()
    page.get_by_role("button", name="Start again from the starter code").click()
    assert page.locator("#source").input_value() == starter
    context.close()


def test_submitting_shows_the_verdict_and_two_submissions_compare(page: Page) -> None:
    for source in (EPS_OUTSIDE_THE_ROOT, EPS_INSIDE_THE_ROOT):
        page.goto(PATH)
        rich_editor(page)
        editor(page).fill(source)
        page.get_by_role("button", name="Submit", exact=True).click()
        page.wait_for_url(re.compile("/submissions/"))
        expect(page.locator("#verdict[data-final=true]")).to_be_visible()
    expect(page.locator("#verdict-title")).to_have_text("Accepted")
    expect(page.get_by_role("img", name=re.compile("Share of a plain copy"))).to_be_visible()

    page.goto(PATH)
    assert page.locator("#source").input_value() == EPS_INSIDE_THE_ROOT
    page.get_by_role("button", name="Compare the two that are marked").click()
    diff = page.locator(".diff")
    expect(diff.get_by_role("heading")).to_be_focused()
    expect(diff.locator(".is-gone")).to_have_count(1)
    expect(diff.locator(".is-new .text")).to_contain_text("eps")


def test_the_script_for_home_runs_on_the_downloaded_text(page: Page, tmp_path: Path) -> None:
    page.goto(PATH)
    rich_editor(page)
    editor(page).fill(EPS_OUTSIDE_THE_ROOT)
    files = []
    for press in (
        lambda: page.get_by_role("link", name="Download check_rmsnorm.py").click(),
        lambda: page.get_by_role("button", name="Download this text").click(),
    ):
        with page.expect_download() as download:
            press()
        files.append(tmp_path / download.value.suggested_filename)
        download.value.save_as(files[-1])
    done = subprocess.run(
        [sys.executable, "-I", *map(str, files)], capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 1
    assert "1 of 4 public cases passed" in done.stdout
    # The form is as it was: it can still be submitted.
    expect(page.get_by_role("button", name="Submit", exact=True)).not_to_have_attribute(
        "aria-disabled", "true"
    )


def test_a_listing_is_edited_and_run_below_it_and_never_by_itself(page: Page) -> None:
    page.goto(CHAPTER_PATH)
    opened: list[str] = []
    page.on("request", lambda request: opened.append(request.method))
    page.get_by_role("link", name="Edit and run").first.click()
    form = page.locator("[data-run-form]")
    field = form.get_by_role("textbox")
    expect(field).to_be_focused()
    assert "POST" not in opened
    form.get_by_role("button", name="Run", exact=True).click()
    result(page)
    printed = page.locator("figure.listing .output samp").first.text_content()
    assert printed
    expect(form.locator("samp").first).to_have_text(printed)
    field.fill("print('<b>mine</b>')\n1 / 0\n")
    field.press("ControlOrMeta+Enter")
    expect(form.locator("[data-line='2']")).to_contain_text("ZeroDivisionError in line 2")
    expect(form.locator("samp").first).to_have_text("<b>mine</b>")
    # No account keeps it: this browser does, until its learner lets it go.
    page.reload()
    page.get_by_role("link", name="Edit and run").first.click()
    notice = form.locator("[data-draft-notice]")
    notice.get_by_role("button", name="Show that text").click()
    assert field.input_value() == "print('<b>mine</b>')\n1 / 0\n"


def test_all_of_it_works_without_script(
    chromium: Browser, context: BrowserContext, platform_instance: Instance
) -> None:
    plain = chromium.new_context(
        base_url=platform_instance.base_url,
        java_script_enabled=False,
        storage_state=context.storage_state(),
    )
    page = plain.new_page()
    page.goto(PATH)
    editor(page).fill("# a draft\n")
    page.get_by_role("button", name="Save a draft").click()
    assert editor(page).input_value() == "# a draft\n"
    editor(page).fill(EPS_INSIDE_THE_ROOT)
    page.get_by_role("button", name=RUN).click()
    page.wait_for_url(re.compile("/runs/"))
    expect(page.locator("[data-run-result]")).to_contain_text("4 of 4")
    page.goto(f"{CHAPTER_PATH}#part-code")
    page.get_by_role("link", name="Edit and run").first.click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[data-run-result]")).to_contain_text("Ran to its end")
    plain.close()


@pytest.mark.parametrize(
    ("zone", "language", "minute", "second"),
    [
        ("Asia/Kolkata", "en-US", "1 June 2027, 05:29 GMT+5:30", "31 May 2027, 17:30:07 GMT+5:30"),
        ("America/New_York", "en-US", "31 May 2027, 19:59 EDT", "31 May 2027, 08:00:07 EDT"),
        ("Europe/Berlin", "de-DE", "1 June 2027, 01:59 CEST", "31 May 2027, 14:00:07 CEST"),
        ("UTC", "fa-IR", "31 May 2027, 23:59 UTC", "31 May 2027, 12:00:07 UTC"),
    ],
)
def test_moments_are_shown_in_the_readers_zone_which_is_named(
    chromium: Browser, zone: str, language: str, minute: str, second: str
) -> None:
    context = chromium.new_context(timezone_id=zone, locale=language)
    page = context.new_page()
    page.set_content(
        '<p>Due <time datetime="2027-05-31T23:59:00+00:00" data-to="minute">31 May 2027, 23:59 UTC'
        '</time></p><h3><time datetime="2027-05-31T12:00:07.5+00:00" data-to="second">31 May 2027, '
        "12:00:07 UTC</time></h3><time datetime='2027-05-31'>a day</time><button></button>"
    )
    page.add_script_tag(path=SITE_SCRIPT, type="module")
    expect(page.locator("p time")).to_have_text(minute)
    expect(page.locator("p time")).to_have_attribute("title", "31 May 2027, 23:59 UTC")
    expect(page.locator("h3 time")).to_have_text(second)
    expect(page.locator("body > time")).to_have_text("a day")
    # What a comparison brings into the page is told of by an event.
    page.evaluate("""() => {
        const part = document.createElement("section");
        part.append(document.querySelector("p").cloneNode(true));
        const time = part.querySelector("time");
        [time.textContent, time.title] = ["31 May 2027, 23:59 UTC", ""];
        document.body.append(part);
        part.dispatchEvent(new Event("learnml:added", { bubbles: true }));
    }""")
    expect(page.locator("section time")).to_have_text(minute)
    context.close()
