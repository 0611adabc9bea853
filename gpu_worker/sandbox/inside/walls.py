"""Which walls a zygote's runners get: decided by the worker, passed to the zygote as it starts."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass

from .device.walls import DeviceWalls


@dataclass(frozen=True, slots=True)
class Walls:
    """The walls, and what the layers need to put them on.

    `namespaces`: each run has its own. `landlock`: the version to use at most, 0 for none.
    `program`: the seccomp filter, empty for none. `user`: whom the runner becomes, None where the
    worker is not root. `readable`: what the runner may read under Landlock. `modules`: packages
    to load for the CuPy track, with the folder of each; `builds`: where the worker puts what it
    builds for a run, empty for nowhere. `device`: what a run with a device gets, None without one.
    """

    namespaces: bool
    landlock: int
    program: bytes
    user: int | None
    readable: tuple[str, ...]
    modules: tuple[tuple[str, str], ...] = ()
    builds: str = ""
    device: DeviceWalls | None = None

    def to_bytes(self) -> bytes:
        fields = asdict(self)
        fields["program"] = base64.b64encode(self.program).decode("ascii")
        if self.device:
            fields["device"]["sealing"] = base64.b64encode(self.device.sealing).decode("ascii")
        return json.dumps(fields).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> Walls:
        fields = json.loads(data)
        fields["program"] = base64.b64decode(fields["program"])
        fields["readable"] = tuple(fields["readable"])
        fields["modules"] = tuple((name, folder) for name, folder in fields["modules"])
        if fields["device"] is not None:
            fields["device"] = DeviceWalls.from_fields(fields["device"])
        return cls(**fields)
