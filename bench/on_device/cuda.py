"""The device by CuPy. Importing this module needs CuPy; making a `CudaDevice` needs a GPU."""

from __future__ import annotations

from typing import Any, Final

import cupy

from bench.on_device import driver
from bench.on_device.api import Identity

PERSISTING_L2_CACHE_SIZE: Final = 0x06
"""`cudaLimitPersistingL2CacheSize`."""
FIRST_WITH_PERSISTING_L2: Final = 8.0
_LEAST_FLUSH_BYTES: Final = 1 << 30
"""Writing this much takes the device longer than the host takes to queue what comes next."""


class CudaDevice:
    """The current CUDA device. All work goes to the legacy default stream, as PyTorch's does."""

    def __init__(self) -> None:
        self.xp: Any = cupy
        self._runtime = cupy.cuda.runtime
        self._device = cupy.cuda.Device()
        self._identity = self._identify()
        nbytes = max(_LEAST_FLUSH_BYTES, 2 * self._identity.l2_bytes)
        self._other_data = cupy.empty(nbytes // 4, cupy.int32)
        self._turn = 0
        self._keeps_lines = float(self._identity.compute_capability) >= FIRST_WITH_PERSISTING_L2
        if self._keeps_lines:
            # Nothing can be made persistent from now on.
            self._runtime.deviceSetLimit(PERSISTING_L2_CACHE_SIZE, 0)

    @property
    def bus(self) -> str:
        """The device's place on the bus, as the kernel module writes it."""
        return str(self._device.pci_bus_id).lower()

    def identity(self) -> Identity:
        return self._identity

    def _identify(self) -> Identity:
        found = self._runtime.getDeviceProperties(self._device.id)
        return Identity(
            name=found["name"].decode(),
            compute_capability=f"{found['major']}.{found['minor']}",
            multiprocessors=int(found["multiProcessorCount"]),
            memory_bytes=int(found["totalGlobalMem"]),
            l2_bytes=int(found["l2CacheSize"]),
            driver=_version(self._runtime.driverGetVersion()),
            runtime=_version(self._runtime.runtimeGetVersion()),
            cupy=cupy.__version__,
        )

    def upload(self, values: Any) -> Any:
        return cupy.asarray(values)

    def download(self, array: Any) -> Any:
        return cupy.asnumpy(array)

    def copy(self, target: Any, source: Any) -> None:
        self._runtime.memcpyAsync(
            target.data.ptr,
            source.data.ptr,
            source.nbytes,
            self._runtime.memcpyDeviceToDevice,
            cupy.cuda.Stream.null.ptr,
        )

    def event(self) -> Any:
        event = cupy.cuda.Event()
        event.record(cupy.cuda.Stream.null)
        return event

    def elapsed_ms(self, first: Any, last: Any) -> float:
        last.synchronize()
        return float(cupy.cuda.get_elapsed_time(first, last))

    def synchronize(self) -> None:
        self._device.synchronize()

    def clear_caches(self) -> None:
        self._turn += 1
        if self._keeps_lines:
            driver.reset_persisting_l2()
        self._other_data.fill(self._turn)

    def free(self) -> None:
        cupy.get_default_memory_pool().free_all_blocks()

    def readings(self) -> dict[str, str]:
        return driver.readings(self._device.pci_bus_id)


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"
