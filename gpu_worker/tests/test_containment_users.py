"""The walls stand for an ordinary user and in a container, not only for root."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_worker.sandbox import isolation
from gpu_worker.tests.containment import runs, setups
from gpu_worker.tests.gpu.stand_in import GRANTED_ON_PURPOSE
from gpu_worker.tests.other_user import USER, OtherUser

ASK = "from gpu_worker.sandbox import isolation; print(isolation.establish().text)"


@pytest.fixture(scope="module")
def other_user() -> Iterator[OtherUser]:
    # Not below pytest's own folder: that one is for its owner alone.
    folder = Path(tempfile.mkdtemp(prefix="learnml-user-"))
    yield OtherUser(folder)
    shutil.rmtree(folder)


def test_no_attack_succeeds_for_an_ordinary_user(other_user: OtherUser) -> None:
    done = other_user.run("-m", "gpu_worker.tests.containment")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["user"] != 0
    tried = {(setup, attack) for setup, attack, _ in found["runs"]}
    assert tried == {
        (name, attack.name) for name, attack in runs() if attack.stopped_at(setups()[name])
    }
    assert [run for run in found["runs"] if run[2]] == []


def test_no_further_attack_succeeds_for_an_ordinary_user_beside_a_device(
    other_user: OtherUser,
) -> None:
    done = other_user.run("-m", "gpu_worker.tests.gpu.stand_in")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["user"] != 0
    assert {name for name, words in report["found"].items() if words} == GRANTED_ON_PURPOSE


def test_an_ordinary_user_has_the_same_level_as_root(other_user: OtherUser) -> None:
    done = other_user.run("-c", ASK)
    assert done.stdout.strip() == isolation.establish().text, done.stderr


def test_a_container_with_the_shipped_profile_and_no_capability_has_level_a(
    other_user: OtherUser,
) -> None:
    before = ("-m", "gpu_worker.tests.container", "shipped")
    done = other_user.run("-c", ASK, before=before)
    assert done.stdout.strip() == isolation.establish().text, done.stderr


def test_a_container_with_the_engines_own_filter_is_refused_or_has_level_b_if_allowed(
    other_user: OtherUser,
) -> None:
    before = ("-m", "gpu_worker.tests.container", "engine")
    refused = other_user.run("-c", ASK, before=before)
    assert refused.returncode != 0
    assert "RefusedError: This worker refuses to start" in refused.stderr
    assert "deploy/seccomp-worker.json" in refused.stderr
    allowed = other_user.run("-c", ASK, before=before, LEARNML_ALLOW_NO_NAMESPACES="1")
    assert allowed.stdout.startswith("B: no namespaces, Landlock ABI"), allowed.stderr
    assert "ISOLATION B" in allowed.stderr


def test_files_in_proc_masked_by_a_container_do_not_lower_the_level(
    other_user: OtherUser,
) -> None:
    # The mask is put on in a namespace of the user's own, so that nobody need be root here.
    asked = f"{ASK}; print(isolation.establish().setup.fresh_proc, os.getuid())"
    inside = f"""
mount -t tmpfs none /proc/irq
exec unshare --user --map-user={USER} --map-group={USER} "$0" -c "import os; {asked}"
"""
    code = f"""
import subprocess, sys
own = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", {inside!r}]
sys.exit(subprocess.run([*own, sys.executable]).returncode)
"""
    done = other_user.run("-c", code)
    level = isolation.establish().text
    assert done.stdout.splitlines() == [level, f"False {USER}"], done.stderr
