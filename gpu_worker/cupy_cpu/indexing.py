"""What an index is: whether it gives a view, and whether a function of `cupy.fuse` may have it."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_all(index: Any) -> bool:
    """True for the indices to which a function of `cupy.fuse` may assign."""
    return index is ... or (isinstance(index, slice) and index == slice(None))


def is_whole(place: Any) -> bool:
    """True for the indices that such a function may take of an axis: all of it, or one."""
    whole = (slice(None), slice(None, None, 1), slice(None, None, -1))
    return not isinstance(place, slice) or place in whole


def is_basic(places: tuple[Any, ...]) -> bool:
    """True if an index gives a view: numbers, slices, new axes and `...`."""
    return all(
        place is None
        or place is ...
        or isinstance(place, slice)
        or (isinstance(place, (int, np.integer)) and not isinstance(place, bool))
        for place in places
    )
