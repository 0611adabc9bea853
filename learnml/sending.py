"""A socket that buffers what its client does not take yet, so that no thread waits."""

from __future__ import annotations

import errno
import select
import socket
import threading
from typing import Any, BinaryIO, Final

MAX_UNSENT_BYTES: Final = 16 * 1024 * 1024
"""Of one answer."""
MAX_UNSENT_BYTES_OF_ALL: Final = 128 * 1024 * 1024
"""Of a process. Beyond either, a thread waits for its client after all, and not for long."""
TAKE_SOME_WITHIN_SECONDS: Final = 30.0
PIECE_BYTES: Final = 256 * 1024
SYSTEM_BUFFER_BYTES: Final = 512 * 1024
"""Asked of the system, which may give less: most answers then go at once."""


class Room:
    """Limits the bytes of all responses of a process that may wait for clients."""

    def __init__(self, most: int = MAX_UNSENT_BYTES_OF_ALL) -> None:
        self._lock = threading.Lock()
        self._left = most

    def take(self, count: int) -> bool:
        with self._lock:
            if count > self._left:
                return False
            self._left -= count
            return True

    def give_back(self, count: int) -> None:
        with self._lock:
            self._left += count


class PatientSocket:
    """Sends what goes at once and buffers the rest; `send_more` continues when the socket is
    writable.

    Never blocks, except where the buffer is full. Otherwise it behaves like the socket that it
    wraps.
    """

    def __init__(self, connection: socket.socket, room: Room) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SYSTEM_BUFFER_BYTES)
        self._socket = connection
        self._room = room
        self._unsent = bytearray()
        # The most frequent attributes, without __getattr__.
        self.recv, self.fileno = connection.recv, connection.fileno

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def setblocking(self, flag: bool) -> None:
        """Ignored: gunicorn's threads would make it block."""

    def settimeout(self, seconds: float | None) -> None:
        """Ignored."""

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, data: bytes) -> int:
        self.sendall(data)
        return len(data)

    def sendall(self, data: bytes) -> None:
        """Send everything, or buffer it.

        Raises:
            OSError: the client is gone, or takes nothing and the buffer is full.
        """
        if self._unsent:
            self.send_more()
        rest = memoryview(data)
        while rest:
            if not self._unsent:
                rest = rest[self.send_now(rest) :]
            piece = rest[:PIECE_BYTES]
            if self._keep(piece):
                rest = rest[len(piece) :]
            else:
                self._wait_for_client()
                self.send_more()

    def sendfile(self, file: BinaryIO, offset: int = 0, count: int | None = None) -> int:
        """Send a file, or `count` bytes of it, from `offset` on. Return the number of bytes."""
        file.seek(offset)
        sent = 0
        while data := file.read(PIECE_BYTES if count is None else min(PIECE_BYTES, count - sent)):
            self.sendall(data)
            sent += len(data)
        return sent

    def send_more(self) -> None:
        """Send as much of the buffer as goes at once.

        Raises:
            OSError: the client is gone.
        """
        with memoryview(self._unsent) as unsent:
            sent = self.send_now(unsent)
        del self._unsent[:sent]
        self._room.give_back(sent)

    def close(self) -> None:
        self._room.give_back(len(self._unsent))
        self._unsent.clear()
        self._socket.close()

    def send_now(self, data: bytes | memoryview) -> int:
        """Send as much as goes at once, without buffering. Return the number of bytes.

        Raises:
            OSError: the client is gone.
        """
        sent = 0
        while sent < len(data):
            try:
                sent += self._socket.send(data[sent:])
            except BlockingIOError:
                break
        return sent

    def _keep(self, data: memoryview) -> bool:
        fits = len(self._unsent) + len(data) <= MAX_UNSENT_BYTES and self._room.take(len(data))
        if fits:
            self._unsent += data
        return fits

    def _wait_for_client(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLOUT)
        if not poll.poll(TAKE_SOME_WITHIN_SECONDS * 1000):
            raise ConnectionResetError(errno.ECONNRESET, "The client takes no more of its answer.")
