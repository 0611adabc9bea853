"""The Dockerfile: hashed locks, an ordinary user, workers without the site."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from learnml.supervisor import processes
from tests.platform.instance import PROJECT

TEXT = (PROJECT / "Dockerfile").read_text()


def stages() -> dict[str, list[str]]:
    """Return the instructions of each stage, continuation lines joined."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in re.sub(r"\\\n\s*", "", TEXT).splitlines():
        if match := re.match(r"FROM (\S+) AS (\S+)", line):
            name = match.group(2)
            found[name] = [line]
        elif name and line and not line.startswith("#"):
            found[name].append(line)
    return found


@pytest.mark.parametrize("target", ["site", "worker", "gpu-worker"])
def test_image_runs_as_an_ordinary_user(target: str) -> None:
    users = [line.split()[1] for line in stages()[target] if line.startswith("USER ")]
    assert users == ["learnml"]


def test_every_installation_is_hashed() -> None:
    installations = re.findall(r"pip install [^\n&]+", TEXT)
    assert len(installations) == 3
    assert all("--require-hashes" in line for line in installations)


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("site", processes.WEB_COMMAND),
        ("worker", processes.WORKER_CPU_COMMAND),
        ("gpu-worker", processes.WORKER_GPU_COMMAND),
    ],
)
def test_command_is_that_of_the_supervisor(target: str, command: tuple[str, ...]) -> None:
    (line,) = [line for line in stages()[target] if line.startswith("CMD ")]
    assert tuple(json.loads(line.removeprefix("CMD "))) == command


def copied(target: str) -> set[str]:
    lines = [shlex.split(line) for line in stages()[target] if line.startswith("COPY ")]
    return {word for line in lines if "--from" not in line[1] for word in line[1:-1]}


@pytest.mark.parametrize("target", ["worker", "gpu-worker"])
def test_worker_image_holds_the_engine_alone(target: str) -> None:
    assert {path for path in copied(target) if "requirements" not in path} == {"gpu_worker"}


def test_copied_paths_exist() -> None:
    for target in stages():
        for path in copied(target):
            assert (PROJECT / path).exists(), f"{target}: {path}"


def test_image_holds_no_secret() -> None:
    assert not re.search(r"^(ENV|ARG).*(SECRET|PASSWORD)", TEXT, re.MULTILINE)
    ignored = (PROJECT / ".dockerignore").read_text().split()
    assert {"var", ".env", ".git", ".venv*"} <= set(ignored)
