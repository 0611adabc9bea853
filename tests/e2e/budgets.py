"""The pages that have a budget, and a site on which all of them can be looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Browser, StorageState, expect

from tests.e2e.client import Client, wait_until_finished
from tests.e2e.content import CHAPTER_PATH, EPS_INSIDE_THE_ROOT, EPS_OUTSIDE_THE_ROOT
from tests.platform.instance import DEMO_PASSWORD


@dataclass(frozen=True, slots=True)
class Budget:
    path: str
    kilobytes: int
    requests: int = 14
    signed_in: bool = False


PAGES = {
    "home": Budget("/", 60),
    "course": Budget("/courses/learn-ml-from-scratch/", 60),
    "chapter": Budget(CHAPTER_PATH, 150),
    "second chapter": Budget("/courses/learn-ml-from-scratch/softmax-and-cross-entropy/", 150),
    "third chapter": Budget("/courses/learn-ml-from-scratch/make-it-fast/", 150),
    "chapter, signed in": Budget(CHAPTER_PATH, 150, signed_in=True),
    # The editor is loaded by scripts that load each other, when it comes near.
    "exercise": Budget("/exercises/rmsnorm/", 300, requests=20, signed_in=True),
    "verdict": Budget("{verdict}", 150, signed_in=True),
    "dashboard": Budget("/dashboard/", 60, signed_in=True),
    "search": Budget("/search/?q=rstd", 60),
    "sign in": Budget("/accounts/login/", 60),
    "sign up": Budget("/accounts/signup/", 60),
    "not found": Budget("/nothing/", 60),
}


@dataclass(slots=True)
class Site:
    """The running platform with a signed-in learner who has two verdicts."""

    base_url: str
    state: StorageState
    right: str
    wrong: str

    def path(self, budget: Budget) -> str:
        return budget.path.format(verdict=self.right)


def prepared_site(base_url: str, chromium: Browser) -> Site:
    """Submit a right and a wrong solution as the demo learner, and sign in."""
    api = Client(base_url)
    api.log_in("learner", ["submit", "read"])
    ids = []
    for source in (EPS_INSIDE_THE_ROOT, EPS_OUTSIDE_THE_ROOT):
        _, _, submission = api.call(
            "POST", "/api/v1/exercises/rmsnorm/submissions/", {"track": "numpy", "source": source}
        )
        ids.append(submission["id"])
    verdicts = [wait_until_finished(api, f"/api/v1/submissions/{one}/") for one in ids]
    assert [verdict["outcome"] for verdict in verdicts] == ["accepted", "wrong_answer"]
    context = chromium.new_context(base_url=base_url)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill("learner")
    page.locator("input[name=password]").fill(DEMO_PASSWORD)
    page.locator("main button[type=submit]").click()
    expect(page.get_by_role("button", name=re.compile("Sign out"))).to_be_visible()
    state = context.storage_state()
    context.close()
    right, wrong = (f"/submissions/{one}/" for one in ids)
    return Site(base_url, state, right, wrong)
