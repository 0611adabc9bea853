"""The error for a source that does not compile."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_worker.cupy_cpu.executor.defects import Defect, Severity
from gpu_worker.cupy_cpu.executor.diagnostics import Diagnostic


class CompileError(RuntimeError):
    """The source is wrong, or asks for what a kernel may not have. The text is for its author.

    `cpu_seconds` is the processor time that it took the compiler to say so.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(str(item) for item in diagnostics))
        self.diagnostics = tuple(diagnostics)
        self.cpu_seconds = 0.0


class CompilerMissingError(RuntimeError):
    """Kernels cannot be compiled on this machine: our fault, not the source's."""


def refusal(message: str, line: int | None, kind: Defect = Defect.REFUSED_SOURCE) -> CompileError:
    """Return the error for one reason."""
    return CompileError([Diagnostic(kind, Severity.ERROR, "", line, message)])
