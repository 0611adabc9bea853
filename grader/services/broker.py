"""Sending through Celery, with bounded waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import current_app
from kombu import Connection
from kombu.exceptions import ChannelError, OperationalError
from redis.exceptions import RedisError

CONNECT_TIMEOUT_SECONDS = 1.0
ANSWER_TIMEOUT_SECONDS = 2.0


class BrokerUnreachable(Exception):
    """The broker did not accept or answer within the time that a web request may wait."""


class CeleryTransport:
    """Sends through the current Celery app, on a connection of its own.

    Celery's pooled connections retry forever while the broker is down, and may be dead sockets.
    """

    def __init__(self, url: str | None = None) -> None:
        """Use the broker at `url`, by default the app's."""
        self._url = url

    def send(self, task: str, args: list[Any], queue: str, priority: int) -> None:
        with self._connection() as connection:
            producer = current_app.amqp.Producer(connection, auto_declare=False)
            current_app.send_task(
                task,
                args=args,
                queue=queue,
                priority=priority,
                producer=producer,
                retry=False,
                ignore_result=True,
            )

    def waiting(self, queue: str) -> int:
        with self._connection() as connection:
            try:
                channel: Any = connection.default_channel
                declared = channel.queue_declare(queue=queue, passive=True)
            except ChannelError:
                return 0  # Redis has no empty lists: a missing queue is an empty one.
            return int(declared.message_count)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        options = {
            "socket_connect_timeout": CONNECT_TIMEOUT_SECONDS,
            "socket_timeout": ANSWER_TIMEOUT_SECONDS,
            # Kombu's name for "connect once, then give up"; absent, it tries for ever.
            "max_retries": 0,
            "interval_start": 0,
            "interval_step": 0,
            "interval_max": 0,
        }
        try:
            with current_app.connection_for_write(
                self._url, transport_options=options, connect_timeout=CONNECT_TIMEOUT_SECONDS
            ) as connection:
                yield connection
        except (OSError, RedisError, OperationalError) as error:
            raise BrokerUnreachable(f"{type(error).__name__}: {error}") from error
