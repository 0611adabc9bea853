"""A gunicorn worker whose threads never wait for slow clients.

Gunicorn's threads read requests and send responses themselves, so a client that transfers a byte
every few seconds holds a thread for as long as it likes, and two dozen of them hold all. Here, the
worker's event loop receives requests and sends what a client did not take at once: a slow client
costs memory until it is done or timed out. The loop itself never blocks, nor does a thread read
from a connection.
"""

from __future__ import annotations

import contextlib
import errno
import resource
import selectors
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from gunicorn import http  # type: ignore[import-untyped]
from gunicorn.http.unreader import Unreader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]

from .framing import CONTINUE, Receiving
from .sending import TAKE_SOME_WITHIN_SECONDS, PatientSocket, Room

MAX_HELD_BYTES: Final = 256 * 1024 * 1024
"""Of all requests of a process that are not answered yet."""
RECEIVE_BYTES: Final = 64 * 1024
TAKE_ALL_WITHIN_SECONDS: Final = 180.0
"""For a client to take an answer once it is made: 3 kB/s for a long chapter, uncompressed."""
LINGER_SECONDS: Final = 2.0
"""For a client to see that a connection ends. Closed before, a reset might take the answer away."""
MAX_LINGERING_BYTES: Final = 1024 * 1024
LOOK_EVERY_SECONDS: Final = 1.0
OTHER_FILES: Final = 200
"""That a process may have open beside its connections."""
OUT_OF_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class HeldBytes(Unreader):
    """The bytes of a request, for the parser.

    `ends`: later bytes cannot be told from the rest of this request, so the connection ends.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ends = False

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Report the end: the parser wants more than the framing announced."""
        self.ends = True
        return b""


@dataclass(slots=True)
class Sending:
    """A response that is not fully sent, by the thread that `answered`."""

    answered: Future[Any]
    some_until: float
    all_until: float


@dataclass(slots=True)
class Lingering:
    """A connection closed on this side, and the number of bytes received since."""

    until: float
    came: int = 0


Waiting = TypeVar("Waiting", Receiving, Sending, Lingering)


class ReceivingWorker(ThreadWorker):
    """Gunicorn's threaded worker, whose threads wait for no client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Connections in the loop, and what they are there for.
        self._waiting: dict[TConn, Receiving | Sending | Lingering] = {}
        self._held_bytes = 0
        # Those of them that threads have, or will have.
        self._handed_bytes: dict[TConn, int] = {}
        self._room = Room()
        self._look_at = 0.0

    def init_process(self) -> None:
        self._allow_files()
        super().init_process()

    def _allow_files(self) -> None:
        """Limit the connections to the process's file limit, after raising that."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.cfg.worker_connections + OTHER_FILES
        if soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        most = max(self.cfg.threads, min(wanted, soft) - OTHER_FILES)
        self.worker_connections, self.max_keepalived = most, most - self.cfg.threads

    def accept(self, listener: socket.socket) -> None:
        try:
            super().accept(listener)
        except OSError as error:
            if error.errno not in OUT_OF_FILES:
                raise
            # It waits for its turn; the others go on.
            self.log.warning("A connection cannot be accepted: %s", error)
            time.sleep(0.1)

    # --- waiting ------------------------------------------------------------------------------
    def murder_pending(self) -> None:
        """Close what timed out; called after each turn of the loop."""
        super().murder_pending()
        now = time.monotonic()
        if self.alive and now < self._look_at:
            return
        self._look_at = now + LOOK_EVERY_SECONDS
        for conn, waiting in list(self._waiting.items()):
            if isinstance(waiting, Receiving):
                if waiting.held and (status := waiting.refusal(now)):
                    self._refuse(conn, waiting, status)
                elif not waiting.held and (waiting.is_late(now) or not self.alive):
                    self._close(conn)
            elif isinstance(waiting, Sending):
                if now > min(waiting.some_until, waiting.all_until):
                    self._close(conn)
            elif now > waiting.until:
                self._close(conn)

    def _wait(
        self,
        conn: TConn,
        waiting: Waiting,
        event: int,
        callback: Callable[[TConn, Waiting], object],
    ) -> None:
        self._waiting[conn] = waiting
        self.poller.register(conn.sock, event, lambda _: callback(conn, waiting))

    def _wait_no_more(self, conn: TConn) -> None:
        if self._waiting.pop(conn, None) is not None:
            self.poller.unregister(conn.sock)

    def _close(self, conn: TConn) -> None:
        """Close a connection at once."""
        self._wait_no_more(conn)
        self.nr_conns -= 1
        conn.close()

    def _leave(self, conn: TConn) -> None:
        """Shut a connection down, and close it once its client has seen that, or soon."""
        self._wait_no_more(conn)
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._close(conn)
            return
        lingering = Lingering(time.monotonic() + LINGER_SECONDS)
        self._wait(conn, lingering, selectors.EVENT_READ, self._on_lingering)

    def _on_lingering(self, conn: TConn, lingering: Lingering) -> None:
        data = _received(conn)
        lingering.came += len(data or b"")
        if data == b"" or lingering.came > MAX_LINGERING_BYTES:
            self._close(conn)

    # --- receiving ----------------------------------------------------------------------------
    def enqueue_req(self, conn: TConn) -> None:
        """Receive a request from a connection that is new or readable."""
        if self.cfg.is_ssl:
            # Meant to stand behind a proxy for that; gunicorn's own way works all the same.
            super().enqueue_req(conn)
            return
        if conn.parser is None:
            conn.sock = PatientSocket(conn.sock, self._room)
            conn.parser = http.get_parser(self.cfg, [], conn.client)
            conn.parser.unreader = HeldBytes()
            conn.initialized = True
        receiving = Receiving(time.monotonic(), self._body_limit)
        if ahead := conn.parser.unreader.take_buffered():
            # Read with the request before.
            self._add(receiving, ahead)
        if not self._receive(conn, receiving):
            self._wait(conn, receiving, selectors.EVENT_READ, self._receive)

    @cached_property
    def _body_limit(self) -> int:
        # Once the application, which may be what configures Django, has been loaded.
        from django.conf import settings

        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def _receive(self, conn: TConn, receiving: Receiving) -> bool:
        """Receive available bytes. Return False while the request is incomplete."""
        while not receiving.is_whole:
            data = _received(conn)
            if data is None:
                return False
            if not data:
                # The client is gone.
                self._held_bytes -= len(receiving.held)
                self._close(conn)
                return True
            self._add(receiving, data)
            status = "" if receiving.is_whole else receiving.refusal(time.monotonic())
            if self._held_bytes > MAX_HELD_BYTES:
                status = "503 Service Unavailable"
            if status:
                self._refuse(conn, receiving, status)
                return True
            if receiving.expects_continue:
                receiving.expects_continue = False
                with contextlib.suppress(OSError):
                    conn.sock.send_now(CONTINUE)
        self._hand_over(conn, receiving)
        return True

    def _add(self, receiving: Receiving, data: bytes) -> None:
        before = len(receiving.held)
        receiving.add(data)
        self._held_bytes += len(receiving.held) - before

    def _hand_over(self, conn: TConn, receiving: Receiving) -> None:
        self._wait_no_more(conn)
        self._handed_bytes[conn] = len(receiving.held)
        conn.parser.unreader.unread(receiving.held)
        # Of a body that was dropped more may come.
        conn.parser.unreader.ends = receiving.is_too_large
        super().enqueue_req(conn)

    def _refuse(self, conn: TConn, receiving: Receiving, status: str) -> None:
        self._held_bytes -= len(receiving.held)
        answer = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        with contextlib.suppress(OSError):
            conn.sock.send_now(answer.encode())
        self._leave(conn)

    # --- answering ----------------------------------------------------------------------------
    def handle_request(self, req: Any, conn: TConn) -> bool:
        """Answer a request, in a thread."""
        if not self.cfg.is_ssl and conn.parser.unreader.ends:
            req.must_close = True
        return bool(super().handle_request(req, conn))

    def finish_request(self, conn: TConn, fs: Future[Any]) -> None:
        """Continue a connection after a thread has answered; called in the loop."""
        if self.cfg.is_ssl:
            super().finish_request(conn, fs)
            return
        self._held_bytes -= self._handed_bytes.pop(conn)
        if conn.sock.has_unsent:
            now = time.monotonic()
            sending = Sending(fs, now + TAKE_SOME_WITHIN_SECONDS, now + TAKE_ALL_WITHIN_SECONDS)
            self._wait(conn, sending, selectors.EVENT_WRITE, self._on_room)
        else:
            self._go_on(conn, fs)

    def _on_room(self, conn: TConn, sending: Sending) -> None:
        try:
            conn.sock.send_more()
        except OSError:
            self._close(conn)
            return
        sending.some_until = time.monotonic() + TAKE_SOME_WITHIN_SECONDS
        if not conn.sock.has_unsent:
            self._wait_no_more(conn)
            self._go_on(conn, sending.answered)

    def _go_on(self, conn: TConn, answered: Future[Any]) -> None:
        """Wait for the next request, or end the connection."""
        failed = answered.cancelled() or answered.exception() is not None
        if failed or not answered.result() or conn.parser.unreader.ends:
            self._leave(conn)
        else:
            super().finish_request(conn, answered)


def _received(conn: TConn) -> bytes | None:
    """Return received bytes, b"" at the end, None where there are none yet."""
    try:
        data: bytes = conn.sock.recv(RECEIVE_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""
    return data
