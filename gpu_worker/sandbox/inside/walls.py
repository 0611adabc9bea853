"""Which walls a zygote's runners get: decided by the worker, told to the zygote as it starts."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Walls:
    """The walls, and what the layers need to put them on.

    `namespaces`: each run has its own. `landlock`: the version to use at most, 0 for none.
    `program`: the seccomp filter, empty for none. `user`: whom the runner becomes, None where the
    worker is not root. `readable`: what the runner may read under Landlock. `modules`: packages
    to load for the CuPy track, with the folder of each; `builds`: where the worker puts what it
    builds for a run, empty for nowhere.
    """

    namespaces: bool
    landlock: int
    program: bytes
    user: int | None
    readable: tuple[str, ...]
    modules: tuple[tuple[str, str], ...] = ()
    builds: str = ""

    def to_bytes(self) -> bytes:
        fields = asdict(self)
        fields["program"] = base64.b64encode(self.program).decode("ascii")
        return json.dumps(fields).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> Walls:
        fields = json.loads(data)
        fields["program"] = base64.b64decode(fields["program"])
        fields["readable"] = tuple(fields["readable"])
        fields["modules"] = tuple((name, folder) for name, folder in fields["modules"])
        return cls(**fields)
