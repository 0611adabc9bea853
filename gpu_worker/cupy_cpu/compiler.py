"""From CUDA source to kernels that can be launched.

The compiler does not run here: a builder, see `inside.building`, asks the worker for the library.
On a developer's own machine, the judge's `LocalBuilder` calls the compiler itself.
"""

from __future__ import annotations

from typing import Any, Protocol

from . import notes
from .executor import Diagnostic, Module


class Answer(Protocol):
    """A build's answer; see `inside.building.BuildAnswer`."""

    library: str | bytes
    error: str
    missing: bool
    diagnostics: tuple[dict[str, Any], ...]


class CompileException(Exception):
    """CUDA source that does not compile; the text is the compiler's."""


class KernelsUnavailableError(RuntimeError):
    """Nothing can build kernels here; the text says what to install."""


class _NoBuilder:
    """Where nothing was connected."""

    def ask(self, source: str, options: tuple[str, ...], names: tuple[str, ...]) -> int:
        raise KernelsUnavailableError("Nothing builds kernels here: no builder is connected.")


_builder: Any = _NoBuilder()


def connect(builder: Any) -> None:
    """Use this builder from now on."""
    global _builder
    _builder = builder


class Source:
    """CUDA source that is being built; it is asked for at once, and waited for when first used."""

    def __init__(self, code: str, options: tuple[str, ...], names: tuple[str, ...]) -> None:
        self._builder = _builder
        self.build = _builder.ask(code, options, names)
        self._module: Module | None = None

    def module(self) -> Module:
        """Return the loaded module.

        Raises:
            CompileException: the source does not compile.
            KernelsUnavailableError: nothing can be built here.
        """
        if self._module is None:
            answer: Answer = self._builder.wait(self.build)
            for fields in answer.diagnostics:
                notes.add(Diagnostic.from_dict(fields), self.build)
            if answer.missing:
                raise KernelsUnavailableError(answer.error)
            if answer.error:
                raise CompileException(answer.error)
            self._module = Module(answer.library)
        return self._module
