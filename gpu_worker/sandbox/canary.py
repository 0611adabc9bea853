"""The canary: a first submission that tries what must not be possible.

Whether a wall stands is never read from settings or from the kernel's version: a real runner,
started like every other, tests it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gpu_worker.sandbox import bubblewrap
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.inside.wire import Job, encode_job
from gpu_worker.sandbox.run import Request
from gpu_worker.sandbox.setup import INSIDE, Setup
from gpu_worker.sandbox.zygote import ZygoteProcess

_PROGRAM: Final = Path(__file__).with_name("canary_program.py")
_MEGABYTE: Final = 1 << 20
_MEMORY_BYTES: Final = 512 * _MEGABYTE
_FILE_BYTES: Final = 16 * _MEGABYTE
_SECONDS: Final = 5.0
_FILTERED: Final = 2
_ENVIRONMENT: Final = ["HOME", "LANG", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TMPDIR"]
_HARNESS: Final = "read the harness"
_SCRATCH: Final = "wrote to its scratch folder"


@dataclass(frozen=True, slots=True)
class Granted:
    """What a run is granted beyond the usual: what the canary may find possible.

    `limits` replaces usual limits by name, None for none; `environment` adds variables.
    """

    possible: frozenset[str] = frozenset()
    environment: tuple[str, ...] = ()
    dumpable: bool = False
    limits: Mapping[str, int | None] = field(default_factory=dict)


def breaches(zygote: ZygoteProcess, setup: Setup, granted: Granted | None = None) -> list[str]:
    """Run the canary; return in words what it could do although a wall should be there.

    `granted` is what this setup allows on purpose, nothing if it is left out.

    Raises:
        SandboxError: it could not be run, or did not come to its end.
    """
    with tempfile.TemporaryDirectory(prefix="learnml-canary-") as folder:
        # The folder is open to others, so that only a wall of the sandbox hides the file.
        Path(folder).chmod(0o755)
        secret = Path(folder, "secret")
        secret.write_text("for nobody's eyes")
        secret.chmod(0o644)
        found = _run(zygote, setup, secret)
    return list(_judge(found, setup, granted or Granted()))


def _run(zygote: ZygoteProcess, setup: Setup, secret: Path) -> dict[str, Any]:
    inside = bubblewrap.INSIDE if setup.bubblewrap else INSIDE
    text = _PROGRAM.read_text(encoding="utf-8")
    text = text.replace('PLANTED = "/planted"\n', f"PLANTED = {str(secret)!r}\n")
    text = text.replace('HARNESS = "/harness"\n', f"HARNESS = {inside + '/harness.py'!r}\n")
    result = zygote.run(
        Request(
            job=encode_job(Job(text, "Canary", ())),
            wall_seconds=_SECONDS,
            cpu_seconds=_SECONDS,
            memory_bytes=_MEMORY_BYTES,
            file_bytes=_FILE_BYTES,
            output_bytes=1 << 16,
            result_bytes=1 << 16,
        )
    )
    first, _, rest = result.output.decode("utf-8", "replace").partition("\n")
    if rest.strip() != "end":
        how = result.ending if result.signal is None else f"signal {result.signal}"
        said = b" ".join(frame.payload for frame in result.frames)[:500]
        raise SandboxError(f"The canary did not come to its end ({how}): {first[:200]} {said!r}")
    found = json.loads(first)
    if not isinstance(found, dict):
        raise SandboxError("The canary's answer cannot be read.")
    return found


def _judge(found: dict[str, Any], setup: Setup, granted: Granted) -> Iterator[str]:
    for name in found["possible"]:
        if name in granted.possible:
            continue
        if name == _SCRATCH and setup.bubblewrap:
            continue
        if name == _HARNESS and not setup.landlock:
            continue
        yield f"it {name}"
    if setup.bubblewrap and _SCRATCH not in found["possible"]:
        yield "it has no scratch folder"
    if setup.bubblewrap and found["process"] != 1:
        yield "it has no process table of its own"
    if setup.bubblewrap and found["secret_visible"]:
        yield "it sees this machine's files"
    if setup.seccomp and found["seccomp"] != _FILTERED:
        yield "its kernel calls are not filtered"
    if 0 in found["users"]:
        yield "it is root"
    if any(found["capabilities"]):
        yield "it has capabilities"
    if not found["no_new_privileges"]:
        yield "it can gain privileges"
    if found["dumpable"] and not granted.dumpable:
        yield "its memory can be read by others"
    if found["descriptors"] != [0, 1, 2, 3, 4]:
        yield f"it has the open descriptors {found['descriptors']}"
    if found["environment"] != sorted((*_ENVIRONMENT, *granted.environment)):
        yield "it has another environment"
    yield from _judge_limits(found["limits"], granted)


def _judge_limits(limits: dict[str, list[int]], granted: Granted) -> Iterator[str]:
    usual: dict[str, int | None] = {
        "AS": _MEMORY_BYTES,
        "CPU": int(_SECONDS) + 1,
        "FSIZE": _FILE_BYTES,
        "NOFILE": 64,
        "NPROC": 1,
        "CORE": 0,
        "STACK": 64 * _MEGABYTE,
        "MEMLOCK": 0,
    }
    for name, value in {**usual, **granted.limits}.items():
        if value is None:
            continue
        soft, hard = limits[name]
        if not (0 <= soft <= value and 0 <= hard <= value):
            yield f"its limit {name} is {hard}, not {value}"
