"""The reference pages say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.messages.protocol import Outcome

PROJECT = Path(__file__).resolve().parent.parent.parent
REFERENCE = PROJECT / "docs" / "reference"
SETTING = re.compile(r"[\"'](LEARNML_[A-Z_]*[A-Z]|REDIS_URL|DATABASE_URL)[\"']")
# Prefixes of names that the supervisor keeps from the workers, not names.
PREFIXES = {
    "LEARNML_SECRET",
    "LEARNML_DEMO",
    "LEARNML_EMAIL",
    "LEARNML_ALLOWED",
    "LEARNML_TRUSTED",
    "LEARNML_STATIC",
    "LEARNML_FORMER",
    "LEARNML_SCRIPT",
    # The macros that kernels see on a processor.
    *("LEARNML_CPU", "LEARNML_ENTRIES", "LEARNML_VARIABLES", "LEARNML_PACKED"),
}


def settings_in_the_code() -> set[str]:
    found: set[str] = set()
    for package in ("learnml", "gpu_worker", "grader", "courses"):
        for path in (PROJECT / package).rglob("*.py"):
            if "tests" not in path.parts:
                found |= set(SETTING.findall(path.read_text(encoding="utf-8")))
    return found - PREFIXES


def test_every_setting_is_documented_and_no_other() -> None:
    page = (REFERENCE / "settings.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(LEARNML_[A-Z_]+|REDIS_URL|DATABASE_URL)`", page))
    compose = (PROJECT / "docker-compose.yml").read_text(encoding="utf-8")
    script = (PROJECT / "run").read_text(encoding="utf-8")
    elsewhere = set(re.findall(r"LEARNML_[A-Z_]*[A-Z]", compose + script))
    assert settings_in_the_code() <= documented
    assert documented <= settings_in_the_code() | elsewhere


def test_every_outcome_is_documented() -> None:
    page = (REFERENCE / "outcomes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (yes|no) \|$", page, flags=re.MULTILINE)
    assert rows == [(o.value, "yes" if o.counts_as_attempt else "no") for o in Outcome]


@pytest.mark.parametrize("page", sorted((PROJECT / "docs").rglob("*.md")), ids=lambda p: p.stem)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_readmes_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (PROJECT / "README.md").read_text("utf-8")):
        if "://" not in target:
            assert (PROJECT / target).exists(), target


def test_weights_of_every_exercise_add_up_to_one() -> None:
    for slug in slugs():
        assert sum(group.weight for group in get(slug).groups) == pytest.approx(1.0)
