"""What CONTRIBUTING.md names is there."""

from __future__ import annotations

import re

import pytest
from django.core.management import get_commands

from tests.platform.instance import PROJECT

GUIDE = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATH = re.compile(r"[\w.*-]+(/[\w.*-]*)+|[\w-]+\.(md|toml|yml)")


def named_paths() -> list[str]:
    """Return what stands in code quotes and is a path of this repository."""
    quoted = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", GUIDE, flags=re.DOTALL))
    return sorted({text for text in quoted if PATH.fullmatch(text)})


@pytest.mark.parametrize("name", named_paths())
def test_every_path_of_the_guide_exists(name: str) -> None:
    assert any(PROJECT.glob(name.rstrip("/"))), f"CONTRIBUTING.md names {name}: there is none."


def test_the_guides_links_lead_somewhere() -> None:
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", GUIDE) if "://" not in t]
    assert len(targets) > 5
    assert [target for target in targets if not (PROJECT / target).exists()] == []


def test_the_guides_commands_exist() -> None:
    commands = set(re.findall(r"manage\.py (\w+)", GUIDE))
    assert len(commands) > 4
    assert commands <= set(get_commands())
