"""Counters of a launch: bytes, barriers, and how a warp's accesses coalesce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

_LISTED: Final = ("accesses", "arrays")


@dataclass(frozen=True, slots=True)
class Access:
    """One line's accesses of one kind, as a sample of warps made them.

    `space` is "global" or "shared". A request is one instruction of a warp. `sectors` counts the
    32-byte pieces of device memory that were moved, `ideal_sectors` those that would hold what the
    warps' lanes wanted of them, without a byte between;
    `bank_conflicts` counts the extra passes over shared memory.
    """

    line: int | None
    space: str
    write: bool
    bytes: int
    requests: int
    sectors: int
    ideal_sectors: int
    bank_conflicts: int


@dataclass(frozen=True, slots=True)
class ArrayTraffic:
    """What a launch, or several added up, moved of one array: `place` is that of the argument,
    `label` its name.

    `reads` and `writes` are the loads and stores of threads that the bytes came by. `again_read`
    and `again_written` are the bytes beyond the array's size, launch by launch: what a cache serves
    of an array that stays in it. `most_read` is what the launch that read most of it read.
    """

    place: int
    label: str
    nbytes: int
    bytes_read: int
    bytes_written: int
    reads: int
    writes: int
    again_read: int
    again_written: int
    most_read: int


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums over all threads of one launch, or of several added up.

    Bytes are those that instructions ask for: what the caches save is not taken off. What lanes of
    a warp read from one address with one instruction counts once.
    """

    launches: int = 0
    threads: int = 0
    barriers: int = 0
    warp_barriers: int = 0
    atomics: int = 0
    global_bytes_read: int = 0
    global_bytes_written: int = 0
    shared_bytes_read: int = 0
    shared_bytes_written: int = 0
    accesses: tuple[Access, ...] = ()
    arrays: tuple[ArrayTraffic, ...] = ()

    def __add__(self, other: Counters) -> Counters:
        """Return the sums; accesses at one line are put together, arrays are listed by launch."""
        numbers = {
            item.name: getattr(self, item.name) + getattr(other, item.name)
            for item in fields(self)
            if item.name not in _LISTED
        }
        accesses = merged(self.accesses + other.accesses)
        return Counters(**numbers, accesses=accesses, arrays=self.arrays + other.arrays)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        listed = {name: [_plain(item) for item in getattr(self, name)] for name in _LISTED}
        return {**_plain(self), **listed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Counters:
        """Return what `as_dict` made.

        Raises:
            KeyError, TypeError: it is not of that form.
        """
        accesses = tuple(Access(**item) for item in data["accesses"])
        arrays = tuple(ArrayTraffic(**item) for item in data["arrays"])
        return cls(**{**data, "accesses": accesses, "arrays": arrays})


def _plain(item: Access | ArrayTraffic | Counters) -> dict[str, Any]:
    """Return the fields as they are: `asdict` would copy each number, for each launch."""
    return {field.name: getattr(item, field.name) for field in fields(item)}


def merged(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
    """Return one entry per line, space and direction, by line."""
    sums: dict[tuple[int, str, bool], list[int]] = {}
    for item in accesses:
        key = (item.line or 0, item.space, item.write)
        numbers = (item.bytes, item.requests, item.sectors, item.ideal_sectors, item.bank_conflicts)
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * 5), numbers, strict=True)]
    return tuple(
        Access(line or None, space, write, *numbers)
        for (line, space, write), numbers in sorted(sums.items())
    )
