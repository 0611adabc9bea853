"""Compiles a learner's CUDA C for this processor, in a sandbox, and keeps the result."""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpu_worker.cuda_cpu.errors import CompileError, CompilerMissingError, refusal
from gpu_worker.cuda_cpu.frontend import lint, options
from gpu_worker.cuda_cpu.frontend.translating import Translation, translate
from gpu_worker.cuda_cpu.toolchain import gxx, messages
from gpu_worker.cuda_cpu.toolchain.cache import Cache
from gpu_worker.cupy_cpu.executor.diagnostics import Diagnostic
from gpu_worker.sandbox import compiling
from gpu_worker.sandbox.errors import SandboxError

SOURCE_BYTES: Final = 64 * 1024
_LIBRARY_BYTES: Final = 16 << 20
_KIT: Final = "/kit"
_MOST_NAMES: Final = 200
_LIMITS: Final = compiling.CompilerLimits(cpu_seconds=2, wall_seconds=45.0)
"""The slowest module of all stored programs takes half of this, mostly for the checks."""


@dataclass(frozen=True, slots=True)
class Build:
    """A library for `device.Module`. `diagnostics` are notes on the text, such as 1/D of integers.

    `key` names source, flags and runtime; `seconds` is the time that compiling took by the clock,
    `cpu_seconds` that of the processor.
    """

    library: bytes
    key: str
    kernels: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    cached: bool
    seconds: float
    cpu_seconds: float


_cache = Cache()


def compile_source(
    source: str,
    compiler_options: tuple[str, ...] = (),
    name_expressions: tuple[str, ...] = (),
) -> Build:
    """Return the library of a CUDA C source for this machine's processor.

    `name_expressions` as CuPy's: the kernels to offer, with their template arguments; without
    them all kernels marked `extern "C"`. `compiler_options` as CuPy's: macros are heeded, all
    others are checked and left out.

    Raises:
        CompileError: the source is wrong or refused; the text is for its author.
        CompilerMissingError: this machine cannot compile.
    """
    if len(source.encode("utf-8", "replace")) > SOURCE_BYTES:
        raise refusal(f"The source has more than {SOURCE_BYTES // 1024} KB.", None)
    if len(name_expressions) > _MOST_NAMES:
        raise refusal(f"A module can name at most {_MOST_NAMES} kernels.", None)
    translation = translate(source, name_expressions, options.read(compiler_options))
    notes = tuple(lint.notes(translation))
    key = _key(translation)
    library = _cache.get(key)
    if library is not None:
        return Build(library, key, translation.kernels, notes, True, 0.0, 0.0)
    library, run = _compile(translation, source)
    _cache.put(key, library)
    return Build(library, key, translation.kernels, notes, False, run.seconds, run.cpu_seconds)


def forget() -> None:
    """Have everything compiled anew, also what the worker's folder keeps: to measure."""
    _cache.clear()


@functools.cache
def unavailable() -> str:
    """Return why kernels cannot be compiled on this machine and what to do, "" if they can."""
    try:
        gxx.kit()
        compile_source('extern "C" __global__ void nothing() {}')
    except (CompilerMissingError, CompileError) as error:
        return str(error)
    return ""


def _key(translation: Translation) -> str:
    digest = hashlib.sha256()
    for part in (gxx.version(), translation.text):
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()


def _compile(translation: Translation, source: str) -> tuple[bytes, compiling.CompilerRun]:
    with compiling.work_folder() as folder:
        written = folder / "kernel.cpp"
        written.write_text(translation.text, encoding="ascii")
        written.chmod(0o644)
        command = [
            *(gxx.compiler(), *gxx.KERNEL, *gxx.BOUNDED, "-I", _KIT),
            *("-pipe", "kernel.cpp", f"{_KIT}/runtime.o", "-o", "kernel.so"),
            *(*gxx.LINKED, "-T", f"{_KIT}/shared.ld", "-lc", "-lm", "-lgcc"),
        ]
        try:
            kit = gxx.kit()
            confine = kit / gxx.CONFINE
            run = compiling.run(command, folder, {_KIT: kit}, _LIMITS, confine)
        except SandboxError as error:
            raise CompilerMissingError(str(error)) from error
        if run.stopped == "wall":
            # Wall-clock time ran out before processor time did, so the source is not to blame.
            raise CompilerMissingError(messages.NO_TIME)
        if run.returncode or run.stopped:
            wrong = messages.compile_error(run, source)
            wrong.cpu_seconds = run.cpu_seconds
            raise wrong
        return _read(folder / "kernel.so"), run


def _read(path: Path) -> bytes:
    """Read what the sandbox left, which may be no file at all."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        library = file.read(_LIBRARY_BYTES + 1)
    if len(library) > _LIBRARY_BYTES:
        raise refusal("The compiled kernel is too large. Name fewer instances at a time.", None)
    return library
