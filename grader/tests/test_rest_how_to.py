"""The page "Grade over REST": every command in it, in order, with curl."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django.live_server_helper import LiveServer

from grader import services
from grader.models import Exercise, Outcome, Submission
from grader.presentation.page import SubmissionPage
from grader.tests.conftest import SOURCE
from grader.tests.messages import verdict, worker

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to"
PAGES = [HOW_TO / "grade-over-rest.md", HOW_TO / "regrade.md"]
ADDRESS = "http://localhost:8000"


def blocks_of(page: Path) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the curl commands of the page, continued lines joined."""
    blocks = blocks_of(page)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("curl ")]


class Reader:
    """Somebody who copies the commands into a shell and fills in what the page leaves open."""

    def __init__(self, base_url: str, folder: Path) -> None:
        self.base_url, self.folder = base_url, folder
        self.token = self.id = self.etag = ""

    def run(self, command: str) -> str:
        line = command.replace(ADDRESS, self.base_url).replace("PASSWORD", "grader-password")
        line = re.sub(r"\bID\b", self.id, line).replace("ETAG", self.etag)
        done = subprocess.run(
            ["sh", "-c", line.replace("curl ", "curl --silent --show-error --fail-with-body ", 1)],
            cwd=self.folder,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TOKEN": self.token, "NO_PROXY": "*"},
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.mark.django_db(transaction=True)
def test_every_command_of_the_page_works_in_its_order(
    live_server: LiveServer, grader: User, exercise: Exercise, tmp_path: Path
) -> None:
    (tmp_path / "my_rmsnorm.py").write_text(SOURCE)
    reader = Reader(live_server.url, tmp_path)
    make_token, submit, list_them, read, read_source, events, decide, score, take_back = commands(
        PAGES[0]
    )

    reader.token = json.loads(reader.run(make_token))["token"]
    made: dict[str, Any] = json.loads(reader.run(submit))
    reader.id = made["id"]
    assert json.loads(reader.run(submit))["id"] == reader.id, "the same key, the same submission"

    submission = Submission.objects.get(public_id=reader.id)
    assert submission.source == SOURCE
    worker.record_verdict(verdict(submission, "flagged"))
    listed = json.loads(reader.run(list_them))["results"]
    assert [row["id"] for row in listed] == [reader.id]
    assert json.loads(reader.run(read))["outcome"] == Outcome.FLAGGED
    assert reader.run(read_source) == SOURCE
    assert json.loads(reader.run(events))["events"][-1]["outcome"] == Outcome.FLAGGED
    assert json.loads(reader.run(decide))["outcome"] == Outcome.ACCEPTED
    for command, expected in ((score, 0.75), (take_back, 1.0)):
        reader.etag = SubmissionPage.of(Submission.objects.get()).etag
        assert json.loads(reader.run(command))["score"] == expected


@pytest.mark.django_db(transaction=True)
def test_the_way_of_a_regrade_as_its_page_has_it(
    live_server: LiveServer, grader: User, learner: User, exercise: Exercise, tmp_path: Path
) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    worker.record_verdict(verdict(submission, "wrong_answer"))
    reader = Reader(live_server.url, tmp_path)
    _, reader.token = services.create_token(grader, "test", ["grade"])
    start, look, items, commit, undo = commands(PAGES[1])

    reader.id = json.loads(reader.run(start))["id"]
    worker.record_verdict(verdict(submission))
    assert json.loads(reader.run(look))["changes"] == {"raised": 1}
    (item,) = json.loads(reader.run(items))["results"]
    assert item["submission"] == submission.public_id
    assert json.loads(reader.run(commit))["states"] == {"applied": 1}
    assert json.loads(reader.run(undo))["state"] == "undone"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_needs_nothing_but_curl(page: Path) -> None:
    for block in blocks_of(page):
        assert "|" not in re.sub(r"'[^']*'", "", block)
        for line in block.replace("\\\n", " ").splitlines():
            assert line.startswith(("curl ", "TOKEN="))
