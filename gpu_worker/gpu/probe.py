"""The probe: a separate process that uses the one device it sees, and says what it found.

`python -m gpu_worker.gpu.probe UUID` with CUDA_VISIBLE_DEVICES set. Runs a kernel and checks its
results, times copies, and prints one line of JSON. Exits with 1 and a reason on standard error if
the device does not work.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from typing import Any, Final

from gpu_worker.sandbox.inside.layers import process

COPY_BYTES: Final = 256 << 20
COPIES: Final = 7
COUNT: Final = 1 << 20
WRONG: Final = "a simple kernel gave wrong results"
_SOURCE: Final = r"""
extern "C" __global__ void probe(unsigned int* out, unsigned int count, unsigned int seed) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = (i ^ seed) * 2654435761u;
}
"""


def examine(cupy: Any, uuid: str) -> dict[str, Any]:
    """Return what the current device says of itself and shows.

    Raises:
        RuntimeError: it computes wrongly, or the driver refused something.
    """
    from gpu_worker.gpu import nvml

    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(0)
    free, total = runtime.memGetInfo()
    _check_kernel(cupy)
    return {
        "name": properties["name"].decode("utf-8", "replace")[:200],
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "cuda": _version(runtime.runtimeGetVersion()),
        "cuda_of_driver": _version(runtime.driverGetVersion()),
        "cupy": str(cupy.__version__),
        "memory_megabytes": total >> 20,
        "free_megabytes": free >> 20,
        "copy_gigabytes_per_second": round(_copy_rate(cupy, min(COPY_BYTES, free // 4)), 1),
        **nvml.readings(uuid),
    }


def _check_kernel(cupy: Any) -> None:
    import numpy as np

    kernel = cupy.RawKernel(_SOURCE, "probe")
    out = cupy.zeros(COUNT, cupy.uint32)
    kernel((COUNT // 256,), (256,), (out, np.uint32(COUNT), np.uint32(12345)))
    expected = (np.arange(COUNT, dtype=np.uint32) ^ np.uint32(12345)) * np.uint32(2654435761)
    if not np.array_equal(cupy.asnumpy(out), expected):
        raise RuntimeError(WRONG)


def _copy_rate(cupy: Any, nbytes: int) -> float:
    """Return the median rate of device copies in GB/s, reading and writing both counted."""
    source, target = cupy.zeros(nbytes, cupy.uint8), cupy.empty(nbytes, cupy.uint8)
    rates = []
    for _ in range(COPIES):
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        first.record()
        cupy.copyto(target, source)
        last.record()
        last.synchronize()
        milliseconds = cupy.cuda.get_elapsed_time(first, last)
        rates.append(2 * nbytes / max(milliseconds, 1e-6) / 1e6)
    # The first copy includes one-time setup.
    return statistics.median(rates[1:])


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def main(uuid: str) -> int:
    # A probe that hangs must not outlive its worker.
    process.die_with_parent(os.getppid())
    try:
        import cupy

        found = examine(cupy, uuid)
    except Exception as error:  # noqa: BLE001  whatever it is, the parent must hear it
        sys.stderr.write(f"{type(error).__name__}: {error}"[:1_000])
        return 1
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
