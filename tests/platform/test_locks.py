"""The locks in requirements/ against their sources and against each other."""

from __future__ import annotations

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.platform.instance import PROJECT

FOLDER = PROJECT / "requirements"
NAMES = ("site", "worker", "gpu", "test")
# Installed with the virtual environment, not from the lock.
TOOLS_OF_THE_ENVIRONMENT = {"pip", "setuptools"}


def wanted(name: str) -> dict[str, Requirement]:
    """Return what the source asks for, with what it includes by `-r`."""
    found: dict[str, Requirement] = {}
    for line in (FOLDER / f"{name}.in").read_text().splitlines():
        text = line.split("#")[0].strip()
        if text.startswith("-r "):
            found |= wanted(text[3:].removesuffix(".in"))
        elif text:
            requirement = Requirement(text)
            found[canonicalize_name(requirement.name)] = requirement
    return found


def locked(name: str) -> dict[str, set[Version]]:
    """Return the pinned versions; markers may give one package several."""
    pins: dict[str, set[Version]] = {}
    for line in (FOLDER / f"{name}.txt").read_text().splitlines():
        if match := re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?==([^ ;\\]+)", line):
            pins.setdefault(canonicalize_name(match.group(1)), set()).add(Version(match.group(2)))
    return pins


@pytest.mark.parametrize("name", NAMES)
def test_lock_fulfils_its_source(name: str) -> None:
    pins = locked(name)
    for package, requirement in wanted(name).items():
        assert package in pins, f"{package} is in {name}.in and not in {name}.txt: compile it anew"
        for version in pins[package]:
            assert requirement.specifier.contains(version), f"{package} {version}"


@pytest.mark.parametrize("name", NAMES)
def test_every_pin_has_hashes(name: str) -> None:
    text = re.sub(r"\\\n\s*", "", (FOLDER / f"{name}.txt").read_text())
    pins = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert pins
    assert [line for line in pins if "--hash=sha256:" not in line] == []


@pytest.mark.parametrize(
    ("small", "large"), [("worker", "site"), ("worker", "gpu"), ("site", "test")]
)
def test_locks_agree(small: str, large: str) -> None:
    """What is tested is what is installed."""
    other = locked(large)
    for package, versions in locked(small).items():
        assert other.get(package) == versions, package


def test_worker_is_installed_without_the_site() -> None:
    assert not {"django", "psycopg", "gunicorn", "djangorestframework"} & set(locked("worker"))
    assert not [package for package in locked("site") if package.startswith("cupy")]


def test_installed_packages_are_the_locked_ones() -> None:
    pins = locked("test")
    installed = {
        canonicalize_name(d.metadata["Name"]): Version(d.version) for d in metadata.distributions()
    }
    assert {
        package: version
        for package, version in installed.items()
        if package not in TOOLS_OF_THE_ENVIRONMENT and version not in pins.get(package, set())
    } == {}


@pytest.mark.parametrize("name", NAMES)
def test_lock_names_no_server(name: str) -> None:
    assert "://" not in (FOLDER / f"{name}.txt").read_text()
