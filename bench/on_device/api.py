"""The small part of a device that the measurements use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device says of itself. Sizes in bytes; versions as NVIDIA writes them."""

    name: str
    compute_capability: str
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    driver: str
    runtime: str
    cupy: str


class Event(Protocol):
    """A mark in the device's work, made where it is recorded."""


class Device(Protocol):
    """One device, with arrays by `xp`, which is CuPy.

    Work is queued and runs in order; only `synchronize`, `elapsed_ms` and `download` wait for it.
    """

    xp: Any

    def identity(self) -> Identity:
        """Return what the device is."""

    def upload(self, values: Any) -> Any:
        """Return a copy of a NumPy array on the device."""

    def download(self, array: Any) -> Any:
        """Return a copy of a device array as a NumPy array."""

    def copy(self, target: Any, source: Any) -> None:
        """Copy one array over another of the same size, by the driver."""

    def event(self) -> Event:
        """Record an event after all that is queued."""

    def elapsed_ms(self, first: Event, last: Event) -> float:
        """Return the milliseconds between two events, when both have been reached."""

    def synchronize(self) -> None:
        """Wait for all of the device's work.

        Raises:
            RuntimeError: some of it failed.
        """

    def clear_caches(self) -> None:
        """Take persisting lines back and fill the second-level cache with other data.

        The work that is queued for it also lets the host get ahead of the device.
        """

    def free(self) -> None:
        """Give memory that is not in use back to the device."""

    def readings(self) -> dict[str, str]:
        """Return clocks, temperature and power as the driver tells them, with units; or nothing."""
