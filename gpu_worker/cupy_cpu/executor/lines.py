"""Maps an address in a library to a line of the kernel's source by DWARF's line table, version 4.

A function of a header that was inlined into the kernel has lines of the header; the kernel's line
is then the nearest one before it in the same sequence.
"""

from __future__ import annotations

import bisect
import struct
from typing import Final

from .elf import Elf

_LONGEST_PROGRAM: Final = 8 << 20


class LineTable:
    """`line_of` and the like take offsets from the library's start."""

    def __init__(self, library: Elf, source_name: str) -> None:
        self._addresses: list[int] = []
        self._lines: list[int] = []
        section = library.section(".debug_line")
        content = library.content(section) if section else b""
        rows: list[tuple[int, int]] = []
        try:
            for program in _programs(content[:_LONGEST_PROGRAM]):
                rows += program.rows(source_name)
        except (IndexError, struct.error, ValueError):
            rows = []
        rows.sort(key=lambda row: row[0])
        for address, line in rows:
            if self._addresses and self._addresses[-1] == address:
                # The last row of an address holds; line 0 counts only if there is no other.
                self._lines[-1] = line or self._lines[-1]
            else:
                self._addresses.append(address)
                self._lines.append(line)

    def line_of(self, frames: list[int]) -> int | None:
        """Return the line of the innermost frame that lies in the kernel's source.

        `frames` are the addresses after the calls, innermost first.
        """
        nearest = [self._before(frame - 1) for frame in frames]
        for exact, _ in nearest:
            if exact:
                return exact
        return next((line for _, line in nearest if line), None)

    def _before(self, address: int) -> tuple[int, int]:
        """Return the line at an address, 0 outside of the kernel's file, and the last one in it."""
        at = bisect.bisect_right(self._addresses, address) - 1
        if at < 0:
            return 0, 0
        exact = self._lines[at]
        while at >= 0 and self._lines[at] == 0:
            at -= 1
        return exact, self._lines[at] if at >= 0 else 0


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, code: str) -> int:
        (value,) = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize(code)
        return int(value)

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        value = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return value

    def unsigned(self) -> int:
        result = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return result

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _programs(data: bytes) -> list[_Program]:
    found, at = [], 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        found.append(_Program(data, at + 4, at + 4 + length))
        at += 4 + length
    return found


class _Program:
    """One compiled file's line-number program: a small machine that writes rows."""

    def __init__(self, data: bytes, at: int, end: int) -> None:
        reader = self.reader = _Reader(data, at)
        self.end = end
        version = reader.take("H")
        if not 2 <= version <= 4:
            raise ValueError("only versions 2 to 4 of the line table are read")
        header_length = reader.take("I")
        start = reader.at + header_length
        self.unit = reader.take("B")
        if version == 4:
            reader.take("B")
        reader.take("B")
        self.line_base = reader.take("b")
        self.line_range = reader.take("B")
        self.opcode_base = reader.take("B")
        self.operands = [0] + [reader.take("B") for _ in range(self.opcode_base - 1)]
        while reader.text():
            pass
        self.files = [""]
        while name := reader.text():
            self.files.append(name)
            for _ in range(3):
                reader.unsigned()
        reader.at = start

    def rows(self, source_name: str) -> list[tuple[int, int]]:
        """Return (address, line); line 0 for code of other files, so that it ends a range."""
        wanted = {n for n, name in enumerate(self.files) if name.rpartition("/")[2] == source_name}
        rows: list[tuple[int, int]] = []
        reader = self.reader
        address, file, line = 0, 1, 1
        while reader.at < self.end:
            code = reader.take("B")
            emit = False
            if code >= self.opcode_base:
                step = code - self.opcode_base
                address += step // self.line_range * self.unit
                line += self.line_base + step % self.line_range
                emit = True
            elif code == 0:
                length = reader.unsigned()
                following = reader.at + length
                kind = reader.take("B")
                if kind == 1:
                    rows.append((address, 0))
                    address, file, line = 0, 1, 1
                elif kind == 2:
                    address = reader.take("Q")
                reader.at = following
            elif code == 1:
                emit = True
            elif code == 2:
                address += reader.unsigned() * self.unit
            elif code == 3:
                line += reader.signed()
            elif code == 4:
                file = reader.unsigned()
            elif code == 8:
                address += (255 - self.opcode_base) // self.line_range * self.unit
            elif code == 9:
                address += reader.take("H")
            else:
                for _ in range(self.operands[code]):
                    reader.unsigned()
            if emit:
                rows.append((address, line if file in wanted else 0))
        return rows
