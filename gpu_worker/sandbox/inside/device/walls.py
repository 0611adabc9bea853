"""What a runner with a device gets beyond others: decided by the worker, passed to the zygote."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class DeviceWalls:
    """The device's nodes as paths inside, its environment, and what replaces usual limits.

    `sealing` is the filter that comes on once the device is in use.
    """

    nodes: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    threads: int
    open_files: int
    sealing: bytes

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> DeviceWalls:
        """Return what `dataclasses.asdict` made a dictionary of, after its way through JSON."""
        return cls(
            nodes=tuple(fields["nodes"]),
            environment=tuple((name, value) for name, value in fields["environment"]),
            threads=fields["threads"],
            open_files=fields["open_files"],
            sealing=base64.b64decode(fields["sealing"]),
        )
