"""Queue entries that are not messages end no process."""

from __future__ import annotations

import base64
import json
import logging
import socket
from contextlib import suppress
from typing import Any

import pytest
import redis
from kombu import Connection, Consumer, Queue

from gpu_worker.messages import transport

pytestmark = pytest.mark.services

BODY = base64.b64encode(b'"hello"').decode()
PLACE = {"exchange": "", "routing_key": "garbage"}
GARBAGE: list[Any] = [
    b"no JSON",
    b"\xff\xfe",
    b"[" * 100_000,
    *map(
        json.dumps,
        (
            None,
            7,
            [],
            {},
            {"body": BODY, "headers": [], "properties": {}},
            {"body": BODY, "properties": {"delivery_tag": "a", "delivery_info": {}}},
            {"body": BODY, "properties": {"delivery_tag": [], "delivery_info": PLACE}},
            {"properties": {"delivery_tag": "a", "delivery_info": PLACE}},
            {
                "body": "a",
                "properties": {
                    **{"delivery_tag": "a", "delivery_info": PLACE},
                    **{"body_encoding": "base64"},
                },
            },
            {
                "body": BODY,
                "properties": {
                    **{"delivery_tag": "a", "delivery_info": PLACE, "body_encoding": "rot13"}
                },
            },
        ),
    ),
]


def test_invalid_entries_are_dropped_and_logged(
    redis_server: str, caplog: pytest.LogCaptureFixture
) -> None:
    transport.use()
    came: list[Any] = []
    queue = Queue("garbage", routing_key="garbage")
    server = redis.Redis.from_url(redis_server)
    with (
        caplog.at_level(logging.ERROR),
        Connection(redis_server) as connection,
        connection.channel() as channel,
    ):
        queue(channel).declare()
        with connection.Producer() as producer:
            for found in GARBAGE:
                server.lpush("garbage", found)
                producer.publish("hello", routing_key="garbage", serializer="json")

        def receive(body: Any, message: Any) -> None:
            came.append(body)
            message.ack()

        with Consumer(channel, queues=[queue], callbacks=[receive], accept=["json"]):
            while len(came) < len(GARBAGE):
                with suppress(socket.timeout):
                    connection.drain_events(timeout=5)
    assert came == ["hello"] * len(GARBAGE)
    assert caplog.text.count("was dropped") == len(GARBAGE)


@pytest.mark.parametrize("spoiled", ["no JSON", "7", "[1, 2]"])
def test_messages_that_cannot_be_redelivered_are_dropped(
    redis_server: str, spoiled: str, caplog: pytest.LogCaptureFixture
) -> None:
    transport.use()
    server = redis.Redis.from_url(redis_server)
    server.hset("unacked", "spoiled", spoiled)
    server.zadd("unacked_index", {"spoiled": 0})
    with (
        caplog.at_level(logging.ERROR),
        Connection(redis_server) as connection,
        connection.channel() as channel,
    ):
        channel.qos.restore_visible()  # type: ignore[attr-defined]
    assert "was dropped" in caplog.text
    assert not server.exists("unacked", "unacked_index")
