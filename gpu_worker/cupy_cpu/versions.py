"""The versions of a kernel that is generated from expressions: one per combination of dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import generated
from .compiler import Source
from .launching import Launcher
from .parameters import Parameter

Types = dict[str, Any]
"""The dtype of each parameter, by its name."""


class Versions:
    """Builds versions as they are needed, and beside the first those that probably will be.

    `code` returns the CUDA source for dtypes, and for the parameters that are given no array.
    """

    def __init__(
        self, name: str, parameters: Sequence[Parameter], options: tuple[str, ...],
        code: Callable[[Types, frozenset[str]], str],
    ) -> None:  # fmt: skip
        self._name, self._parameters, self._options = name, parameters, options
        self._code = code
        self._built: dict[Any, Launcher] = {}

    def launcher(self, types: Types, scalars: frozenset[str]) -> Launcher:
        """Return what launches the version for these.

        Raises:
            CompileException: an expression does not compile.
            KernelsUnavailableError: nothing can be built here.
        """
        key = (tuple(types.items()), scalars)
        if key not in self._built:
            source = self._source(types, scalars)
            for others in generated.likely(self._parameters, types):
                self._source(others, scalars)
            self._built[key] = Launcher(
                source.module().kernel(self._name), self._name, source.build, is_generated=True
            )
        return self._built[key]

    def _source(self, types: Types, scalars: frozenset[str]) -> Source:
        """Ask for a version to be built."""
        return Source(self._code(types, scalars), self._options, ())
