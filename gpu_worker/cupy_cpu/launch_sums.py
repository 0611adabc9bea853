"""What the launches of one kernel moved in a call, summed in constant space.

Launches of one kernel may differ, so each counts with what it moved itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Final

from .executor import ArrayTraffic, Counters

MOST_ARRAYS: Final = 64
"""So many arrays of a kernel are told apart, by place and size. Of others nobody says that a cache
serves them, so that all they move counts.
"""
_SUMMED: Final = ("barriers", "global_bytes_read", "global_bytes_written")
_KEY: Final = ("place", "label", "nbytes")
_MOVED: Final = tuple(item.name for item in fields(ArrayTraffic) if item.name not in _KEY)


@dataclass(slots=True)
class LaunchSums:
    """One kernel of one build. `generated`: its source was written around expressions.

    Sizes, and how a warp's accesses fall together, are of the launch with the most threads of a
    block, and of those with the most blocks: what occupancy and local memory follow from.
    """

    name: str
    build: int
    generated: bool = field(kw_only=True)
    launches: int = 0
    _largest: tuple[int, int] = (0, 0)
    _size: dict[str, Any] = field(default_factory=dict)
    _shown: Counters = field(default_factory=Counters)
    _sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SUMMED, 0))
    _arrays: dict[tuple[int, str, int], dict[str, int]] = field(default_factory=dict)

    def add(
        self, grid: tuple[int, ...], block: tuple[int, ...], shared_mem: int, counters: Counters
    ) -> None:
        """Add what one launch did."""
        self.launches += 1
        size = (math.prod(block), math.prod(grid))
        if size >= self._largest:
            self._largest, self._shown = size, counters
            self._size = {"grid": list(grid), "block": list(block), "shared_mem": shared_mem}
        for name in _SUMMED:
            self._sums[name] += getattr(counters, name)
        for array in counters.arrays:
            self._add_array(array)

    def _add_array(self, array: ArrayTraffic) -> None:
        key = (array.place, array.label, array.nbytes)
        sums = self._arrays.get(key)
        if sums is None:
            if len(self._arrays) >= MOST_ARRAYS:
                return
            sums = self._arrays[key] = dict.fromkeys(_MOVED, 0)
        most = max(sums["most_read"], array.most_read)
        for name in _MOVED:
            sums[name] += getattr(array, name)
        sums["most_read"] = most

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        arrays = [
            {**dict(zip(_KEY, key, strict=True)), **sums} for key, sums in self._arrays.items()
        ]
        return {
            "name": self.name[:200],
            "build": self.build,
            **self._size,
            "generated": self.generated,
            "launches": self.launches,
            "counters": {**self._shown.as_dict(), **self._sums, "arrays": arrays},
        }
