"""Targets of attacks: files, sockets, processes and memory that are open to any user.

They are as open as they can be, so that only a wall of the sandbox can be what stops an attack.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from gpu_worker.exercises import get
from gpu_worker.judge.cases import casegen
from gpu_worker.sandbox.setup import runner_user

_IPC_CREAT, _IPC_RMID = 0o1000, 0
_VICTIM = """
import ctypes, os, sys
if USER:
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
PR_SET_DUMPABLE, PR_SET_PTRACER, ANY = 4, 0x59616D61, ctypes.c_ulong(-1)
libc = ctypes.CDLL(None)
libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
libc.prctl(PR_SET_PTRACER, ANY, 0, 0, 0)
kept = ctypes.create_string_buffer(b"SECRETS!")
print(ctypes.addressof(kept), flush=True)
sys.stdin.read()
"""


def public_shapes() -> set[tuple[int, ...]]:
    """Return the shapes of RMSNorm's public cases, by which an attack can tell the others."""
    return {case.shape for case in casegen.public_cases(get("rmsnorm"))}


class Targets:
    """Makes the targets; leaving the context removes them."""

    def __enter__(self) -> Self:
        self._stack = contextlib.ExitStack()
        # Not below pytest's own folder: that one is for its owner alone.
        folder = Path(tempfile.mkdtemp(prefix="learnml-targets-"))
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        self._make_files(folder)
        self._open_sockets(folder)
        self._start_victim()
        self._share_memory()
        self.token = secrets.token_hex(4)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def prelude(self, job: int, result: int) -> str:
        """Return one line of code that names the targets."""
        names = {
            "SECRET": str(self.secret),
            "FOLDER": str(self.folder),
            "PROJECT": str(self.project),
            "PACKAGES": str(self.project / "packages"),
            "TOKEN": self.token,
            "TCP_PORT": self.tcp.getsockname()[1],
            "UDP_PORT": self.udp.getsockname()[1],
            "UNIX_SOCKET": self.unix.getsockname(),
            "ABSTRACT_SOCKET": self.abstract.getsockname(),
            "VICTIM": self.victim.pid,
            "VICTIM_ADDRESS": self.victim_address,
            "SHARED_KEY": self.shared_key,
            "JOB": job,
            "RESULT": result,
        }
        return "; ".join(f"{name} = {value!r}" for name, value in names.items()) + "\n"

    def _make_files(self, root: Path) -> None:
        self.secret = root / "secret"
        self.secret.write_text("secret")
        self.secret.chmod(0o644)
        self.folder = root / "folder"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.project = root / "project"
        exercise = self.project / "gpu_worker" / "exercises" / "rmsnorm"
        exercise.mkdir(parents=True)
        (exercise / "reference_numpy.py").write_text("answer = 42\n")
        packages = self.project / "packages"
        packages.mkdir()
        (packages / "worker_package.py").write_text("")
        for path in (self.project, *self.project.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def _open_sockets(self, root: Path) -> None:
        self.tcp = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = self._stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.unix = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        self.unix.bind(str(root / "socket"))
        (root / "socket").chmod(0o777)
        self.unix.listen(100)
        self.abstract = self._stack.enter_context(socket.socket(socket.AF_UNIX))
        self.abstract.bind(b"\0learnml-" + secrets.token_hex(8).encode())
        self.abstract.listen(100)
        self.tcp.listen(100)

    def _start_victim(self) -> None:
        """Start a process of the runners' own user that lets itself be traced."""
        # That user may not be able to read the interpreter, so the user changes once it runs.
        self.victim = subprocess.Popen(
            [sys.executable, "-c", f"USER = {runner_user()}\n{_VICTIM}"],
            env={"VICTIM_SECRET": "x"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._stack.callback(self.victim.wait)
        self._stack.callback(self.victim.kill)
        assert self.victim.stdout
        self.victim_address = int(self.victim.stdout.readline())

    def _share_memory(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.shared_key = secrets.randbelow(1 << 30) + 1
        segment = libc.shmget(self.shared_key, 4096, _IPC_CREAT | 0o666)
        assert segment >= 0, os.strerror(ctypes.get_errno())
        self._stack.callback(libc.shmctl, segment, _IPC_RMID, None)
