"""Lists the NVIDIA devices of this machine from what the kernel module shows, without a driver."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEVICES_OF_ALL: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm")
"""Besides a device's own node, what every process that uses CUDA opens."""
_MODULE: Final = "proc/driver/nvidia"
_VERSION: Final = re.compile(r"Kernel Module\D*?(\d+\.\d+(?:\.\d+)?)\b")
_MODULE_64: Final = "x86_64"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device. `problem` says why a process of this user cannot use it, empty if it can."""

    uuid: str
    name: str
    bus: str
    minor: int
    problem: str = ""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The device nodes that a process needs to use this device, and no other."""
        return (f"/dev/nvidia{self.minor}", *DEVICES_OF_ALL)


def find(root: Path = Path("/")) -> list[Gpu]:
    """Return the devices that the kernel module shows, by bus; none where it is not loaded.

    `root` is the folder below which /proc and /dev are looked for.
    """
    found = []
    for path in sorted((root / _MODULE / "gpus").glob("*/information")):
        try:
            fields = _fields(path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        minor = fields.get("Device Minor", "")
        if not minor.isdecimal():
            continue
        gpu = Gpu(
            uuid=fields.get("GPU UUID", "")[:200],
            name=fields.get("Model", "")[:200],
            bus=path.parent.name,
            minor=int(minor),
        )
        found.append(Gpu(gpu.uuid, gpu.name, gpu.bus, gpu.minor, _problem(root, gpu)))
    return found


def driver_version(root: Path = Path("/")) -> str:
    """Return the version of the kernel module, for example 580.65.06; empty without one."""
    try:
        text = (root / _MODULE / "version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    found = _VERSION.search(text.replace(_MODULE_64, ""))
    return found[1] if found else ""


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _problem(root: Path, gpu: Gpu) -> str:
    for node in gpu.nodes:
        path = root / node.lstrip("/")
        if not path.exists():
            advice = (
                "Load the module nvidia-uvm on the host (nvidia-modprobe -u -c 0)."
                if node.endswith("uvm")
                else "Give it to this container, or run nvidia-smi once on the host to make it."
            )
            return f"The device node {node} is missing. {advice}"
        if not os.access(path, os.R_OK | os.W_OK):
            return f"This worker's user may not open {node} for reading and writing."
    return ""
