"""What a kernel needs on a device, from NVIDIA's own compiler: registers, shared memory, spills.

That takes neither a device nor a driver. NVRTC compiles the source where g++ does: in the compile
sandbox, after the same rules.
"""

from __future__ import annotations

import functools
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpu_worker.cuda_cpu.errors import CompileError, CompilerMissingError
from gpu_worker.cuda_cpu.frontend import cleaning, options, rules
from gpu_worker.cuda_cpu.toolchain import gxx, messages
from gpu_worker.cupy_cpu.executor.defects import Defect, Severity
from gpu_worker.cupy_cpu.executor.diagnostics import Diagnostic
from gpu_worker.sandbox import compiling
from gpu_worker.sandbox.errors import SandboxError

ARCHITECTURES: Final = ("sm_80", "sm_90", "sm_100")
_ANSWER_BYTES: Final = 16 << 20
_LIMITS: Final = compiling.CompilerLimits(
    cpu_seconds=60, wall_seconds=90.0, memory_bytes=6 << 30, file_bytes=256 << 20
)
_USED: Final = re.compile(
    r"Compiling entry function '(?P<name>\S+)' for '\w+'.*?"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
    r"(?P<loads>\d+) bytes spill loads.*?Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)
_BY_A_SIGNAL: Final = 128
"""A shell returns more than that for a program that a signal ended."""
_NO_END: Final = "NVIDIA's compiler does not come to an end with this source."
_SHARED: Final = re.compile(r"(\d+) bytes smem")
_ERROR: Final = re.compile(
    r"^kernel\.cu\((\d+)\): (?:catastrophic )?error[^:]*: (.*)$", re.MULTILINE
)


def library() -> str:
    """Return the path of NVRTC, "" where it is not installed."""
    try:
        found = sorted((gxx.cuda_headers().parent / "lib").glob("libnvrtc.so.*"))
    except CompilerMissingError:
        return ""
    return str(found[0]) if found else ""


def resources(
    source: str, compiler_options: tuple[str, ...] = (), name_expressions: tuple[str, ...] = ()
) -> dict[str, dict[str, int]]:
    """Return `registers`, `shared_bytes`, `local_bytes` and `spill_bytes` per kernel for sm_90.

    A source that asks whether a processor runs it is two: what is compiled here, and what a device
    compiles. Of both the larger numbers are returned.
    Empty where NVRTC is not installed, or does not compile the source.
    """
    most: dict[str, dict[str, int]] = defaultdict(dict)
    for needs, _ in _both(source, compiler_options, name_expressions):
        for kernel, numbers in needs.items():
            known = most[kernel]
            known.update({name: max(value, known.get(name, 0)) for name, value in numbers.items()})
    return dict(most)


def refusals(
    source: str, compiler_options: tuple[str, ...] = (), name_expressions: tuple[str, ...] = ()
) -> tuple[Diagnostic, ...]:
    """Return why a device would not run the source: what NVRTC says against it, for sm_90.

    It says so of what a device compiles, or else of what is compiled here. Empty where NVRTC
    compiles both, is not installed, or is not done in time for a reason that lies with this worker.
    """
    answers = _both(source, compiler_options, name_expressions)
    return next((found for _, found in reversed(answers) if found), ())


class RefusedError(CompileError):
    """NVIDIA's compiler has read the source, and it is wrong, or too much for it."""


_Answer = tuple[dict[str, dict[str, int]], tuple[Diagnostic, ...]]
"""What each kernel needs, and why there are none."""


def _both(
    source: str, compiler_options: tuple[str, ...], name_expressions: tuple[str, ...]
) -> list[_Answer]:
    """Return the answers on what is compiled here and, where the source tells the two apart, on
    what a device compiles.
    """
    asks = rules.ON_A_PROCESSOR in source
    answers: list[_Answer] = []
    for as_here in (True, False) if asks else (True,):
        try:
            answers.append(_answer(source, compiler_options, name_expressions, as_here))
        except (CompileError, CompilerMissingError):
            answers.append(({}, ()))
    return answers


@functools.lru_cache(maxsize=64)
def _answer(
    source: str,
    compiler_options: tuple[str, ...],
    name_expressions: tuple[str, ...],
    as_here: bool,
) -> _Answer:
    try:
        needs = compile_for(source, "sm_90", compiler_options, name_expressions, as_here=as_here)
        return needs, ()
    except RefusedError as error:
        return {}, error.diagnostics


def forget() -> None:
    """Ask NVIDIA's compiler anew: to measure."""
    _answer.cache_clear()


def compile_for(
    source: str,
    architecture: str,
    compiler_options: tuple[str, ...] = (),
    name_expressions: Sequence[str] = (),
    *,
    as_here: bool = False,
) -> dict[str, dict[str, int]]:
    """Compile for a device and return what each kernel needs there.

    With `as_here` the source is told that a processor runs it, so that it is the one that does.

    Raises:
        RefusedError: NVIDIA's compiler refuses the source, or is ended by it.
        CompileError: it is not done in time, or the rules refuse the source.
        CompilerMissingError: there is no NVRTC, or no sandbox for it.
    """
    nvrtc = library()
    if not nvrtc:
        raise CompilerMissingError("The package nvidia-cuda-nvrtc is not installed.")
    cleaned = cleaning.clean(source)
    given = options.read(compiler_options)
    rules.check(cleaned, given.before)
    asked = rules.compiler_asked_for(cleaned) if as_here else None
    if asked:
        text = (
            f"On a device: {asked[0]} is not what it is here, so that this is another source there."
        )
        raise RefusedError([Diagnostic(Defect.COMPILE_ERROR, Severity.ERROR, "", asked[1], text)])
    source = rules.with_bars(cleaned, cleaned.plain)
    names = list(name_expressions)
    words = [*_flags(architecture), *given.device]
    if as_here:
        words.append(f"-D{rules.ON_A_PROCESSOR}=1")
    lowered, log = _run(nvrtc, source, names, words)
    return {
        lowered.get(match["name"], match["name"]): _numbers(match) for match in _USED.finditer(log)
    }


def _flags(architecture: str) -> list[str]:
    headers = "/cuda"
    return [
        f"-arch={architecture}", "--std=c++17", "--ptxas-options=-v", f"-I{headers}",
        f"-I{headers}/cccl", "-default-device",
    ]  # fmt: skip


def _run(
    nvrtc: str, source: str, names: Sequence[str], words: Sequence[str]
) -> tuple[dict[str, str], str]:
    """Return the names by their compiled ones, and the compiler's log."""
    readable = {"/nvrtc": Path(nvrtc).parent, "/cuda": gxx.cuda_headers()}
    with compiling.work_folder() as folder:
        for name, text in (("kernel.cu", source), ("names", "".join(f"{n}\n" for n in names))):
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o644)
        command = [
            *("/kit/nvrtc_program", f"/nvrtc/{Path(nvrtc).name}", "kernel.cu", "names", "answer"),
            *words,
        ]
        try:
            kit = gxx.kit()
            readable["/kit"] = kit
            run = compiling.run(command, folder, readable, _LIMITS, kit / gxx.CONFINE)
        except SandboxError as error:
            raise CompilerMissingError(str(error)) from error
        if run.stopped or run.returncode not in (0, 1):
            raise _ended(run, source)
        descriptor = os.open(folder / "answer", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            answer = file.read(_ANSWER_BYTES).decode("utf-8", "replace")
    lines = answer.split("\n", len(names) + 1)
    if run.returncode:
        raise _refused(lines[-1])
    return dict(zip(lines, names, strict=False)), lines[-1]


def _ended(run: compiling.CompilerRun, source: str) -> CompileError:
    """Return why there is no answer: the source was too much, or else the worker is to blame."""
    by_a_signal = run.returncode < 0 or run.returncode > _BY_A_SIGNAL
    if run.stopped in ("cpu", "memory", "size") or (by_a_signal and not run.stopped):
        return RefusedError([Diagnostic(Defect.COMPILE_ERROR, Severity.ERROR, "", None, _NO_END)])
    return messages.compile_error(run, source)


def _refused(log: str) -> CompileError:
    if rules.BAR in log:
        # A header that may well exist where there is a device.
        return CompileError(
            [Diagnostic(Defect.REFUSED_SOURCE, Severity.ERROR, "", None, rules.BAR)]
        )
    found = [
        Diagnostic(Defect.COMPILE_ERROR, Severity.ERROR, "", int(line), f"On a device: {text}.")
        for line, text in _ERROR.findall(log)
    ]
    text = f"NVIDIA's compiler refuses this source: {log[:1000]}"
    return RefusedError(found or [Diagnostic(Defect.COMPILE_ERROR, Severity.ERROR, "", None, text)])


def _numbers(match: re.Match[str]) -> dict[str, int]:
    shared = _SHARED.search(match["rest"])
    return {
        "registers": int(match["registers"]),
        "shared_bytes": int(shared[1]) if shared else 0,
        "local_bytes": int(match["stack"]),
        "spill_bytes": int(match["stores"]) + int(match["loads"]),
    }
