"""Folders that look like /proc and /dev of a machine with NVIDIA devices."""

from __future__ import annotations

from pathlib import Path

INFORMATION = """\
Model: \t\t NVIDIA H200
IRQ:   \t\t 35
GPU UUID: \t {uuid}
Video BIOS: \t 96.00.bc.00.02
Bus Type: \t PCIe
Bus Location: \t {bus}
Device Minor: \t {minor}
"""
VERSION = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  "
    "(dvs-builder@x)  Sun Jul 27 07:08:44 UTC 2025\n"
    "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
)


def machine(root: Path, minors: tuple[int, ...] = (0,)) -> Path:
    """Make a machine with a device for each minor number; device nodes are plain files."""
    (root / "dev").mkdir(parents=True)
    for name in ("nvidiactl", "nvidia-uvm"):
        (root / "dev" / name).touch()
    for place, minor in enumerate(minors):
        bus = f"0000:{place + 1:02x}:00.0"
        folder = root / "proc/driver/nvidia/gpus" / bus
        folder.mkdir(parents=True)
        uuid = f"GPU-{minor:08d}-aaaa"
        text = INFORMATION.format(uuid=uuid, bus=bus, minor=minor)
        (folder / "information").write_text(text)
        (root / "dev" / f"nvidia{minor}").touch()
    (root / "proc/driver/nvidia/version").write_text(VERSION)
    return root
