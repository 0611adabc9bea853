"""What `./run test quick`, `./run test` and `./run test --long` take, and that marks are true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import tiers

SERVICES = {
    *("make_instance", "make_module_instance", "make_session_instance", "platform_instance"),
    *("postgres_server", "redis_server", "platform"),
}


def unmarked(items: list[pytest.Item], fixtures: set[str], *marks: str) -> list[str]:
    """Return the tests that use one of the fixtures and have none of the marks."""
    return [
        item.nodeid
        for item in items
        if fixtures & set(getattr(item, "fixturenames", ()))
        and not any(item.get_closest_marker(mark) for mark in marks)
    ]


@pytest.fixture
def collected(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """All tests of this run."""
    return request.session.items


def test_what_drives_a_browser_is_marked(collected: list[pytest.Item]) -> None:
    assert unmarked(collected, {"chromium"}, "browser") == []


def test_what_starts_services_is_marked(collected: list[pytest.Item]) -> None:
    assert unmarked(collected, SERVICES, "services") == []


def test_what_is_left_to_a_release_says_why(collected: list[pytest.Item]) -> None:
    for item in collected:
        for mark in item.iter_markers("long"):
            assert len(mark.args) == 1, item.nodeid
            assert len(mark.args[0].split()) > 2, item.nodeid


@pytest.mark.django_db(transaction=True)
def test_races_are_repeated_on_postgresql_by_themselves(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("postgres") is not None


# --- order and length -----------------------------------------------------------------------------
def test_the_longest_come_first_and_a_folder_with_one_platform_stays_together() -> None:
    seconds = {"a.py": 3.0, "b.py": 5.0, "tests/e2e/x.py": 1.0, "tests/e2e/y.py": 6.0}
    ordered = tiers.longest_first(
        ["a.py", "tests/e2e/x.py", "b.py", "new.py", "tests/e2e/y.py"], seconds
    )
    assert ordered == ["tests/e2e/x.py", "tests/e2e/y.py", "b.py", "a.py", "new.py"]


def test_the_quick_run_takes_what_is_short_or_new() -> None:
    assert tiers.too_long_for_quick("a.py", {"a.py": 60.0})
    assert not tiers.too_long_for_quick("a.py", {"a.py": 0.1})
    assert not tiers.too_long_for_quick("new.py", {"a.py": 60.0})


def test_durations_are_those_of_test_files() -> None:
    for path, seconds in tiers.recorded().items():
        assert Path(path).name.startswith("test_"), path
        assert seconds >= 0


@pytest.fixture
def profile() -> Iterator[Callable[[str], None]]:
    former = hypothesis.settings.get_current_profile_name()
    yield hypothesis.settings.load_profile
    hypothesis.settings.load_profile(former)


def test_fewer_examples_are_drawn_but_before_a_release(profile: Callable[[str], None]) -> None:
    profile("full")
    assert (tiers.examples(300), tiers.examples(25)) == (300, 25)
    profile("fewer")
    assert (tiers.examples(300), tiers.examples(25), tiers.examples(1)) == (60, 5, 1)
