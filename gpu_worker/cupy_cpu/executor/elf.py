"""The few tables of a library that the executor reads: sections, symbols, the lines of its code.

The library is built from the learner's source. It is read in the process that runs it anyway, and
only to describe defects; whatever does not parse is treated as missing.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_SYMBOL_TABLE: Final = 2
_NO_BITS: Final = 8
_OBJECT: Final = 1
_FUNCTION: Final = 2


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """`address` counts from the library's start, `section` is a number."""

    name: str
    address: int
    size: int
    section: int
    is_function: bool


class Elf:
    """A 64-bit little-endian ELF file.

    Raises:
        ValueError: it is none.
    """

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("This is not a 64-bit little-endian ELF file.")
        self.data = data

    @cached_property
    def sections(self) -> list[Section]:
        (start,) = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        raw = [
            struct.unpack_from("<IIQQQQII", self.data, start + number * size)
            for number in range(count)
        ]
        text = self.data[raw[names][4] : raw[names][4] + raw[names][5]] if raw else b""
        return [
            Section(_text(text, name), kind, address, offset, length, link)
            for name, kind, _, address, offset, length, link, _ in raw
        ]

    def section(self, name: str) -> Section | None:
        """Return the first section of this name."""
        return next((section for section in self.sections if section.name == name), None)

    def content(self, section: Section) -> bytes:
        """Return what a section holds; nothing where it is zeros that are not in the file."""
        if section.kind == _NO_BITS:
            return b""
        return self.data[section.offset : section.offset + section.size]

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Return the variables and functions, also those that no other library can see."""
        table = next((item for item in self.sections if item.kind == _SYMBOL_TABLE), None)
        if table is None:
            return []
        text = self.content(self.sections[table.link])
        found = []
        for name, info, _, section, address, size in struct.iter_unpack(
            "<IBBHQQ", self.content(table)
        ):
            if info & 15 in (_OBJECT, _FUNCTION):
                found.append(
                    Symbol(_text(text, name), address, size, section, info & 15 == _FUNCTION)
                )
        return found

    def variables(self, section_name: str) -> list[Symbol]:
        """Return the variables of a section by address."""
        for number, section in enumerate(self.sections):
            if section.name == section_name:
                inside = (s for s in self.symbols if s.section == number and s.size)
                return sorted(inside, key=lambda symbol: symbol.address)
        return []


def _text(table: bytes, start: int) -> str:
    return table[start : table.index(b"\0", start)].decode("utf-8", "replace")


def local_name(mangled: str) -> str:
    """Return the plain name of a function's own variable: `part` for `_ZZ...E4part`."""
    at = mangled.rfind("E")
    while at >= 0:
        digits = at + 1
        while digits < len(mangled) and mangled[digits].isdigit():
            digits += 1
        if digits > at + 1:
            length = int(mangled[at + 1 : digits])
            name = mangled[digits : digits + length]
            if len(name) == length:
                return name
        at = mangled.rfind("E", 0, at)
    return mangled


def last_name(mangled: str) -> str:
    """Return the plain name of a variable in namespaces: `sum` for `_ZN12_GLOBAL__N_13sumE`."""
    at, name = 3, ""
    while at < len(mangled) and mangled[at].isdigit():
        digits = at
        while digits < len(mangled) and mangled[digits].isdigit():
            digits += 1
        length = int(mangled[at:digits])
        name, at = mangled[digits : digits + length], digits + length
    return name or mangled
