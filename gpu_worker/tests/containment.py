"""Attacks on the sandbox, their targets, and how to run them behind chosen walls.

An attack is a file in `attacks/` with a header:

    # attack: 04                         its number
    # tries: what it tries, in words
    # kind: reach | endless | flood | forged | judge | text | leak
    # alone: namespaces, landlock>=4     each of these stops it, even alone
    # always: limits                     what stops it at every level
    # outcome: flagged                   of a judge's attack: how it is graded
    # machine: x86_64                    where it can be tried at all
    # residual: what is not stopped

One that reaches for something prints a line with BREACH if it gets it. `python -m
gpu_worker.tests.containment` runs all of them and prints what got through, as JSON: so they can be
run as another user.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpu_worker.sandbox import bubblewrap
from gpu_worker.sandbox.inside.layers import landlock
from gpu_worker.sandbox.inside.wire import Job, encode_job
from gpu_worker.sandbox.run import GRACE_SECONDS, Request, RunResult
from gpu_worker.sandbox.setup import Setup
from gpu_worker.sandbox.zygote import ZygoteProcess
from gpu_worker.tests.targets import Targets

ATTACKS = Path(__file__).with_name("attacks")
LAYERS = ("namespaces", "landlock", "seccomp")
KINDS = ("reach", "endless", "flood", "forged", "judge", "text", "leak")
WALL_SECONDS = {"endless": 0.4}
_HEADER = re.compile(r"^# (\w+): (.+)$", re.MULTILINE)
_FLOOD_BYTES = 9 << 20


@dataclass(frozen=True)
class Attack:
    name: str
    number: str
    tries: str
    kind: str
    alone: dict[str, int]
    """The layers that stop it alone; for Landlock the version from which on."""
    always: str
    outcomes: tuple[str, ...]
    machine: str
    residual: str
    source: str

    def __str__(self) -> str:
        return self.name

    @property
    def reaches(self) -> bool:
        """True if it is tried in a runner directly, not through the grader."""
        return self.kind in ("reach", "endless", "flood", "forged")

    def stopped_by(self, layer: str, version: int) -> bool:
        """True if the layer is to stop it, of Landlock in this version."""
        if self.always:
            return True
        needed = self.alone.get(layer)
        return needed is not None and (layer != "landlock" or version >= needed)

    def stopped_at(self, setup: Setup) -> bool:
        """True if one of the setup's layers is to stop it."""
        walls = {
            "namespaces": bool(setup.bubblewrap),
            "landlock": bool(setup.landlock),
            "seccomp": setup.seccomp,
        }
        standing = [layer for layer in LAYERS if walls[layer]]
        return any(self.stopped_by(layer, setup.landlock) for layer in standing)


def attacks(*, everywhere: bool = False) -> list[Attack]:
    """Return the attacks that can be tried on this kind of machine, or `everywhere`, by number."""
    found = [_read(path) for path in sorted(ATTACKS.glob("*.py"))]
    return [attack for attack in found if everywhere or attack.machine in ("", platform.machine())]


def _read(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    header = dict(_HEADER.findall(source))
    assert header["kind"] in KINDS, path
    alone = {}
    for word in header.get("alone", "").split(", ") if "alone" in header else ():
        layer, _, version = word.partition(">=")
        assert layer in LAYERS, path
        alone[layer] = int(version or 1)
    assert bool(alone) != ("always" in header), path
    return Attack(
        name=path.stem,
        number=header["attack"],
        tries=header["tries"],
        kind=header["kind"],
        alone=alone,
        always=header.get("always", ""),
        outcomes=tuple(header.get("outcome", "").split(" or ")),
        machine=header.get("machine", ""),
        residual=header.get("residual", ""),
        source=source,
    )


def setups() -> dict[str, Setup]:
    """Return the walls behind which nothing may get through, by name."""
    program, version = bubblewrap.programs()[0], landlock.version()
    return {
        "A": Setup(program, True, version, seccomp=True),
        "A, the present /proc": Setup(program, False, version, seccomp=True),
        "A-, no Landlock": Setup(program, True, 0, seccomp=True),
        "A, Landlock 1": Setup(program, True, min(version, 1), seccomp=True),
        "B, no namespaces": Setup(landlock=version, seccomp=True),
        "B, Landlock 1": Setup(landlock=min(version, 1), seccomp=True),
    }


def runs() -> list[tuple[str, Attack]]:
    """Return what is to be tried behind which setup, those that always stop at two levels only."""
    return [
        (name, attack)
        for name in setups()
        for attack in attacks()
        if attack.reaches and (attack.alone or name in ("A", "B, no namespaces"))
    ]


def single_layers() -> dict[str, Setup]:
    """Return setups with one layer each, and one with none, besides what is always there."""
    program, version = bubblewrap.programs()[0], landlock.version()
    return {
        "": Setup(scratch=True),
        "namespaces": Setup(program),
        "landlock": Setup(landlock=version),
        "seccomp": Setup(seccomp=True),
    }


def gets_through(
    attack: Attack, zygote: ZygoteProcess, targets: Targets, library: str = "numpy"
) -> str:
    """Run the attack on a track; return how it got through, empty where it was stopped."""
    wall = WALL_SECONDS.get(attack.kind, 10.0)
    result = zygote.run(request(targets.prelude(job=3, result=4) + attack.source, wall, library))
    if attack.kind == "endless":
        late = result.wall_seconds > wall + GRACE_SECONDS
        return "" if result.ending == "timed_out" and not late else repr(result)
    if attack.kind == "flood":
        return "" if result.overflow and len(result.output) <= 1 << 16 else repr(result)
    if attack.kind == "forged":
        return "" if result.forged else repr(result)
    return breach(result)


def breach(result: RunResult) -> str:
    """Return the lines that tell of a breach; an attack that did not run at all tells too."""
    lines = [line for line in result.output.decode(errors="replace").splitlines() if line]
    found = "; ".join(line for line in lines if "BREACH" in line)
    said = b" ".join(frame.payload for frame in result.frames)
    if re.search(rb"SyntaxError|NameError|ImportError|AttributeError|TypeError|KeyError", said):
        return f"the attack is broken: {said!r}"
    return found


def request(source: str, wall_seconds: float = 10.0, library: str = "numpy") -> Request:
    return Request(
        job=encode_job(Job(source, "Attack", (), library=library)),
        wall_seconds=wall_seconds,
        cpu_seconds=10,
        memory_bytes=512 << 20,
        file_bytes=16 << 20,
        output_bytes=1 << 16,
        result_bytes=1 << 20,
    )


def gets_through_unprotected(attack: Attack, targets: Targets) -> bool:
    """Run the attack in a plain process with nothing in its way; return whether it succeeds."""
    job = os.memfd_create("job")
    os.write(job, b"a job that is not sealed")
    reading, writing = os.pipe()
    source = targets.prelude(job=job, result=writing) + attack.source
    process = subprocess.Popen(
        [sys.executable, "-c", source],
        stdin=subprocess.PIPE,
        stdout=writing,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "WORKER_SECRET": "x"},
        pass_fds=[job, writing],
    )
    os.close(writing)
    os.close(job)
    assert process.stdin
    process.stdin.write(b"standard input")
    process.stdin.close()
    try:
        return _succeeds(attack, process, reading)
    finally:
        process.kill()
        process.wait()
        os.close(reading)


def _succeeds(attack: Attack, process: subprocess.Popen[bytes], reading: int) -> bool:
    if attack.kind == "endless":
        try:
            process.wait(WALL_SECONDS["endless"] + 0.3)
        except subprocess.TimeoutExpired:
            return True
        return False
    output = bytearray()
    while data := os.read(reading, 1 << 20):
        output += data
        if len(output) > _FLOOD_BYTES:
            return attack.kind == "flood"
    if attack.kind == "forged":
        return process.wait() == 0
    return b"BREACH" in output


def run_all(targets: Targets) -> Iterator[tuple[str, str, str]]:
    """Run every attack behind its walls; yield the setup, the attack and what got through."""
    for name, setup in setups().items():
        with ZygoteProcess(setup) as zygote:
            for attack in [attack for wanted, attack in runs() if wanted == name]:
                if attack.stopped_at(setup):
                    yield name, attack.name, gets_through(attack, zygote, targets)


if __name__ == "__main__":
    with Targets() as made:
        found = list(run_all(made))
    json.dump({"user": os.getuid(), "runs": found}, sys.stdout)
