"""The main job in a browser: read, answer, sign up, submit, see the verdict, see the progress."""

from __future__ import annotations

import re
import uuid
from time import monotonic
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import EXPECT_MS
from courses.quiz.base import token
from tests.e2e.content import (
    CHAPTER_PATH,
    CHAPTER_TITLE,
    EPS_INSIDE_THE_ROOT,
    EPS_OUTSIDE_THE_ROOT,
    chapter,
    listing,
)
from tests.e2e.editor import editor
from tests.platform.instance import Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
PASSWORD = "a-long-enough-pass-phrase-1"


def give_answer(page: Page, question: dict[str, Any], right: bool = True) -> None:
    box = page.locator(f"#question-{question['key']}")
    if question["kind"] == "numeric":
        box.locator("input[name=value]").fill(question["answer"] if right else "12345.6")
    elif question["kind"] == "output":
        box.locator("textarea[name=value]").fill(question["output"])
    elif question["kind"] == "matching":
        for pair in question["pairs"]:
            if pair["left"]:
                left, right_side = (
                    token(question["key"], s, pair["key"]) for s in ("left", "right")
                )
                box.locator(f"select[name=match-{left}]").select_option(right_side)
    elif question["kind"] == "ordering":
        for place, item in enumerate(question["items"]):
            name = f"place-{token(question['key'], 'item', item['key'])}"
            rows = box.locator("[data-order-item]")
            row = box.locator("[data-order-item]").filter(has=page.locator(f"[name={name}]"))
            while not rows.nth(place).locator(f"[name={name}]").count():
                row.get_by_role("button", name="Move up").click()
    else:
        for choice in question["choices"]:
            if choice["correct"] == right:
                box.locator(f"input[name=choice][value='{choice['key']}']").check()
                if question["kind"] == "single":
                    break
    box.get_by_role("button", name="Check answer").click()


def sign_up(page: Page) -> str:
    name = f"ada-{uuid.uuid4().hex[:8]}"
    page.goto("/accounts/signup/")
    page.locator("input[name=username]").fill(name)
    page.locator("input[name=password1]").fill(PASSWORD)
    page.locator("input[name=password2]").fill(PASSWORD)
    page.get_by_role("button", name="Make the account").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return name


def submit(page: Page, source: str, exercise: str = "rmsnorm") -> None:
    page.goto(f"/exercises/{exercise}/")
    editor(page).fill(source)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile(r"/submissions/[a-z0-9_-]+/"))


def test_a_learner_reads_answers_signs_up_submits_and_sees_verdict_and_progress(page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    questions = chapter()["questions"]
    total = len(questions)

    page.goto("/")
    page.get_by_role("link", name="Start reading").first.click()
    expect(page.get_by_role("heading", level=1, name=CHAPTER_TITLE)).to_be_visible()
    expect(page.locator("#formula-rmsnorm .katex").first).to_be_visible()
    expect(page.locator("#part-quiz")).to_contain_text(
        f"Answer all {total} questions correctly to complete the chapter"
    )
    expect(page.locator("[data-quiz-count]")).to_have_text(f"0 / {total} done")
    expect(page.locator(f"#question-{questions[0]['key']}")).to_contain_text(f"Q1/{total}")

    # A wrong answer teaches and does not count as done.
    give_answer(page, questions[0], right=False)
    first = page.locator(f"#question-{questions[0]['key']}")
    expect(first).to_contain_text("Not yet")
    expect(first.locator(".feedback").first).to_be_visible()
    expect(page.locator("[data-quiz-count]")).to_have_text(f"0 / {total} done")

    # Half of the quiz without an account, the rest after signing up: nothing is lost.
    half = total // 2
    for done, question in enumerate(questions[:half], start=1):
        if question is questions[0]:
            page.goto(CHAPTER_PATH)
        give_answer(page, question)
        expect(page.locator("[data-quiz-count]")).to_have_text(f"{done} / {total} done")
    sign_up(page)
    page.goto(CHAPTER_PATH)
    expect(page.locator("[data-quiz-count]")).to_have_text(f"{half} / {total} done")
    for question in questions[half:]:
        give_answer(page, question)
        expect(page.locator(f"#question-{question['key']}")).to_contain_text("Right")
    expect(page.locator("[data-quiz-count]")).to_have_text(f"{total} / {total} done")

    # A wrong submission is named and pointed to its place in the chapter.
    submit(page, EPS_OUTSIDE_THE_ROOT)
    expect(page.locator("#verdict-title")).to_have_text("Wrong answer")
    expect(page.locator("#verdict .mistake")).to_have_count(1)
    expect(page.locator("#verdict .mistake")).to_contain_text("root")
    link = page.locator("#verdict .mistake a").first
    href = link.get_attribute("href") or ""
    link.click()
    page.wait_for_url(re.compile(re.escape(CHAPTER_PATH)))
    assert page.locator(href[href.index("#") :]).count() == 1

    submit(page, EPS_INSIDE_THE_ROOT)
    expect(page.locator("#verdict-title")).to_have_text("Accepted")
    expect(page.locator(".score")).to_contain_text("100 %")

    page.goto("/dashboard/")
    expect(page.get_by_text("1 / 1").or_(page.get_by_text("Completed")).first).to_be_visible()
    recent = page.locator("#recent-verdicts, .block").filter(has_text="Accepted").last
    expect(recent).to_contain_text("Wrong answer")
    page.goto(CHAPTER_PATH)
    expect(page.locator(".chapter-facts")).to_contain_text("Completed")
    assert complaints == []


def test_the_chapters_own_listing_is_accepted(page: Page) -> None:
    sign_up(page)
    submit(page, listing())
    expect(page.locator("#verdict-title")).to_have_text("Accepted")


def test_everything_works_without_script(chromium: Browser, platform_instance: Instance) -> None:
    context = chromium.new_context(base_url=platform_instance.base_url, java_script_enabled=False)
    page = context.new_page()
    questions = chapter()["questions"]
    page.goto(CHAPTER_PATH)
    for key in ("definition", "result", "dgamma"):
        assert page.locator(f"#step-{key}").is_visible()
    give_answer(page, questions[0])
    answered = f"#question-{questions[0]['key']}"
    expect(page).to_have_url(re.compile(f"{answered}$"))
    # What lies off the window has no inner text until the browser has laid it out: waited for.
    expect(page.locator(answered)).to_contain_text("Right")
    sign_up(page)
    submit(page, EPS_INSIDE_THE_ROOT)
    until = monotonic() + EXPECT_MS / 1000
    while not page.locator("#verdict[data-final=true]").count() and monotonic() < until:
        page.wait_for_timeout(500)
        page.reload()
    expect(page.locator("#verdict-title")).to_have_text("Accepted")
    context.close()


def test_a_double_click_and_a_second_tab_make_no_second_attempt(page: Page) -> None:
    question = chapter()["questions"][0]
    wrong = next(c for c in question["choices"] if not c["correct"])["key"]
    page.goto(CHAPTER_PATH)
    second = page.context.new_page()
    box = f"#question-{question['key']}"
    page.locator(f"{box} input[value='{wrong}']").check()
    page.locator(f"{box} button[type=submit]").dblclick()
    expect(page.locator(box)).to_contain_text("Not yet")
    second.goto(CHAPTER_PATH)
    second.locator(f"{box} input[value='{wrong}']").check()
    second.locator(f"{box} button[type=submit]").click()
    expect(second.locator(box)).to_contain_text("Not yet")
    page.reload()
    expect(page.locator(box)).to_contain_text("Not yet")
    expect(page.locator(f"{box} .question-head")).not_to_contain_text("attempts")


def test_a_typed_answer_that_was_not_stored_comes_back(page: Page) -> None:
    question = next(one for one in chapter()["questions"] if one["kind"] == "numeric")
    box = page.locator(f"#question-{question['key']}")
    field, check = box.locator("input[name=value]"), box.locator("button[type=submit]")
    page.goto(CHAPTER_PATH)
    page.route("**/questions/**", lambda route: route.fulfill(status=502, body="bad gateway"))
    field.fill("12345")
    check.click()
    expect(box.locator("[role=status]")).to_contain_text("error 502")
    page.unroute_all()
    page.reload()
    expect(field).to_have_value("12345")
    expect(box).to_contain_text("was not stored")
    check.click()
    expect(box).to_contain_text("Not yet")
    field.fill("not yet sent")
    page.reload()
    # What the site stored is what it shows; the copy is gone.
    expect(field).to_have_value("12345")
    expect(box).not_to_contain_text("was not stored")


@pytest.mark.parametrize(
    "path", ["/", CHAPTER_PATH, "/exercises/rmsnorm/", "/dashboard/", "/api/v1/docs/"]
)
def test_a_page_asks_nobody_else_and_breaks_no_policy(
    page: Page, platform_instance: Instance, path: str
) -> None:
    foreign: list[str] = []
    complaints: list[str] = []
    page.on(
        "request",
        lambda r: (
            foreign.append(r.url)
            if not r.url.startswith((platform_instance.base_url, "data:"))
            else None
        ),
    )
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.goto(path, wait_until="networkidle")
    assert foreign == []
    assert complaints == []
