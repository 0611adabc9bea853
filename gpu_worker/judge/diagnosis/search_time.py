"""The time limit of the search for known mistakes, in processor time of its thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

SEARCH_SECONDS: Final = 1.0
"""For the whole search of a grading, on every track. Mistakes not found by then stay unnamed."""


class SearchTime:
    """The time that is left for a search. By the clock it would depend on what else runs here."""

    def __init__(
        self,
        seconds: float = SEARCH_SECONDS,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._end = clock() + seconds
        self.ran_out = False
        """Whether the limit was found exceeded, so that something was not tried."""

    def is_over(self) -> bool:
        """Return whether the search is to end; it is not tried to its end then."""
        self.ran_out = self.ran_out or self._clock() > self._end
        return self.ran_out


UNHURRIED: Final = float("inf")
"""The seconds for a search that must run to completion."""
