"""How the device is asked for things by CuPy, against a stand-in for CuPy's runtime."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest

from bench.executor_outputs import use_executor
from bench.on_device import driver

PROPERTIES = {
    "name": b"stand-in for CuPy's runtime",
    "major": 9,
    "minor": 0,
    "multiProcessorCount": 132,
    "totalGlobalMem": 1 << 37,
    "l2CacheSize": 60 << 20,
}


class Runtime:
    memcpyDeviceToDevice = 3

    def __init__(self, log: list[Any], major: int) -> None:
        self._log = log
        self._major = major

    def getDeviceProperties(self, number: int) -> dict[str, Any]:
        return {**PROPERTIES, "major": self._major}

    def driverGetVersion(self) -> int:
        return 13010

    def runtimeGetVersion(self) -> int:
        return 12090

    def deviceSetLimit(self, limit: int, value: int) -> None:
        self._log.append(("limit", limit, value))

    def memcpyAsync(self, *arguments: Any) -> None:
        self._log.append(("memcpy", *arguments))


class Array:
    def __init__(self, log: list[Any], size: int, pointer: int = 0) -> None:
        self._log, self.nbytes = log, size
        self.data = SimpleNamespace(ptr=pointer)

    def fill(self, value: int) -> None:
        self._log.append(("fill", self.nbytes, value))


def made(monkeypatch: pytest.MonkeyPatch, major: int = 9) -> tuple[Any, list[Any]]:
    """Return a `CudaDevice` on the stand-in, and the log of what it asks for."""
    use_executor()
    cuda = importlib.import_module("bench.on_device.cuda")
    log: list[Any] = []
    null = SimpleNamespace(ptr=0)

    class Event:
        def record(self, stream: Any) -> None:
            log.append(("event", stream is null))

        def synchronize(self) -> None:
            log.append(("wait",))

    cupy = SimpleNamespace(
        __version__="0",
        int32="int32",
        empty=lambda count, dtype: Array(log, count * 4),
        cuda=SimpleNamespace(
            runtime=Runtime(log, major),
            Device=lambda: SimpleNamespace(id=0, pci_bus_id="0000:0A:00.0"),
            Stream=SimpleNamespace(null=null),
            Event=Event,
            get_elapsed_time=lambda first, last: 1.5,
        ),
    )
    monkeypatch.setattr(cuda, "cupy", cupy)
    monkeypatch.setattr(driver, "reset_persisting_l2", lambda: log.append(("reset",)))
    return cuda.CudaDevice(), log


def test_a_device_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    device, _ = made(monkeypatch)
    found = device.identity()
    assert (found.compute_capability, found.driver, found.runtime) == ("9.0", "13.1", "12.9")
    assert (found.l2_bytes, found.multiprocessors) == (60 << 20, 132)
    assert device.bus == "0000:0a:00.0"


def test_caches_are_cleared_by_a_reset_and_by_data_far_larger_than_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device, log = made(monkeypatch)
    assert log == [("limit", 6, 0)]
    device.clear_caches()
    device.clear_caches()
    fills = [entry for entry in log if entry[0] == "fill"]
    assert log.count(("reset",)) == 2
    assert min(nbytes for _, nbytes, _ in fills) >= 2 * (60 << 20)
    assert fills[0][2] != fills[1][2]


def test_a_device_from_before_persisting_lines_is_not_asked_to_reset_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device, log = made(monkeypatch, major=7)
    device.clear_caches()
    assert [entry[0] for entry in log] == ["fill"]


def test_a_copy_and_events_go_to_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    device, log = made(monkeypatch)
    log.clear()
    device.copy(Array(log, 64, pointer=100), Array(log, 64, pointer=200))
    first, last = device.event(), device.event()
    assert device.elapsed_ms(first, last) == 1.5
    assert log == [("memcpy", 100, 200, 64, 3, 0), ("event", True), ("event", True), ("wait",)]
