"""Sending to a broker that is up, down, or silent: bounded waits, one kind of error."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from celery import current_app

from gpu_worker.messages.queues import TASK_GRADE
from grader.services.broker import BrokerUnreachable, CeleryTransport
from tests.platform.instance import PATIENCE_SECONDS


@pytest.fixture
def silent_server() -> Iterator[str]:
    """Accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.fixture
def closed_port() -> str:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.mark.parametrize("kind", ["silent", "closed", "no socket"])
def test_a_broker_that_does_not_answer_costs_a_bounded_time(
    kind: str, silent_server: str, closed_port: str
) -> None:
    urls = {
        "silent": silent_server,
        "closed": closed_port,
        "no socket": "redis+socket:///nowhere/queue.sock?virtual_host=0",
    }
    transport = CeleryTransport(urls[kind])
    for call in (
        lambda: transport.send(TASK_GRADE, [{}], "cpu", 0),
        lambda: transport.waiting("cpu"),
    ):
        begun = time.monotonic()
        with pytest.raises(BrokerUnreachable):
            call()
        assert time.monotonic() - begun < PATIENCE_SECONDS


@pytest.mark.services
def test_a_real_broker_takes_counts_and_hands_out_by_priority(redis_server: str) -> None:
    transport = CeleryTransport(redis_server)
    assert transport.waiting("cpu") == 0
    for number, priority in ((1, 5), (2, 0), (3, 5)):
        transport.send(TASK_GRADE, [{"number": number}], "cpu", priority)
    assert transport.waiting("cpu") == 3
    assert transport.waiting("gpu") == 0
    options = {"queue_order_strategy": "priority", "priority_steps": list(range(10))}
    with current_app.connection_for_write(redis_server, transport_options=options) as connection:
        queue = connection.SimpleQueue("cpu")
        got = []
        for _ in range(3):
            message = queue.get(timeout=180)
            assert message.headers["task"] == TASK_GRADE
            got.append(message.payload[0][0]["number"])
            message.ack()
    assert got == [2, 1, 3]
