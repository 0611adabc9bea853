"""Find the end of a request incrementally (RFC 9112, sections 6 and 7)."""

from __future__ import annotations

import re
from typing import Final

HEADERS_WITHIN_SECONDS: Final = 20.0
"""From the connection, or from the first byte of a further request on it."""
REQUEST_WITHIN_SECONDS: Final = 180.0
"""One megabyte takes half of that on a bad telephone line."""
MAX_HEADER_BYTES: Final = 128 * 1024
MAX_DRAINED_BYTES: Final = 32 * 1024 * 1024
"""Of a body that is too large: a client still sending would see a reset, not the answer."""

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
"""Sent to clients that ask before sending a body."""

_LINE_END: Final = b"\r\n"
_HEADERS_END: Final = b"\r\n\r\n"
_MAX_CHUNK_LINE_BYTES: Final = 8190
_MAX_DIGITS: Final = 4000
"""Of a decimal number: below the limit of Python's `int`."""
# In lower case, with the end of the line before.
_LENGTH: Final = re.compile(rb"\r\ncontent-length[ \t]*:([^\r\n]*)")
_CODED: Final = re.compile(rb"\r\ntransfer-encoding[ \t]*:")
_EXPECTS: Final = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r")
_CHUNK_SIZE: Final = re.compile(rb"([0-9a-fA-F]{1,16})[ \t]*(?:;.*)?", re.S)


class Receiving:
    """The bytes received of one request. `body_limit`: larger bodies are dropped on arrival.

    An invalid request counts as complete: its parser reports the error.
    """

    def __init__(self, began: float, body_limit: int) -> None:
        self.held = bytearray()
        self.expects_continue = False
        self.is_whole = False
        self._began = began
        self._body_limit = body_limit
        self._body_starts: int | None = None
        self._length = 0
        self._dropped = 0
        # Of a body in chunks: where the next line of a size begins, and, after the last chunk,
        # where trailers do.
        self._next_chunk: int | None = None
        self._trailers: int | None = None

    def add(self, data: bytes) -> None:
        """Append received bytes."""
        if self.is_too_large:
            self._dropped += len(data)
        else:
            searched = max(0, len(self.held) - len(_HEADERS_END))
            self.held += data
            if self._body_starts is None:
                self._look_for_headers(searched)
        self._look_for_the_end()

    @property
    def is_too_large(self) -> bool:
        return self._length > self._body_limit

    def refusal(self, now: float) -> str:
        """Return the status to refuse it with, empty while it may continue."""
        if self._body_starts is None and len(self.held) > MAX_HEADER_BYTES:
            return "431 Request Header Fields Too Large"
        if self._next_chunk is not None and self._has_too_many_chunks():
            return "413 Content Too Large"
        return "408 Request Timeout" if self.is_late(now) else ""

    def is_late(self, now: float) -> bool:
        limit = HEADERS_WITHIN_SECONDS if self._body_starts is None else REQUEST_WITHIN_SECONDS
        return now - self._began > limit

    def _look_for_headers(self, searched: int) -> None:
        end = self.held.find(_HEADERS_END, searched)
        if end < 0:
            return
        self._body_starts = end + len(_HEADERS_END)
        head = bytes(self.held[: end + len(_LINE_END)]).lower()
        if _CODED.search(head):
            self._next_chunk = self._body_starts
        else:
            self._length = _length(head)
        if self.is_too_large:
            self._dropped = len(self.held) - self._body_starts
            del self.held[self._body_starts :]
        self._look_for_the_end()
        self.expects_continue = bool(_EXPECTS.search(head)) and not self.is_whole

    def _look_for_the_end(self) -> None:
        if self._body_starts is None or self.is_whole:
            return
        if self._next_chunk is not None:
            self.is_whole = self._has_last_chunk()
        elif self.is_too_large:
            self.is_whole = self._dropped >= min(self._length, MAX_DRAINED_BYTES)
        else:
            self.is_whole = len(self.held) - self._body_starts >= self._length

    def _has_last_chunk(self) -> bool:
        held = self.held
        while self._trailers is None:
            begin = self._next_chunk or 0
            end = held.find(_LINE_END, begin, begin + _MAX_CHUNK_LINE_BYTES)
            if end < 0:
                return len(held) - begin >= _MAX_CHUNK_LINE_BYTES
            size = _CHUNK_SIZE.fullmatch(held, begin, end)
            if size is None:
                return True
            if int(size[1], 16) == 0:
                self._trailers = end
            else:
                self._next_chunk = end + int(size[1], 16) + 2 * len(_LINE_END)
        # The end of the last chunk's line and an empty line, with or without trailers between them.
        # Too many trailers are not searched repeatedly: the parser refuses them.
        too_many = len(held) - self._trailers > MAX_HEADER_BYTES
        return too_many or held.find(_HEADERS_END, self._trailers) >= 0

    def _has_too_many_chunks(self) -> bool:
        if self.is_whole:
            return False
        taken = max(len(self.held), self._next_chunk or 0) - (self._body_starts or 0)
        return taken > self._body_limit


def _length(head: bytes) -> int:
    """Return the length of the body from the headers; 0 where the headers will be refused.

    As gunicorn parses them, which then leaves no body to wait for.
    """
    told = [value.strip(b" \t") for value in _LENGTH.findall(head)]
    if len(told) != 1 or not told[0].isdigit() or len(told[0]) > _MAX_DIGITS:
        return 0
    return int(told[0])
