"""A referee's device, through CuPy. Creating one initialises the driver, so use child processes."""

from __future__ import annotations

import ctypes
from typing import Any, Final

PERSISTING_L2_CACHE_SIZE: Final = 0x06
"""`cudaLimitPersistingL2CacheSize`."""
FIRST_WITH_PERSISTING_L2: Final = 8
_LEAST_FLUSH_BYTES: Final = 256 << 20
_DEVICE_TO_DEVICE: Final = 3


class CudaDevice:
    """The one device that this process sees."""

    def __init__(self) -> None:
        import cupy

        self.xp: Any = cupy
        self._runtime = cupy.cuda.runtime
        found = self._runtime.getDeviceProperties(0)
        nbytes = max(_LEAST_FLUSH_BYTES, 2 * int(found["l2CacheSize"]))
        self._other_data = cupy.empty(nbytes // 4, cupy.int32)
        self._turn = 0
        self._keeps_lines = int(found["major"]) >= FIRST_WITH_PERSISTING_L2
        if self._keeps_lines:
            self._runtime.deviceSetLimit(PERSISTING_L2_CACHE_SIZE, 0)

    def synchronize(self) -> None:
        """Wait for all work of this process on the device."""
        self._runtime.deviceSynchronize()

    def copy(self, target: Any, source: Any) -> None:
        """Copy an array over another of its size, by the driver."""
        self._runtime.memcpy(target.data.ptr, source.data.ptr, source.nbytes, _DEVICE_TO_DEVICE)

    def clear_caches(self) -> None:
        """Take persisting lines back, whoever made them, and write over the second-level cache.

        Raises:
            RuntimeError: the driver cannot.
        """
        self._turn += 1
        if self._keeps_lines:
            status = ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache()
            if status:
                raise RuntimeError(f"cuCtxResetPersistingL2Cache failed with status {status}")
        self._other_data.fill(self._turn)

    def download(self, array: Any, out: Any) -> None:
        """Copy an array into a contiguous NumPy array of its dtype and shape."""
        self.xp.asnumpy(array, out=out)
