"""A stand-in for a device, for the control flow of the measurements and nothing else.

Kernels run in the CPU executor. Its clock is moved by the bytes that they move, not by time, so
its figures are invented: `bench.on_device.writing` refuses to keep them, since no driver knows a
device of this name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.executor_outputs import use_executor
from bench.on_device.api import Identity
from gpu_worker.cupy_cpu import traffic

NAME = "stand-in device of the tests"
COPY_BYTES_PER_SECOND = 1e9


@dataclass
class StandInEvent:
    at: float


class StandInDevice:
    """`work` is what was asked for, in order; `clock` its seconds."""

    bus = "none"

    def __init__(self) -> None:
        self.xp: Any = use_executor()
        self.seconds = 0.0
        self.work: list[str] = []

    def clock(self) -> float:
        return self.seconds

    def identity(self) -> Identity:
        return Identity(NAME, "0.0", 1, 1, 1, "0.0", "0.0", "0.0")

    def upload(self, values: Any) -> Any:
        return self.xp.asarray(values)

    def download(self, array: Any) -> Any:
        return self.xp.asnumpy(array)

    def copy(self, target: Any, source: Any) -> None:
        self.work.append("copy")
        target[...] = source

    def event(self) -> StandInEvent:
        self.work.append("event")
        moved = traffic.take()
        self.seconds += (moved.bytes_read + moved.bytes_written) / COPY_BYTES_PER_SECOND
        return StandInEvent(self.seconds)

    def elapsed_ms(self, first: StandInEvent, last: StandInEvent) -> float:
        return (last.at - first.at) * 1e3

    def synchronize(self) -> None:
        self.work.append("synchronize")

    def clear_caches(self) -> None:
        self.work.append("clear")
        self.seconds += 1e-4

    def free(self) -> None:
        self.work.append("free")

    def readings(self) -> dict[str, str]:
        return {"clocks.sm": "0 MHz"}
