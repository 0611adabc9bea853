"""Runs a compiler in a sandbox of its own: one short run in a separate folder.

A compiler that is fed a stranger's text can be made to read files into its output or its messages,
to loop, and to use up memory. Here it sees the system's programs and libraries, the folder it was
given, and nothing else: no network, no other process, no file of the worker, a limit on everything.
Its output is trusted no more than the text it was made from.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from gpu_worker.sandbox import bubblewrap
from gpu_worker.sandbox.errors import SandboxError
from gpu_worker.sandbox.isolation import ALLOW_NO_NAMESPACES
from gpu_worker.sandbox.setup import runner_user

WORK: Final = "/build"
_SYSTEM: Final = ("/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec")
_LINKS: Final = ("/bin", "/lib", "/lib32", "/lib64")
_MESSAGE_BYTES: Final = 256 * 1024
_OPEN_FILES: Final = 64
_TIMED: Final = ("/bin/sh", "-c", '"$@"; ended=$?; times; exit $ended', "sh")
"""Says behind all other messages what time it took: bubblewrap does not tell of its children's."""
_TIMES: Final = re.compile(rb"\d+m[\d.]+s \d+m[\d.]+s\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s\n\Z")
_TIMES_BYTES: Final = 200


@dataclass(frozen=True, slots=True)
class CompilerLimits:
    """What one program of a run may use; the wall time is that of the run as a whole."""

    cpu_seconds: int = 2
    wall_seconds: float = 10.0
    memory_bytes: int = 1 << 30
    file_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class CompilerRun:
    """How a run ended. `stopped` names the limit that ended it, "" if none did.

    `seconds` is by the clock; `cpu_seconds` is the processor's time for the program and its own
    programs, 0 where the run was cut off.
    """

    returncode: int
    messages: str
    stopped: str
    seconds: float
    cpu_seconds: float = 0.0


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """Make a folder that the compiler may write to, and remove it with all that is in it."""
    with tempfile.TemporaryDirectory(prefix="learnml-compile-") as folder:
        user = runner_user()
        if user is not None:
            os.chown(folder, user, user)
        yield Path(folder)


def run(
    command: Sequence[str],
    folder: Path,
    readable: Mapping[str, Path],
    limits: CompilerLimits | None = None,
    confine: Path | None = None,
) -> CompilerRun:
    """Run a program in `folder`, seen as /build. `readable` maps paths inside to folders here.

    `confine` is a program that puts Landlock around another one: used where bubblewrap cannot make
    namespaces and the operator allows level B.

    Raises:
        SandboxError: neither can make the sandbox.
    """
    limits = limits or CompilerLimits()
    failures = []
    command = [*_TIMED, *command]
    for program in bubblewrap.programs():
        words = [*_walls(program, folder, readable), *command]
        result = _run(words, limits)
        # bubblewrap's own failures begin with its name; nothing was run then.
        if result.returncode != 1 or not result.messages.startswith("bwrap:"):
            return result
        failures.append(result.messages.strip())
    if confine is not None and os.environ.get(ALLOW_NO_NAMESPACES) == "1":
        words = [str(confine), str(folder), *(str(here) for here in readable.values()), "--"]
        result = _run([*words, *_without_namespaces(command, readable)], limits, folder)
        if not result.messages.startswith("confine:"):
            return result
        failures.append(result.messages.strip())
    raise SandboxError(
        "The compiler needs a sandbox of its own, and there is none on this machine: "
        f"{'; '.join(failures) or 'bubblewrap (bwrap) is not installed'}."
    )


def _walls(program: str, folder: Path, readable: Mapping[str, Path]) -> list[str]:
    words = [program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    for path in (*_SYSTEM, *_LINKS):
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    for inside, here in readable.items():
        words += ["--ro-bind", str(here), inside]
    return [
        *words,
        *("--bind", str(folder), WORK, "--dir", "/dev", "--dev-bind", "/dev/null", "/dev/null"),
        *("--remount-ro", "/", "--chdir", WORK, "--clearenv"),
        *(
            "--setenv",
            "PATH",
            "/usr/bin:/bin",
            "--setenv",
            "LC_ALL",
            "C",
            "--setenv",
            "TMPDIR",
            WORK,
        ),
    ]


def _without_namespaces(command: Sequence[str], readable: Mapping[str, Path]) -> list[str]:
    """Return the command with the paths that folders have outside."""
    inside = re.compile("|".join(re.escape(path) for path in readable) or r"(?!)")
    return [inside.sub(lambda match: str(readable[match[0]]), word) for word in command]


def _run(words: Sequence[str], limits: CompilerLimits, folder: Path = Path("/")) -> CompilerRun:
    begun = time.monotonic()
    user = runner_user()
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(  # noqa: S603  a list; the shell only sets limits
            [*_limited(limits), *words],
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": str(folder)},
            start_new_session=True,
            # Never root inside: run as root, bubblewrap would leave the compiler root outside too.
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        stopped = ""
        try:
            process.wait(limits.wall_seconds)
        except subprocess.TimeoutExpired:
            stopped = "wall"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        end, cpu_seconds = _times(messages)
        messages.seek(0)
        text = messages.read(min(end, _MESSAGE_BYTES)).decode("utf-8", "replace")
    seconds = time.monotonic() - begun
    return CompilerRun(process.returncode, text, stopped or _reason(text), seconds, cpu_seconds)


def _times(messages: IO[bytes]) -> tuple[int, float]:
    """Return where the messages end and `times` begins, and the processor time that it tells."""
    end = messages.seek(0, os.SEEK_END)
    start = messages.seek(max(0, end - _TIMES_BYTES))
    told = _TIMES.search(messages.read())
    if told is None:
        return end, 0.0
    user_minutes, user, system_minutes, system = (float(number) for number in told.groups())
    return start + told.start(), 60 * (user_minutes + system_minutes) + user + system


def _limited(limits: CompilerLimits) -> list[str]:
    """Return the words that set limits and then become what follows.

    Not done by code between fork and exec: builds run in threads, where that is not safe.
    """
    settings = (
        f"ulimit -t {limits.cpu_seconds}; ulimit -v {limits.memory_bytes >> 10}; "
        f"ulimit -f {limits.file_bytes >> 9}; ulimit -n {_OPEN_FILES}; ulimit -c 0"
    )
    return ["/bin/sh", "-c", f'{settings}; exec "$@"', "sh"]


def _reason(text: str) -> str:
    # The compiler's driver says which signal ended the compiler proper.
    if "CPU time limit exceeded" in text or "Killed signal" in text:
        return "cpu"
    if "virtual memory exhausted" in text or "out of memory" in text:
        return "memory"
    return "size" if "File size limit exceeded" in text else ""
