"""Fixtures that every test may use: real services, the whole platform, a browser."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests import tiers
from tests.formulas import Remembered, rendered_once
from tests.platform.instance import (
    DEMO_PASSWORD,
    OUTSIDE_VARIABLES,
    PATIENCE_SECONDS,
    PROJECT,
    Instance,
    runtime_python,
)
from tests.platform.postgres import postgres_server as run_postgres
from tests.platform.redis_server import redis_server as run_redis
from tests.writes import WriteWatch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page
    from pytest_django import DjangoDbBlocker

CHROMIUM = "/usr/bin/chromium"
# Limits for what never comes, not for how fast a busy machine is.
EXPECT_MS = 1000 * PATIENCE_SECONDS
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# The same examples in every run, and none refused for being slow on a busy machine.
for _name, _examples in (("full", 100), ("fewer", 20)):
    hypothesis.settings.register_profile(
        _name, derandomize=True, database=None, deadline=None, max_examples=_examples
    )
hypothesis.settings.load_profile("full")

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_reset_sequences"}
DIFFERENT_FIXTURES = {
    *("transactional_db", "django_assert_num_queries", "django_assert_max_num_queries"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database-only",
        action="store_true",
        help="only the tests that use the database: what a second database has to repeat",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out the test files that take long",
    )
    parser.addoption(
        "--record-durations",
        action="store_true",
        help="note in tests/durations.json how long each test file took",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--record-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(tiers.Recorder())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave what takes long out of the quick run, before it is even imported."""
    if not config.getoption("--quick") or not collection_path.is_relative_to(PROJECT):
        return None
    path = collection_path.relative_to(PROJECT).as_posix()
    return True if tiers.too_long_for_quick(path, tiers.recorded()) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Hand out tests by files, and by folders where files share a platform."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByPlatform(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return tiers.group(super()._split_scope(nodeid))

    return ByPlatform(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let one process compile the test files, and the others wait for what it has compiled."""
    with Path(__file__).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _may_differ_by_database(item):
            item.add_marker("postgres")
    if config.getoption("--database-only"):
        left_out = [item for item in items if not _uses_database(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _uses_database(item)]
    files = [item.nodeid.partition("::")[0] for item in items]
    order = {path: at for at, path in enumerate(tiers.longest_first(files, tiers.recorded()))}
    items.sort(key=lambda item: order[item.nodeid.partition("::")[0]])


def _uses_database(item: pytest.Item) -> bool:
    fixtures = DATABASE_FIXTURES.intersection(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


def _may_differ_by_database(item: pytest.Item) -> bool:
    """Tell the tests of races, which commit for others to see, and those that count queries."""
    fixtures = set(getattr(item, "fixturenames", ()))
    marker = item.get_closest_marker("django_db")
    return bool(
        fixtures & DIFFERENT_FIXTURES or (marker is not None and marker.kwargs.get("transaction"))
    )


@pytest.fixture(scope="session", autouse=True)
def formulas() -> Iterator[Remembered]:
    """What this process knows of formulas; the tests of rendering do without."""
    with rendered_once() as remembered:
        yield remembered


@pytest.fixture(scope="session")
def write_watch() -> Iterator[WriteWatch]:
    """What became of the transactions of this process."""
    watch = WriteWatch()
    with watch.watching():
        yield watch


@pytest.fixture(autouse=True)
def _no_slow_work_within_a_transaction(
    request: pytest.FixtureRequest, write_watch: WriteWatch
) -> Iterator[None]:
    """Fail a test in which a transaction kept others from writing for long."""
    write_watch.complaints()
    yield
    assert not (found := write_watch.complaints()), "\n".join(found)


@contextlib.contextmanager
def once_for_all(folders: pytest.TempPathFactory, name: str) -> Iterator[tuple[Path, bool]]:
    """Yield a path that all processes of a test run share, and whether it has been made.

    Who is told that it has not makes it within the block; the others wait meanwhile.
    """
    own = folders.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    done = shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield shared / name, done.exists()
        done.touch()


@pytest.fixture(scope="session")
def django_db_keepdb(
    django_db_keepdb: bool,
    django_db_modify_db_settings: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> bool:
    """Whether the database of the tests is there: a file is migrated once for all processes.

    Migrating takes seconds of a core; the others begin with a copy of what the first has made.
    """
    from django.db import connection

    if django_db_keepdb or connection.vendor != "sqlite":
        return django_db_keepdb
    with once_for_all(tmp_path_factory, "migrated.sqlite3") as (migrated, made):
        if made:
            shutil.copy(migrated, connection.settings_dict["TEST"]["NAME"])
        else:
            with django_db_blocker.unblock(), contextlib.closing(sqlite3.connect(migrated)) as copy:
                connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
                connection.connection.backup(copy)
    return True


@pytest.fixture(scope="session")
def prepared_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder as the first start leaves it: copy it, do not start on it.

    One for all processes that run tests side by side; the first that needs it makes it.
    """
    with once_for_all(tmp_path_factory, "prepared") as (folder, made):
        if not made:
            shutil.rmtree(folder, ignore_errors=True)
            _prepare(folder)
    return folder


def _prepare(folder: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in OUTSIDE_VARIABLES}
    subprocess.run(  # noqa: S603
        [str(runtime_python()), "manage.py", "prepare"],
        cwd=PROJECT,
        env={
            **environment,
            "LEARNML_DATA": str(folder),
            "LEARNML_DEMO_PASSWORD": DEMO_PASSWORD,
        },
        check=True,
        capture_output=True,
    )


class InstanceFactory:
    """Makes instances on copies of the prepared data, and ends them.

    `factory(start=False, VARIABLE="value")` gives one that has not been started yet.
    """

    def __init__(self, prepared: Path, make_folder: Callable[[], Path]) -> None:
        self._prepared = prepared
        self._make_folder = make_folder
        self._made: list[Instance] = []

    def __call__(self, start: bool = True, **environment: str) -> Instance:
        folder = self._make_folder() / "data"
        shutil.copytree(self._prepared, folder, ignore=shutil.ignore_patterns("static"))
        static = str(self._prepared / "static")
        instance = Instance(folder, **{"LEARNML_STATIC_ROOT": static, **environment})
        self._made.append(instance)
        if start:
            instance.start().wait_until_ready()
        return instance

    def end_all(self) -> None:
        for instance in self._made:
            instance.ask_to_stop()
        for instance in self._made:
            instance.end()


def _factory(prepared: Path, folders: pytest.TempPathFactory) -> Iterator[InstanceFactory]:
    factory = InstanceFactory(prepared, lambda: folders.mktemp("instance"))
    yield factory
    factory.end_all()


@pytest.fixture(scope="session")
def make_session_instance(
    prepared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstanceFactory]:
    yield from _factory(prepared_data, tmp_path_factory)


@pytest.fixture(scope="module")
def make_module_instance(
    prepared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstanceFactory]:
    yield from _factory(prepared_data, tmp_path_factory)


@pytest.fixture
def make_instance(
    prepared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstanceFactory]:
    """Make instances for one test."""
    yield from _factory(prepared_data, tmp_path_factory)


@pytest.fixture(scope="session")
def platform_instance(make_session_instance: InstanceFactory) -> Instance:
    """The real thing, shared by the tests of a session: `base_url`, `data_dir`, `process`.

    Demo accounts learner, author, grader have the password `DEMO_PASSWORD`.
    """
    instance = make_session_instance(
        # Tests submit faster than learners do.
        LEARNML_SUBMISSIONS_PER_MINUTE="1000",
        LEARNML_MAX_OPEN_SUBMISSIONS="200",
    )
    instance.wait_until_graders_work()
    return instance


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """DATABASE_URL of a real PostgreSQL."""
    with run_postgres() as url:
        yield url


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """REDIS_URL of a real Redis."""
    with run_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's chromium, headless. While it lives, so does its event loop, and Django refuses to
    use a database in a thread that has one: so it ends with its module.
    """
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=EXPECT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS, headless=True
        )
        browser.new_context = patient(browser.new_context)
        browser.new_page = patient(browser.new_page)
        yield browser
        browser.close()


def patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return `make` of a browser, so that what it makes waits longer than Playwright's 30 s."""

    def made(*arguments: Any, **options: Any) -> Any:
        context = make(*arguments, **options)
        context.set_default_timeout(EXPECT_MS)
        return context

    return made


def lay_out_at_once(context: BrowserContext) -> None:
    """Have long pages laid out as they come, so that nothing moves between a scroll and a click.

    For tests of something else: a program clicks within the frame that follows its scroll.
    """
    context.add_init_script("""
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(".part, .formula, .question { content-visibility: visible !important; }");
        document.adoptedStyleSheets = [sheet];
    """)


@pytest.fixture
def page(chromium: Browser, platform_instance: Instance) -> Iterator[Page]:
    """A page in a fresh profile; its addresses are relative to the platform's."""
    context = chromium.new_context(base_url=platform_instance.base_url)
    lay_out_at_once(context)
    yield context.new_page()
    context.close()
