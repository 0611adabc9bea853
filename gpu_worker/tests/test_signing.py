"""Messages are signed over task, worker and text; a worker without a key does not start."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import sys

import pytest

from gpu_worker.messages import queues
from gpu_worker.messages.protocol import Phase, Progress, ProtocolError
from gpu_worker.messages.signing import (
    KeyMissing,
    SignedMessage,
    WorkerKey,
    key_from_environment,
    signed,
)

SECRET = bytes(range(32))
KEY = WorkerKey("cpu-1", SECRET)
PROGRESS = Progress(submission="s" * 16, lease="a" * 32, node="naïve", phase=Phase.RUNNING)


def test_a_key_survives_the_round_trip() -> None:
    assert str(KEY) == f"cpu-1.{SECRET.hex()}"
    assert WorkerKey.parse(f" {KEY}\n") == KEY
    assert SECRET.hex() not in repr(KEY)


@pytest.mark.parametrize("text", ["", "cpu-1", "cpu-1.12ab", f"a b.{'0' * 64}", f"a.{'G' * 64}"])
def test_invalid_keys_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a dot, and 64 hexadecimal digits"):
        WorkerKey.parse(text)


def test_the_code_is_hmac_sha256_over_task_worker_and_text() -> None:
    envelope = signed(PROGRESS, queues.TASK_RECORD_PROGRESS, KEY)
    text = "\n".join(
        [
            "learnml message of a worker, version 1",
            "grader.record_progress",
            "cpu-1",
            envelope.body,
        ]
    )
    assert envelope.mac == hmac.new(SECRET, text.encode(), hashlib.sha256).hexdigest()
    assert json.loads(envelope.body)["lease"] == "a" * 32
    assert json.loads(envelope.body)["submission"] == "s" * 16


def test_an_envelope_survives_the_queue() -> None:
    envelope = signed(PROGRESS, queues.TASK_RECORD_PROGRESS, KEY)
    arrived = SignedMessage.from_message(json.loads(json.dumps(envelope.to_message())))
    assert arrived.is_signed_with(KEY, queues.TASK_RECORD_PROGRESS)
    assert Progress.from_message(arrived.message()) == PROGRESS


@pytest.mark.parametrize(
    "change",
    [
        {"body": "{}"},
        {"worker": "cpu-2"},
        {"mac": "0" * 64},
    ],
)
def test_tampered_messages_are_refused(change: dict[str, str]) -> None:
    envelope = signed(PROGRESS, queues.TASK_RECORD_PROGRESS, KEY)
    changed = SignedMessage(**(envelope.to_message() | change))
    assert not changed.is_signed_with(KEY, queues.TASK_RECORD_PROGRESS)


def test_a_message_is_valid_for_its_own_task_only() -> None:
    envelope = signed(PROGRESS, queues.TASK_RECORD_PROGRESS, KEY)
    assert not envelope.is_signed_with(KEY, queues.TASK_RECORD_VERDICT)
    other = WorkerKey("cpu-1", bytes(32))
    assert not envelope.is_signed_with(other, queues.TASK_RECORD_PROGRESS)


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, '{"a": 1e'])
def test_text_that_is_not_json_is_a_protocol_error(body: str) -> None:
    envelope = SignedMessage(worker="cpu-1", body=body, mac=KEY.mac("task", body))
    with pytest.raises(ProtocolError, match="no JSON"):
        envelope.message()


def test_the_environment_names_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEARNML_WORKER_KEY", str(KEY))
    assert key_from_environment() == KEY


@pytest.mark.parametrize("value", [None, "", "cpu-1:secret"])
def test_a_worker_without_a_key_refuses_to_start(value: str | None) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "LEARNML_WORKER_KEY"}
    environment["LEARNML_QUEUE_SOCKET"] = "/nowhere/queue.sock"
    if value is not None:
        environment["LEARNML_WORKER_KEY"] = value
    ended = subprocess.run(
        [sys.executable, "-m", "celery", "--quiet", "-A", "gpu_worker.celery_app"]
        + ["worker", "-Q", "cpu", "-c", "1"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 78
    assert "manage.py worker add NAME" in ended.stderr
    assert "secret" not in ended.stderr


def test_a_missing_key_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEARNML_WORKER_KEY", raising=False)
    with pytest.raises(KeyMissing, match="worker add NAME"):
        key_from_environment()
