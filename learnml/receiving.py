"""The web server's worker: a request gets a thread once all of it is there.

Gunicorn's threads read what they answer, so that a client that sends a byte every few seconds holds
a thread for as long as it likes, and two dozen of them hold all. Here the worker's one loop, which
waits for all connections at once, receives requests: a slow one costs a few bytes of memory until
it is whole or out of time. Answers are sent by the thread; a client that takes nothing is left
after a while.
"""

from __future__ import annotations

import contextlib
import re
import selectors
import socket
import struct
import time
from functools import partial
from typing import Any, Final

from gunicorn import http  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]

HEADERS_WITHIN_SECONDS: Final = 20.0
"""From the connection, or from the first byte of a further request on it."""
REQUEST_WITHIN_SECONDS: Final = 180.0
"""One megabyte takes half of that on a bad telephone line."""
SEND_WITHIN_SECONDS: Final = 30
"""For a client to take any of what waits for it."""
MAX_HEADER_BYTES: Final = 128 * 1024
MAX_DRAINED_BYTES: Final = 32 * 1024 * 1024
"""Of a body that is too large: a client still sending would see a reset in place of the answer."""
MAX_HELD_BYTES: Final = 256 * 1024 * 1024
"""Of all unfinished requests of a process."""
RECEIVE_BYTES: Final = 64 * 1024

_HEADERS_END: Final = b"\r\n\r\n"
_LENGTH: Final = re.compile(rb"^content-length:[ \t]*(\d{1,18})[ \t]*\r$", re.I | re.M)
_CODED: Final = re.compile(rb"^transfer-encoding:", re.I | re.M)
_EXPECTS: Final = re.compile(rb"^expect:[ \t]*100-continue[ \t]*\r$", re.I | re.M)
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Receiving:
    """What has come of one request. `body_limit`: larger bodies are dropped as they come."""

    def __init__(self, began: float, body_limit: int) -> None:
        self.held = bytearray()
        self.expects_continue = False
        self._began = began
        self._body_limit = body_limit
        self._body_starts: int | None = None
        self._length: int | None = 0
        self._dropped = 0

    def add(self, data: bytes) -> None:
        """Take what has just come."""
        if self.is_too_large:
            self._dropped += len(data)
            return
        searched = max(0, len(self.held) - len(_HEADERS_END))
        self.held += data
        if self._body_starts is None:
            self._look_for_headers(searched)

    def _look_for_headers(self, searched: int) -> None:
        end = self.held.find(_HEADERS_END, searched)
        if end < 0:
            return
        self._body_starts = end + len(_HEADERS_END)
        # With the line ends of its last line: the patterns want them.
        head = bytes(self.held[: end + 2])
        lengths = _LENGTH.findall(head)
        if _CODED.search(head):
            self._length = None
        elif len(lengths) == 1:
            self._length = int(lengths[0])
        if self.is_too_large:
            self._dropped = len(self.held) - self._body_starts
            del self.held[self._body_starts :]
        self.expects_continue = bool(_EXPECTS.search(head)) and not self.is_whole

    @property
    def is_too_large(self) -> bool:
        return self._length is not None and self._length > self._body_limit

    @property
    def is_whole(self) -> bool:
        """All of it is there, or as much as is needed to answer it.

        Headers that contradict each other are answered as they are. The end of a body in chunks of
        unknown length is known by its form; one that only looks like it costs a thread a wait.
        """
        if self._body_starts is None:
            return False
        if self._length is None:
            tail = self.held[max(self._body_starts, len(self.held) - 4096) :]
            is_end = tail.startswith(b"0\r\n") or b"\r\n0\r\n" in tail
            too_much = len(self.held) - self._body_starts > self._body_limit
            return too_much or (is_end and tail.endswith(_HEADERS_END))
        if self.is_too_large:
            return self._dropped >= min(self._length, MAX_DRAINED_BYTES)
        return len(self.held) - self._body_starts >= self._length

    def refusal(self, now: float) -> str:
        """Return the status to end it with, "" while it may go on."""
        if self._body_starts is None and len(self.held) > MAX_HEADER_BYTES:
            return "431 Request Header Fields Too Large"
        limit = HEADERS_WITHIN_SECONDS if self._body_starts is None else REQUEST_WITHIN_SECONDS
        return "408 Request Timeout" if now - self._began > limit else ""


class ReceivingWorker(ThreadWorker):
    """Gunicorn's threaded worker, with a thread for each whole request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._receiving: dict[TConn, Receiving] = {}
        self._held_bytes = 0

    def enqueue_req(self, conn: TConn) -> None:
        """Receive a request from a connection that is new or has something to read."""
        if self.cfg.is_ssl:
            # Meant to stand behind a proxy for that; gunicorn's own way works all the same.
            super().enqueue_req(conn)
            return
        receiving = Receiving(time.monotonic(), self._body_limit())
        if conn.parser is None:
            _limit_waits(conn.sock)
            conn.parser = http.get_parser(self.cfg, conn.sock, conn.client)
            conn.initialized = True
        else:
            # Read ahead with the request before.
            self._add(receiving, conn.parser.unreader.take_buffered())
        conn.sock.setblocking(False)
        if not self._receive(conn, receiving):
            self._receiving[conn] = receiving
            self.poller.register(
                conn.sock, selectors.EVENT_READ, partial(self._on_more, conn, receiving)
            )

    def murder_pending(self) -> None:
        """Close connections that are out of time; called about once a second."""
        super().murder_pending()
        now = time.monotonic()
        for conn, receiving in list(self._receiving.items()):
            status = receiving.refusal(now)
            if status or (not self.alive and not receiving.held):
                self._forget(conn)
                self._end(conn, receiving, status if receiving.held else "")

    def _body_limit(self) -> int:
        from django.conf import settings

        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def _on_more(self, conn: TConn, receiving: Receiving, _: object) -> None:
        if self._receive(conn, receiving):
            self._forget(conn)

    def _receive(self, conn: TConn, receiving: Receiving) -> bool:
        """Take what has come. Return whether that is all that there will be to wait for."""
        while not receiving.is_whole:
            try:
                data = conn.sock.recv(RECEIVE_BYTES)
            except BlockingIOError:
                return False
            except OSError:
                data = b""
            if not data:
                # The client is gone.
                self._end(conn, receiving, "")
                return True
            self._add(receiving, data)
            status = receiving.refusal(time.monotonic())
            if self._held_bytes > MAX_HELD_BYTES:
                status = "503 Service Unavailable"
            if status:
                self._end(conn, receiving, status)
                return True
            if receiving.expects_continue:
                receiving.expects_continue = False
                with contextlib.suppress(OSError):
                    conn.sock.send(_CONTINUE)
        self._hand_over(conn, receiving)
        return True

    def _add(self, receiving: Receiving, data: bytes) -> None:
        before = len(receiving.held)
        receiving.add(data)
        self._held_bytes += len(receiving.held) - before

    def _hand_over(self, conn: TConn, receiving: Receiving) -> None:
        self._held_bytes -= len(receiving.held)
        held = bytes(receiving.held)
        if receiving.is_too_large:
            # What was dropped is not waited for; the connection ends with the answer.
            conn.parser = http.get_parser(self.cfg, [held], conn.client)
        else:
            conn.parser.unreader.unread(held)
        super().enqueue_req(conn)

    def _end(self, conn: TConn, receiving: Receiving, status: str) -> None:
        self._held_bytes -= len(receiving.held)
        self.nr_conns -= 1
        if status:
            answer = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            with contextlib.suppress(OSError):
                conn.sock.send(answer.encode())
        conn.close()

    def _forget(self, conn: TConn) -> None:
        del self._receiving[conn]
        with contextlib.suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)


def _limit_waits(connection: socket.socket) -> None:
    """Let the system end a thread's wait for a client that takes nothing."""
    wait = struct.pack("ll", SEND_WITHIN_SECONDS, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
