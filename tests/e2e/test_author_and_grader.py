"""An author edits in the admin; a grader reads over REST: on the real thing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.client import Client, wait_until_finished
from tests.e2e.content import CHAPTER_PATH, CHAPTER_TITLE, EPS_OUTSIDE_THE_ROOT
from tests.platform.instance import DEMO_PASSWORD, Instance

pytestmark = [pytest.mark.services]


def test_a_tool_submits_and_a_grader_reads_the_report_over_rest(
    platform_instance: Instance,
) -> None:
    learner = Client(platform_instance.base_url)
    learner.log_in("learner", ["submit", "read"])
    status, _, submitted = learner.call(
        "POST",
        "/api/v1/exercises/rmsnorm/submissions/",
        {"track": "numpy", "source": EPS_OUTSIDE_THE_ROOT},
    )
    assert status == 202
    assert submitted["state"] == "queued"
    path = f"/api/v1/submissions/{submitted['id']}/"
    detail = wait_until_finished(learner, path)
    assert detail["outcome"] == "wrong_answer"
    assert 0 <= detail["score"] < 1
    assert [m["id"] for m in detail["report"]["mistakes"]] == ["eps-outside-root"]

    grader = Client(platform_instance.base_url)
    grader.log_in("grader", ["read"])
    status, _, listed = grader.call(
        "GET", "/api/v1/submissions/?exercise=rmsnorm&state=finished&page_size=50"
    )
    assert status == 200
    assert submitted["id"] in [row["id"] for row in listed["results"]]
    status, headers, seen = grader.call("GET", path)
    assert status == 200
    assert seen["report"]["worst"]["units"] > seen["report"]["worst"]["limit"]
    assert grader.call("GET", path, **{"If-None-Match": headers["ETag"]})[0] == 304
    status, headers, source = grader.call("GET", f"{path}source")
    assert headers["Content-Type"].startswith("text/plain")
    assert source.decode() == EPS_OUTSIDE_THE_ROOT

    stranger = Client(platform_instance.base_url)
    stranger.log_in("author", ["read"])
    assert stranger.call("GET", path)[0] == 404


def rmsnorm_tex(page: Page) -> Locator:
    """Return the form field of the third formula, RMSNorm, in a part that opens on a click."""
    field = page.locator("textarea[name^='formulas-'][name$='-tex']").nth(2)
    if not field.is_visible():
        page.locator("#formulas-group summary").first.click()
    return field


@pytest.mark.browser
def test_an_authors_tex_mistake_is_refused_with_its_place_and_a_good_edit_shows(page: Page) -> None:
    page.goto("/admin/")
    page.locator("input[name=login]").fill("author")
    page.locator("input[name=password]").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto("/admin/courses/chapter/")
    page.get_by_role("link", name=CHAPTER_TITLE).click()
    tex = rmsnorm_tex(page)
    original = tex.input_value()
    assert "RMSNorm" in original

    tex.fill(original.rstrip("\n") + "\n+ \\frac{1}{")
    page.locator("input[name=_continue]").last.click()
    expect(page.locator(".errorlist").first).to_be_visible()
    complaint = page.locator(".errorlist").all_inner_texts()
    assert any("line" in text.lower() and "column" in text.lower() for text in complaint), complaint
    reader = page.context.browser.new_context(base_url=page.url.split("/admin")[0]).new_page()  # type: ignore[union-attr]
    reader.goto(CHAPTER_PATH)
    assert "MarkerOfTheAuthor" not in reader.content()

    tex = rmsnorm_tex(page)
    tex.fill(original.rstrip("\n") + " \\quad \\text{MarkerOfTheAuthor}\n")
    page.locator("input[name=_continue]").last.click()
    expect(page.locator(".success")).to_be_visible()
    reader.goto(CHAPTER_PATH)
    expect(reader.locator("#formula-rmsnorm")).to_contain_text("MarkerOfTheAuthor")

    rmsnorm_tex(page).fill(original)
    page.locator("input[name=_continue]").last.click()
    expect(page.locator(".success")).to_be_visible()
    reader.goto(CHAPTER_PATH)
    assert "MarkerOfTheAuthor" not in reader.content()
    reader.context.close()
