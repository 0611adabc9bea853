"""From CUDA source to kernels that can be launched.

The compiler does not run here: a builder, see `inside.building`, asks the worker for the library.
On a developer's own machine, `LocalBuilder` calls the compiler itself.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

from . import findings
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


class LocalBuilder:
    """Builds in this process's own worker code: for tests and a developer's own machine."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
        """Source, options and name expressions of each build, by its number."""

    def ask(self, source: str, options: tuple[str, ...], names: tuple[str, ...]) -> int:
        self.requests.append((source, options, names))
        return len(self.requests) - 1

    def wait(self, number: int) -> Any:
        # Not by an import statement: in the sandbox there is no such package.
        return importlib.import_module("gpu_worker.judge.running.builds").answer(
            *self.requests[number]
        )


_builder: Any = LocalBuilder()


def connect(builder: Any) -> None:
    """Use this builder from now on."""
    global _builder
    _builder = builder


class Source:
    """CUDA source that is being built; it is asked for at once, and waited for when first used."""

    def __init__(self, code: str, options: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.build = _builder.ask(code, options, names)
        self._module: Module | None = None

    def module(self) -> Module:
        """Return the loaded module.

        Raises:
            CompileException: the source does not compile.
            KernelsUnavailableError: nothing can be built here.
        """
        if self._module is None:
            answer: Answer = _builder.wait(self.build)
            for fields in answer.diagnostics:
                findings.add(Diagnostic.from_dict(fields), self.build)
            if answer.missing:
                raise KernelsUnavailableError(answer.error)
            if answer.error:
                raise CompileException(answer.error)
            self._module = Module(answer.library)
        return self._module
