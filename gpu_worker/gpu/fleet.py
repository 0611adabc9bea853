"""The devices of a node over time: examined periodically, quarantined while they fail."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from gpu_worker.gpu import inventory, quarantine
from gpu_worker.gpu.examination import Facts, UnusableError, examine
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.lock import BusyError, device_lock
from gpu_worker.gpu.warming import warm
from gpu_worker.messages.protocol import GpuReport

EXAMINED_EVERY_SECONDS: Final = 300.0
FIRST_RETRY_SECONDS: Final = 30.0
LAST_RETRY_SECONDS: Final = 1_800.0
LOOKED_AT_EVERY_SECONDS: Final = 10.0
GONE: Final = "The kernel module no longer shows this device."
NONE_SHOWN: Final = "This machine shows no NVIDIA device: /proc/driver/nvidia/gpus lists none."

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Health:
    """What is known of a device. `reason` is why it is in quarantine, empty if it is not."""

    facts: Facts | None = None
    reason: str = ""
    failures: int = 0
    next_at: float = 0.0
    busy: bool = False

    def passed(self, facts: Facts, now: float) -> None:
        """Take note of an examination that a device passed: it is out of quarantine."""
        self.facts, self.reason, self.failures, self.busy = facts, "", 0, False
        self.next_at = now + EXAMINED_EVERY_SECONDS

    def failed(self, reason: str, now: float) -> None:
        """Put the device in quarantine, twice as long as the last time."""
        self.reason, self.busy = reason, False
        # The exponent is bounded: a device may fail for weeks.
        doublings = min(self.failures, 20)
        self.next_at = now + min(FIRST_RETRY_SECONDS * 2**doublings, LAST_RETRY_SECONDS)
        self.failures += 1


class Fleet:
    """All devices of this machine, also those that appear or vanish later."""

    def __init__(
        self,
        find: Callable[[], Sequence[Gpu]] = inventory.find,
        examine: Callable[[Gpu], Facts] = examine,
        clock: Callable[[], float] = time.monotonic,
        warm: Callable[[Gpu, Facts], None] = warm,
    ) -> None:
        """`warm` compiles ahead what submissions will need, once, before a device is ready."""
        self._find = find
        self._examine = examine
        self._warm = warm
        self._clock = clock
        self._known: dict[str, Gpu] = {}
        self._health: dict[str, Health] = {}
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Look for devices, and examine those whose time has come. May take a minute for each."""
        found = {gpu.uuid: gpu for gpu in self._find()}
        with self._lock:
            self._take_note(found)
        for uuid, gpu in found.items():
            if self._clock() >= self._health[uuid].next_at:
                self._examine_now(gpu, self._health[uuid])

    def _take_note(self, found: dict[str, Gpu]) -> None:
        for uuid, gpu in found.items():
            health = self._health.setdefault(uuid, Health())
            if self._known.get(uuid, gpu) != gpu:
                # Its device nodes changed, so the last examination may no longer hold.
                health.next_at = self._clock()
        for uuid in self._known.keys() - found.keys():
            health = self._health[uuid]
            if health.reason != GONE:
                logger.error("The GPU %s is gone.", uuid)
            health.reason, health.next_at = GONE, self._clock()
        self._known |= found
        for uuid in found:
            self._hear_of_lanes(uuid, self._health[uuid])

    def _hear_of_lanes(self, uuid: str, health: Health) -> None:
        """Take note of a quarantine that a lane has put a device into."""
        reason = quarantine.reason(uuid)
        if reason and not health.reason:
            health.failed(reason, self._clock())

    def _examine_now(self, gpu: Gpu, health: Health) -> None:
        was = health.reason
        try:
            with device_lock(gpu.uuid):
                facts = self._examine(gpu)
                self._warm(gpu, facts)
        except BusyError:
            # Somebody is using it, so it works; measuring it now would disturb both.
            with self._lock:
                health.busy = True
            return
        except (UnusableError, OSError) as error:
            with self._lock:
                health.failed(str(error)[:4_000], self._clock())
            self._put(gpu.uuid, health.reason)
            logger.error("The GPU %s (%s) is in quarantine: %s", gpu.uuid, gpu.name, error)
            return
        with self._lock:
            health.passed(facts, self._clock())
        quarantine.lift(gpu.uuid)
        if was:
            logger.warning("The GPU %s (%s) works again.", gpu.uuid, gpu.name)

    def _put(self, uuid: str, reason: str) -> None:
        try:
            quarantine.put(uuid, reason)
        except OSError as error:
            # This node reports it anyway; other workers examine it themselves.
            logger.warning("The quarantine of %s could not be written: %s", uuid, error)

    def reports(self) -> list[GpuReport]:
        """Return what is known of each device, in the order of their buses."""
        with self._lock:
            gpus = sorted(self._known.values(), key=lambda gpu: gpu.bus)
            return [self._report(gpu, self._health[gpu.uuid]) for gpu in gpus]

    def _report(self, gpu: Gpu, health: Health) -> GpuReport:
        known = {} if health.facts is None else health.facts.model_dump()
        waits = max(0.0, health.next_at - self._clock()) if health.reason else 0.0
        return GpuReport.model_validate(
            {
                "name": gpu.name,
                **known,
                "uuid": gpu.uuid,
                "driver": inventory.driver_version(),
                "state": _state(health),
                "reason": health.reason,
                "failures": health.failures,
                "retry_in_seconds": round(waits, 1),
            }
        )


def usable(reports: Sequence[GpuReport]) -> bool:
    """True if at least one device takes submissions, now or as soon as it is free."""
    return any(report.state in ("ready", "busy") for report in reports)


def why_unusable(reports: Sequence[GpuReport]) -> str:
    """Return in sentences why no device takes submissions, empty if one does."""
    if usable(reports):
        return ""
    return " ".join(map(_why, reports)) or NONE_SHOWN


def _why(report: GpuReport) -> str:
    if not report.reason:
        return f"{report.name} ({report.uuid}) has not been examined yet."
    return f"{report.name} ({report.uuid}) is in quarantine: {report.reason.rstrip('.')}."


def _state(health: Health) -> str:
    if health.reason:
        return "quarantined"
    if health.busy:
        return "busy"
    return "unknown" if health.facts is None else "ready"


class Watch(threading.Thread):
    """Keeps a fleet's knowledge fresh, beside the node's reports: a sick device takes its time."""

    def __init__(self, watched: Fleet, tell: Callable[[str], None] = lambda why: None) -> None:
        """`tell` is called after each look with why no device is usable, empty if one is."""
        super().__init__(name="gpu-watch", daemon=True)
        self._fleet = watched
        self._tell = tell

    def run(self) -> None:
        while True:
            try:
                self._fleet.refresh()
                self._tell(why_unusable(self._fleet.reports()))
            except Exception:
                # The worker goes on reporting, including that it knows nothing new.
                logger.exception("The node's GPUs could not be looked at.")
            time.sleep(LOOKED_AT_EVERY_SECONDS)


@cache
def fleet() -> Fleet:
    """Return this process's own fleet."""
    return Fleet()
