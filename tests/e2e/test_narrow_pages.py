"""At 320 px, which is a window of 1280 px at 400 % zoom, nothing of any page is cut off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.budgets import Site, prepared_site
from tests.e2e.content import CHAPTER_PATH, COURSE
from tests.e2e.layout import CUT, SHOW_ALL
from tests.platform.instance import Instance

pytestmark = [pytest.mark.browser, pytest.mark.services]
PATHS = (
    "/",
    f"/courses/{COURSE}/",
    CHAPTER_PATH,
    f"/courses/{COURSE}/softmax-and-cross-entropy/",
    f"/courses/{COURSE}/make-it-fast/",
    f"/run/{COURSE}/deep-neural-representations/math_neural_norm.py",
    "/exercises/rmsnorm/",
    "/exercises/rmsnorm_fused_forward/",
    "{right}",
    "{wrong}",
    "/exercises/rmsnorm/compare?old={old}&new={new}",
    "/submissions/",
    "/dashboard/",
    "/search/?q=rstd",
    "/accounts/profile/",
    "/accounts/email/",
    "/accounts/password/change/",
    "/accounts/delete/",
    "/accounts/logout/",
    "/api/v1/docs/",
    "/nothing/",
)
STRANGERS_PATHS = ("/accounts/login/", "/accounts/signup/", "/accounts/password/reset/")


@pytest.fixture(scope="module")
def site(platform_instance: Instance, chromium: Browser) -> Site:
    return prepared_site(platform_instance.base_url, chromium)


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    context = chromium.new_context(
        base_url=site.base_url,
        storage_state=site.state,
        viewport={"width": 320, "height": 640},
        has_touch=True,
    )
    yield context.new_page()
    context.close()


def cut(page: Page, path: str) -> list[str]:
    response = page.goto(path, wait_until="load")
    assert response is not None
    assert response.status == (404 if path == "/nothing/" else 200), path
    page.evaluate(SHOW_ALL)
    # What the page's scripts tell of boxes is told in the frame after.
    page.wait_for_timeout(300)
    found: list[str] = page.evaluate(CUT)
    return found


def test_nothing_is_cut_at_320_pixels(page: Page, site: Site) -> None:
    old, new = (path.strip("/").split("/")[-1] for path in (site.right, site.wrong))
    paths = [path.format(right=site.right, wrong=site.wrong, old=old, new=new) for path in PATHS]
    found = {path: cut(page, path) for path in paths}
    page.context.clear_cookies()
    found |= {path: cut(page, path) for path in STRANGERS_PATHS}
    assert {path: faults for path, faults in found.items() if faults} == {}
