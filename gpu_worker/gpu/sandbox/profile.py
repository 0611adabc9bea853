"""The files and nodes that a runner with a device gets inside, computed from this machine's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpu_worker.sandbox.bubblewrap import PACKAGES
from gpu_worker.sandbox.inside.layers.namespaces import SCRATCH

DRIVER_LIBRARY: Final = "libcuda.so.1"
CUPY_PACKAGES: Final = ("cupy", "cupy_backends", "cupyx", "cuda", "nvidia", "fastrlock")
"""CuPy, and what it imports; `nvidia` holds NVIDIA's compiler and headers."""
_OFTEN: Final = ("/usr/local/nvidia/lib", "/usr/local/nvidia/lib64")
"""Where container runtimes put the driver's libraries outside the system's folders."""
_BOUND_ANYWAY: Final = ("/lib", "/usr/lib")
_NEVER: Final = frozenset({"nvidia-uvm-tools", "nvidia-modeset"})
THREADS: Final = 64
OPEN_FILES: Final = 512


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """One device as runners get it.

    `nodes` are its device nodes here, with their paths inside. `libraries` are folders of the
    driver's libraries beyond the system's own, `packages` those of Python packages.
    `memory_bytes` is what a program may take of the device's memory, by CuPy's own count;
    `kernels` the folder of kernels that were compiled ahead, empty for none.
    """

    uuid: str
    nodes: tuple[tuple[str, str], ...]
    libraries: tuple[str, ...]
    packages: tuple[str, ...]
    memory_bytes: int
    kernels: str = ""

    def environment(self) -> dict[str, str]:
        """Return the variables that runners have beyond the usual ones.

        Compiled kernels are kept in the run's own folder in memory, and nowhere else: what one
        submission compiles, no other finds. CuPy looks for that folder as it is imported, so it is
        one that the zygote has too, where it is empty and cannot be written to.
        """
        return {
            "CUDA_VISIBLE_DEVICES": self.uuid,
            "CUDA_CACHE_DISABLE": "1",
            "CUDA_MODULE_LOADING": "LAZY",
            "CUPY_CACHE_DIR": SCRATCH,
            "CUPY_GPU_MEMORY_LIMIT": str(self.memory_bytes),
            **({"CUDA_PATH": toolkits[-1]} if (toolkits := self._toolkits()) else {}),
        }

    def loader_path(self) -> dict[str, str]:
        """Return where the zygote's loader looks besides the system's folders, as a variable.

        It is read when a program starts, so it belongs to the zygote's own environment.
        """
        toolkits = [f"{toolkit}/lib" for toolkit in self._toolkits()]
        paths = ":".join((*self.libraries, *toolkits))
        return {"LD_LIBRARY_PATH": paths} if paths else {}

    def _toolkits(self) -> list[str]:
        """Return where NVIDIA's compiler and headers lie inside, by version."""
        found = [path for folder in self.packages for path in Path(folder).glob("cu[0-9]*")]
        return sorted(f"{PACKAGES}/{path.parent.name}/{path.name}" for path in found)


def bound_nodes(wanted: Sequence[str], root: Path = Path("/")) -> tuple[tuple[str, str], ...]:
    """Return the device nodes below `root` that exist of those wanted, with their paths inside.

    Never those that only tools need, whatever is asked for.
    """
    found = []
    for inside in dict.fromkeys(wanted):
        here = root / inside.lstrip("/")
        if here.exists() and here.name not in _NEVER:
            found.append((str(here), inside))
    return tuple(found)


def driver_folders(
    environment: Mapping[str, str], often: Sequence[str] = _OFTEN
) -> tuple[str, ...]:
    """Return the folders with the driver's library that are not bound with the system's own."""
    named = [path for path in environment.get("LD_LIBRARY_PATH", "").split(":") if path]
    candidates = [os.path.normpath(path) for path in (*named, *often) if path.startswith("/")]
    return tuple(
        path
        for path in dict.fromkeys(candidates)
        if not path.startswith(_BOUND_ANYWAY) and Path(path, DRIVER_LIBRARY).exists()
    )


def package_folders(site: Path) -> tuple[str, ...]:
    """Return the folders of CuPy and of what it needs that are installed beside each other."""
    return tuple(str(site / name) for name in CUPY_PACKAGES if (site / name).is_dir())
