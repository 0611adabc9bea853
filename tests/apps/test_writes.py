"""The watch over transactions finds what it is there for."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from courses.saving import saved
from tests import writes
from tests.writes import WriteWatch

pytestmark = pytest.mark.django_db


def test_a_program_started_within_a_transaction_is_found(write_watch: WriteWatch) -> None:
    saved(lambda _: subprocess.run([sys.executable, "-c", ""], check=True))
    assert write_watch.complaints() == ["courses/saving.py, saved: a transaction starts a program."]


def test_work_before_and_after_it_is_nobodys_business(write_watch: WriteWatch) -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)
    saved(lambda _: None)
    subprocess.run([sys.executable, "-c", ""], check=True)
    assert len(write_watch.ended) == 1
    assert write_watch.complaints() == []


def test_long_computing_is_found_by_the_threads_own_processor_time(
    write_watch: WriteWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "MAX_PROCESSOR_SECONDS", 0.05)

    def compute(_: object) -> None:
        until = time.thread_time() + 0.1
        while time.thread_time() < until:
            pass

    saved(compute)
    (said,) = write_watch.complaints()
    assert said.startswith("courses/saving.py, saved: a transaction computed for ")
