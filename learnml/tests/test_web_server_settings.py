"""The web server's settings at the end of a process."""

from __future__ import annotations

import os
import runpy
import sys
from types import SimpleNamespace
from unittest import mock

import pytest

from learnml.supervisor.config import BASE_DIR


@pytest.mark.parametrize(("code", "at_once"), [(0, True), (3, False)])
def test_a_process_that_is_done_ends_at_once_and_one_that_failed_says_so(
    code: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process stops everything where others cannot start, which it tells by the code."""
    settings = runpy.run_path(str(BASE_DIR / "learnml/gunicorn.conf.py"))
    worker = SimpleNamespace(tpool=mock.Mock())
    end = mock.Mock()
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr("logging.shutdown", mock.Mock())
    try:
        sys.exit(code)
    except SystemExit:
        settings["worker_exit"](None, worker)
    assert end.called is at_once
    # Nobody's answer is cut off.
    assert worker.tpool.shutdown.called is at_once
