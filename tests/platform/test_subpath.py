"""The site below a path of its host: pages, files, scripts, cookies, forms, mails and the API."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.test import Client
from django.urls import URLResolver, clear_script_prefix, get_resolver, set_script_prefix
from playwright.sync_api import Browser, Page, expect
from pytest_django.fixtures import Settings

from conftest import InstanceFactory
from courses.subpath import all_below_site, below_site
from learnml.environment import OWN_PATHS, BadSetting, check_all, script_name
from learnml.health import HealthMiddleware
from tests.e2e.client import Client as RestClient
from tests.e2e.client import wait_until_finished
from tests.e2e.content import CHAPTER_PATH, EPS_INSIDE_THE_ROOT, chapter
from tests.e2e.editor import rich_editor
from tests.platform.instance import DEMO_PASSWORD, Instance

NAME = "/learn"
QUESTION = next(entry for entry in chapter()["questions"] if entry["kind"] == "single")


# --- the setting ----------------------------------------------------------------------------------
def test_it_is_read_under_both_names_and_without_its_last_slash() -> None:
    assert script_name({}) == ""
    assert script_name({"SCRIPT_NAME": "/learn/"}) == "/learn"
    assert script_name({"LEARNML_SCRIPT_NAME": "/a/b", "SCRIPT_NAME": "/learn"}) == "/a/b"


@pytest.mark.parametrize("text", ["learn", "/le arn", "//learn", "/learn?x", "/api", "/static/x"])
def test_what_is_no_path_or_one_of_the_sites_own_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="SCRIPT_NAME"):
        check_all({"SCRIPT_NAME": text})


def test_all_of_the_sites_own_paths_are_known() -> None:
    firsts = {str(pattern.pattern).split("/")[0] for pattern in get_resolver().url_patterns}
    for resolver in get_resolver().url_patterns:
        if isinstance(resolver, URLResolver) and not str(resolver.pattern):
            firsts |= {str(one.pattern).split("/")[0] for one in resolver.url_patterns}
    assert firsts - {""} <= OWN_PATHS
    assert HealthMiddleware.__module__ == "learnml.health"
    assert {"healthz", "readyz", "static"} <= OWN_PATHS


# --- what is made without a server ----------------------------------------------------------------
@pytest.fixture
def below(settings: Settings) -> Iterator[None]:
    settings.FORCE_SCRIPT_NAME = NAME
    settings.STATIC_URL = f"{NAME}/static/"
    # Makes the storage anew.
    settings.STATIC_ROOT = settings.STATIC_ROOT
    # As a server does with each request.
    set_script_prefix(f"{NAME}/")
    yield
    clear_script_prefix()


def test_texts_lead_from_the_sites_root(below: None, settings: Settings) -> None:
    html = (
        '<a title="x" href="/exercises/rmsnorm/">a</a> <img src="/static/img/a.png" alt="">'
        '<a href="#step">b</a> <a href="https://example.org/">c</a> <a href="//example.org/">d</a>'
        ' <code>href="/x"</code>'
    )
    led = html.replace('href="/ex', 'href="/learn/ex').replace('src="/st', 'src="/learn/st')
    assert below_site(html) == led
    assert all_below_site({"a": [{"b": html, "n": 3}]}) == {"a": [{"b": led, "n": 3}]}
    settings.FORCE_SCRIPT_NAME = None
    assert below_site(html) == html


@pytest.mark.django_db
def test_letters_lead_there(below: None, client: Client, mailoutbox: list[EmailMessage]) -> None:
    User.objects.create_user("ada", "ada@example.org", "a long enough phrase")
    answer = client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    assert answer["Location"] == "/learn/accounts/password/reset/done/"
    (letter,) = mailoutbox
    assert "http://testserver/learn/accounts/password/reset/key/" in letter.body


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/nothing/", "/api/v1/nothing/", "/api/v1/exercises/"])
def test_errors_lead_there_in_the_form_that_was_asked_for(
    below: None, client: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path.endswith("exercises/"):
        monkeypatch.setattr("grader.queries.published_exercises", None)
        client.raise_request_exception = False
    response = client.get(path, headers={"Authorization": "Token x"} if "exerc" in path else {})
    is_api = path.startswith("/api/")
    assert ("problem+json" in response["Content-Type"]) is is_api
    text = response.content.decode()
    leading = re.findall(r'(?:href|src|action)="(/[^"]*)"', text)
    assert is_api or leading
    assert [one for one in leading if not one.startswith("/learn/")] == []
    assert not re.search(r"(?<!/learn)/api/v1/", text)


# --- the real thing -------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def instance(make_module_instance: InstanceFactory) -> Instance:
    instance = make_module_instance(SCRIPT_NAME=NAME)
    instance.wait_until_graders_work()
    return instance


@pytest.fixture
def page(chromium: Browser, instance: Instance) -> Iterator[Page]:
    context = chromium.new_context(base_url=instance.base_url)
    yield context.new_page()
    context.close()


def get(url: str) -> tuple[int, Any, str]:
    with urllib.request.urlopen(url) as answer:  # noqa: S310  the instance under test
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")


@pytest.mark.browser
@pytest.mark.services
def test_a_learner_reads_answers_searches_and_submits_below_the_path(
    page: Page, instance: Instance
) -> None:
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    page.goto(f"{NAME}/")
    page.get_by_role("link", name=re.compile("Start reading")).click()
    assert urlsplit(page.url).path == f"{NAME}{CHAPTER_PATH}"
    page.wait_for_load_state()
    # Fonts of formulas come by addresses in a style sheet.
    assert page.evaluate("document.fonts.load('1em KaTeX_Main').then((faces) => faces.length)")
    form = page.locator(f"#question-{QUESTION['key']} form")
    form.locator("input[type=radio]").first.check()
    form.get_by_role("button", name="Check answer").click()
    expect(page.locator(f"#question-{QUESTION['key']} [role=status]")).not_to_be_empty()
    # A text's own link, from the site's root.
    linked = page.locator(f"main a[href^='{NAME}/courses/']").all()
    assert len(linked) > 2
    assert page.locator("a[href^='/courses/'], a[href^='/exercises/'], img[src^='/s']").count() == 0
    page.get_by_role("link", name="Search").click()
    page.locator(".search-dialog input[name=q]").fill("rstd")
    expect(page.locator(".search-dialog .results a").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Dark theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    page.goto(f"{NAME}/exercises/rmsnorm/")
    page.get_by_role("link", name="Sign in", exact=True).first.click()
    page.locator("input[name=login]").fill("learner")
    page.locator("input[name=password]").fill(DEMO_PASSWORD)
    page.locator("main button[type=submit]").click()
    expect(page.get_by_role("button", name=re.compile("Sign out"))).to_be_visible()
    cookies = {one["name"]: one["path"] for one in page.context.cookies()}
    assert {"sessionid", "theme"} <= set(cookies)
    assert set(cookies.values()) == {f"{NAME}/"}
    page.goto(f"{NAME}/exercises/rmsnorm/")
    rich_editor(page).fill(EPS_INSIDE_THE_ROOT)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#verdict[data-final=true]")).to_be_visible()
    assert urlsplit(page.url).path.startswith(f"{NAME}/submissions/")
    page.get_by_role("button", name=re.compile("Sign out")).click()
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    outside = [url for url in asked if not urlsplit(url).path.startswith(f"{NAME}/")]
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []
    assert failed == []


@pytest.mark.services
def test_programs_find_all_below_the_path(instance: Instance) -> None:
    base = instance.base_url
    # Probes ask the server itself; a proxy may take the path off, or leave it.
    assert get(f"{base}/healthz")[0] == get(f"{base}{NAME}/healthz")[0] == 200
    assert 'href="/learn/dashboard/"' in get(f"{base}/")[2]
    with urllib.request.urlopen(f"{base}{NAME}") as answer:  # noqa: S310
        assert answer.url == f"{base}{NAME}/"
    sheet = re.search(
        r'href="(/learn/static/css/site\.[0-9a-f]{12}\.css)"', get(f"{base}{NAME}/")[2]
    )
    assert sheet is not None
    _, _, css = get(urljoin(base, sheet[1]))
    font = re.search(r"url\(([^)]*serif\.[0-9a-f]{12}\.woff2[^)]*)\)", css)
    assert font is not None
    status, headers, _ = get(urljoin(urljoin(base, sheet[1]), font[1].strip("\"'")))
    assert (status, headers["Content-Type"]) == (200, "font/woff2")
    assert "immutable" in headers["Cache-Control"]

    api = RestClient(f"{base}{NAME}")
    _, _, schema = api.call("GET", "/api/v1/schema/", Accept="application/vnd.oai.openapi+json")
    assert schema["servers"] == [{"url": NAME}]
    assert all(path.startswith("/api/v1/") for path in schema["paths"])
    status, _, problem = api.call("GET", "/api/v1/submissions/")
    assert (status, problem["code"]) == (401, "not_authenticated")
    assert f"{NAME}/api/v1/tokens/" in problem["detail"]
    api.log_in("learner", ["submit", "read"])
    status, headers, made = api.call(
        "POST",
        "/api/v1/exercises/rmsnorm/submissions/",
        {"track": "numpy", "source": EPS_INSIDE_THE_ROOT},
    )
    assert status == 202
    links = [headers["Location"], *made["links"].values()]
    assert [one for one in links if one and f"{NAME}/" not in one] == []
    finished = wait_until_finished(api, f"/api/v1/submissions/{made['id']}/")
    assert finished["outcome"] == "accepted"
