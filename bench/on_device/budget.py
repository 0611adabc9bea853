"""How much time there is, and what was left out for want of it."""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """Seconds to spend, from now on. What is left out is said, never silently dropped."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self.seconds = seconds
        self.left_out: list[str] = []

    def spent(self) -> float:
        """Return the seconds since the beginning."""
        return self._clock() - self._begun

    def left(self) -> float:
        """Return the seconds that remain, never less than 0."""
        return max(0.0, self.seconds - self.spent())

    def part(self, seconds: float) -> Budget:
        """Return a budget for a part of the work: these seconds, or all that is left if less.

        What is left out of the part is left out of the whole.
        """
        made = Budget(min(seconds, self.left()), self._clock)
        made.left_out = self.left_out
        return made

    def leave_out(self, what: str, why: str) -> None:
        """Record that something was not done."""
        self.left_out.append(f"{what}: {why}")
