"""Builds the kernels of a run: reads the runner's requests, compiles them, writes the answers.

The compiler runs in a sandbox of its own, see `gpu_worker.cuda_cpu`; this process never loads the
result. Requests come from the learner's process, so they are parsed strictly, and their number,
size and processor time are limited.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self

from gpu_worker.cuda_cpu import (
    CompileError,
    CompilerMissingError,
    compile_source,
    refusals,
    resources,
    unavailable,
)
from gpu_worker.cupy_cpu.executor import Diagnostic
from gpu_worker.sandbox.inside import building
from gpu_worker.sandbox.inside.building import BuildAnswer, BuildRequest
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, WireError

logger = logging.getLogger(__name__)

THREADS: Final = 2
_MAX_ERROR: Final = 8_000
_MAX_DIAGNOSTICS: Final = 32
_NO_FOLDER: Final = (
    "No disk of this worker allows loading programs from it. Mount one without noexec, and name a "
    "folder on it in LEARNML_BUILDS_FOLDER."
)
_BROKEN: Final = "Building failed for a reason that lies with this worker."
_TOO_MANY: Final = "The program asked for more kernels than one submission may build."
_TOO_LONG: Final = "Building this submission's kernels took more processor time than allowed."


@dataclass(frozen=True, slots=True)
class LargeLaunch:
    """The largest block that a kernel was launched with: its threads, the length of a row in that
    case, which case that is, and whether nothing of it is secret.
    """

    threads: int
    columns: int
    case: str
    shown: bool


class Builds:
    """The builds of one grading. Answers go to `folder`, which is emptied for each run."""

    def __init__(self, folder: str, limits: Mapping[str, float]) -> None:
        self._folder = Path(folder) if folder else None
        self._limits = limits
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="build")
        self._lock = Lock()
        self._asked: set[BuildRequest] = set()
        """What was asked for in any run: a run that is begun again asks for nothing more."""
        self.seconds = 0.0
        """The processor time that building took so far, kernels that were built before aside. By
        the clock it would depend on what else this machine does.
        """
        self._this_run = 0.0
        self._under_way = 0
        """How many builds were asked for that are not answered yet."""
        self.missing = ""
        """Why nothing can be built on this machine, empty if it can."""
        self.forged = ""
        """What is wrong with a request that no honest runner sends, empty for nothing."""
        self.exceeded = self.limit = self.used = ""
        """Which limit the builds ran into, what it is, and how much was used."""
        self._refused: dict[BuildRequest, BuildAnswer] = {}
        """What did not compile in an earlier run: the compiler keeps only what did."""
        self.requests: dict[int, BuildRequest] = {}
        """The present run's requests by their number."""
        self.diagnostics: dict[int, list[dict[str, Any]]] = {}
        """What the compiler found in each of them."""
        self.large: dict[tuple[BuildRequest, str], LargeLaunch] = {}
        """The launches of kernels, by build and name, that may take more registers than there are:
        of all runs, see `registers`.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._empty()

    def is_awaited(self) -> bool:
        """Whether the run waits for a build, or could."""
        return self._under_way > 0

    def begin_run(self) -> None:
        """Forget the last run's builds; what was compiled for them is kept by the compiler."""
        self.finish()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="build")
        self._empty()
        self.requests, self.diagnostics = {}, {}
        self._this_run = 0.0

    def finish(self) -> float:
        """Let what is being built come to its end; return how long the run's builds took in sum, by
        the clock.
        """
        self._pool.shutdown(wait=True, cancel_futures=True)
        return self._this_run

    def on_frame(self, frame: Frame) -> None:
        """Take a request; it is answered as soon as it is built."""
        if frame.kind is not FrameKind.BUILD or self.forged:
            return
        if self._folder is None:
            self.missing = _NO_FOLDER
            return
        try:
            request = building.decode_build(frame.payload)
        except WireError as error:
            self.forged = str(error)
            return
        number = frame.position
        if number in self.requests or len(self.requests) >= building.MAX_BUILDS:
            self.forged = "a build that was asked for twice, or one too many"
            return
        self.requests[number] = request
        self._asked.add(request)
        with self._lock:
            self._under_way += 1
        self._pool.submit(self._build, number, request).add_done_callback(self._done)

    def _done(self, build: Future[None]) -> None:
        with self._lock:
            self._under_way -= 1

    def _build(self, number: int, request: BuildRequest) -> None:
        try:
            answer, library = self._answer(request)
        except Exception:
            # In a pool thread the exception would go unnoticed, and the runner would wait in vain.
            logger.exception("building a kernel failed")
            answer, library = BuildAnswer(error=_BROKEN, missing=True), b""
        if answer.missing:
            self.missing = answer.error
        self.diagnostics[number] = list(answer.diagnostics)
        self._put(number, answer, library)

    def _answer(self, request: BuildRequest) -> tuple[BuildAnswer, bytes]:
        if len(self._asked) > self._limits["builds"]:
            self.exceeded, self.limit = _TOO_MANY, f"{self._limits['builds']:g} builds"
            self.used = f"{len(self._asked)} builds"
            return BuildAnswer(error=_TOO_MANY), b""
        if self.seconds > self._limits["build_seconds"]:
            self.exceeded, self.limit = _TOO_LONG, f"{self._limits['build_seconds']:g} s"
            self.used = f"{self.seconds:.1f} s"
            return BuildAnswer(error=_TOO_LONG), b""
        if request in self._refused:
            return self._refused[request], b""
        begun = time.perf_counter()
        answer, library, cpu_seconds = _compile(request)
        with self._lock:
            self.seconds += cpu_seconds
            self._this_run += time.perf_counter() - begun
            if answer.error and not answer.missing:
                self._refused[request] = answer
        return answer, library

    def _put(self, number: int, answer: BuildAnswer, library: bytes) -> None:
        assert self._folder is not None  # noqa: S101  nothing is built without one
        if library:
            (self._folder / f"{number}.so").write_bytes(library)
            os.chmod(self._folder / f"{number}.so", 0o644)
        fields = {
            "built": bool(library),
            "error": answer.error,
            "missing": answer.missing,
            "diagnostics": list(answer.diagnostics),
        }
        half = self._folder / f"{number}.part"
        half.write_text(json.dumps(fields), encoding="utf-8")
        os.chmod(half, 0o644)
        # The runner waits for this name, so it appears last.
        half.rename(self._folder / f"{number}.json")

    def _empty(self) -> None:
        for path in self._folder.iterdir() if self._folder and self._folder.is_dir() else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _compile(request: BuildRequest) -> tuple[BuildAnswer, bytes, float]:
    """Return the answer, the library, and the seconds of processor time that it took."""
    try:
        built = compile_source(request.source, request.options, request.names)
    except CompilerMissingError as error:
        return BuildAnswer(error=str(error)[:_MAX_ERROR], missing=True), b"", 0.0
    except CompileError as error:
        found = tuple(item.as_dict() for item in error.diagnostics[:_MAX_DIAGNOSTICS])
        answer = BuildAnswer(error=str(error)[:_MAX_ERROR], diagnostics=found)
        return answer, b"", error.cpu_seconds
    found = tuple(item.as_dict() for item in built.diagnostics[:_MAX_DIAGNOSTICS])
    return BuildAnswer(diagnostics=found), built.library, built.cpu_seconds


class _LocalAnswer:
    """An answer with the library itself, for a process that may load what it builds."""

    def __init__(self, answer: BuildAnswer, library: bytes) -> None:
        self.library = library
        self.error, self.missing = answer.error, answer.missing
        self.diagnostics = answer.diagnostics


class LocalBuilder:
    """Builds in this process, for tests and a developer's own machine; see `cupy_cpu.host`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        """Source, options and name expressions of each build, by its number."""

    def ask(self, source: str, options: tuple[str, ...], names: tuple[str, ...]) -> int:
        """Take a request; return its number."""
        self.requests.append((source, options, names))
        return len(self.requests) - 1

    def wait(self, number: int) -> _LocalAnswer:
        """Build what was asked for under this number."""
        made, library, _ = _compile(BuildRequest(*self.requests[number]))
        return _LocalAnswer(made, library)


def resources_of(
    request: BuildRequest | None, kernels: Collection[str]
) -> Mapping[str, Mapping[str, int]]:
    """Return what some kernels of a module need on a device, from NVIDIA's compiler.

    Empty where it is missing. Other kernels of the module are compiled only where it names none.
    """
    names = _asked_for(request, kernels)
    if request is None or names is None:
        return {}
    return resources(request.source, request.options, names)


def refusals_of(request: BuildRequest | None, kernels: Collection[str]) -> tuple[Diagnostic, ...]:
    """Return what NVIDIA's compiler says against a module with these kernels; empty for nothing.

    What it refuses no device runs, though it was built here: names of the C library, for example.
    """
    names = _asked_for(request, kernels)
    if request is None or names is None:
        return ()
    return refusals(request.source, request.options, names)


def _asked_for(request: BuildRequest | None, kernels: Collection[str]) -> tuple[str, ...] | None:
    """Return the build's name expressions that name one of these kernels; None if none does."""
    if request is None:
        return None
    names = tuple(name for name in request.names if name in kernels)
    return names if names or not request.names else None


def kernels_missing() -> str:
    """Return why no kernels can be built on this machine and what to install, empty if they can."""
    return unavailable()
