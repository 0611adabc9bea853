"""A module as CuPy has it: the kernels and variables of a compiled source, by their names."""

from __future__ import annotations

import os

from .arguments import Parameter
from .kernel import Kernel
from .library import Library
from .variables import Variable


class Module:
    """Loads a library that the compiler made.

    `library` is its path, or its bytes; bytes are put into a file for as long as loading takes,
    where programs may be run from there.

    Raises:
        OSError: it cannot be loaded.
        ValueError: it is no such library, or of another version.
    """

    def __init__(self, library: str | os.PathLike[str] | bytes) -> None:
        self._library = Library(library)
        self._kernels = {kernel.name: kernel for kernel in self._read_kernels()}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The name expressions of the kernels, in the order they were asked for."""
        return tuple(self._kernels)

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of a name expression.

        Raises:
            KeyError: there is none; the text lists those there are.
        """
        wanted = "".join(name.split())
        for known, kernel in self._kernels.items():
            if "".join(known.split()) == wanted:
                return kernel
        if not self._kernels:
            # The table is filled once all global objects are constructed, and is never empty.
            raise KeyError(
                "The module could not be loaded: the constructor of a global object did not come "
                "to its end. A device runs no constructors for global objects: do without."
            )
        raise KeyError(
            f"The module has no kernel {name!r}; it has {', '.join(self._kernels) or 'none'}. "
            "Templates must be named in name_expressions."
        )

    def global_address(self, name: str) -> tuple[int, int]:
        """Return address and size in bytes of a `__constant__` or `__device__` variable.

        Raises:
            KeyError: there is none of this name.
        """
        for entry in self._library.globals():
            if entry.name.decode() == name:
                return int(entry.address), int(entry.size)
        raise KeyError(f"The module has no variable {name!r} outside of its functions.")

    @property
    def variables(self) -> list[Variable]:
        """The variables outside of functions by address, also those that no host can name."""
        return self._library.variables

    def _read_kernels(self) -> list[Kernel]:
        found = []
        for entry in self._library.entries:
            texts = split_parameters((entry.parameter_text or b"").decode("utf-8", "replace"))
            count = int(entry.parameter_count)
            texts += [""] * (count - len(texts))
            parameters = tuple(
                Parameter.from_native(entry.parameters[number], texts[number])
                for number in range(count)
            )
            kernel = Kernel(
                self._library, entry.name.decode(), int(entry.call), int(entry.kernel), parameters
            )
            kernel.launch_bound = int(entry.most_threads)
            kernel.lines = range(int(entry.first_line), int(entry.last_line) + 1)
            found.append(kernel)
        return found


def split_parameters(text: str) -> list[str]:
    """Split a parameter list at the commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
