"""A compiled library in this process: its launches, line numbers, variables and shared memory."""

from __future__ import annotations

import ctypes
import os
import tempfile
from functools import cached_property
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import abi
from .elf import Elf, Symbol, last_name, local_name
from .lines import LineTable
from .variables import Variable

SOURCE_NAME = "kernel.cu"

_stacks: int | None = None
"""Those of the threads, the same for all libraries of this process."""


class Library:
    """Loads a library that the compiler made; see `Module`.

    Raises:
        OSError: it cannot be loaded.
        ValueError: it is no such library, or of another version.
    """

    def __init__(self, library: str | os.PathLike[str] | bytes) -> None:
        if isinstance(library, bytes):
            self._data = library
            with tempfile.NamedTemporaryFile(suffix=".so") as file:
                file.write(library)
                file.flush()
                self._native = ctypes.CDLL(file.name)
        else:
            self._data = Path(library).read_bytes()
            self._native = ctypes.CDLL(os.fspath(library))
        self._declare()
        if self._native.learnml_version() != abi.VERSION:
            raise ValueError("This library was compiled for another version of the executor.")
        self.base: int = self._native.learnml_base()
        table = (abi.KernelEntry * 4096).in_dll(self._native, "learnml_kernels")
        self.entries = list(takewhile(lambda entry: entry.name is not None, table))
        """The table of kernels, in the order in which they were asked for."""
        self._kernels = {int(entry.kernel) - self.base for entry in self.entries}

    def globals(self) -> list[abi.GlobalEntry]:
        """Return the table of variables that a host can set by name."""
        table = (abi.GlobalEntry * 1024).in_dll(self._native, "learnml_globals")
        return list(takewhile(lambda entry: entry.name is not None, table))

    @cached_property
    def variables(self) -> list[Variable]:
        """Return the variables outside of functions by address, also those that have no entry."""
        listed = {int(entry.address): entry for entry in self.globals()}
        found = []
        for symbol in self._elf.variables("learnml_set") + self._elf.variables("learnml_zero"):
            address = self.base + symbol.address
            entry = listed.get(address)
            name = entry.name.decode() if entry else last_name(symbol.name)
            variable = Variable(address, symbol.size, name)
            if entry:
                variable.describe(entry.element_size, entry.granule, constant=bool(entry.constant))
            found.append(variable)
        return sorted(found, key=lambda variable: variable.address)

    def run(self, launch: abi.Launch) -> None:
        """Run a launch that is filled in.

        Raises:
            MemoryError: there was no memory for the threads' stacks.
        """
        global _stacks
        launch.stacks = _stacks
        if self._native.learnml_launch(ctypes.byref(launch)) != 0:
            raise MemoryError("There is not enough memory for the stacks of the kernel's threads.")
        _stacks = launch.stacks

    def release(self, before: int) -> None:
        """Free what a launch kept of an allocation, `abi.Buffer.before`."""
        self._native.learnml_release(before)

    def line_of(self, frames: list[int]) -> int | None:
        """Return the source line of the innermost of these addresses, if it is known."""
        return self._lines.line_of([frame - self.base for frame in frames if frame > self.base])

    def static_shared_bytes(self, kernel_address: int) -> int:
        """Return how much static shared memory a kernel has, with what it shares with helpers."""
        return sum(symbol.size for symbol in self._shared_of(kernel_address))

    def _shared_of(self, kernel_address: int) -> list[Symbol]:
        """Return the static shared variables that are not another kernel's."""
        owners = {symbol.address: symbol.name for symbol in self._functions}
        own = f"_ZZ{owners.get(kernel_address - self.base, '')[2:]}E"
        others = {f"_ZZ{owners[place][2:]}E" for place in self._kernels if place in owners} - {own}
        return [
            symbol
            for symbol in self.shared_variables
            if not any(symbol.name.startswith(other) for other in others)
        ]

    def shared_ends(self, kernel_address: int) -> NDArray[np.uint32]:
        """Return for each slot of static shared memory where the kernel's variable there ends.

        Offsets count from the first variable; 0 where the slot is another kernel's.
        """
        section = self._elf.section("learnml_shared")
        if section is None:
            return np.zeros(1, np.uint32)
        # A slot without a symbol counts as used to its end.
        ends = np.arange(1, section.size // abi.SHARED_SLOT + 2, dtype=np.uint32) * abi.SHARED_SLOT
        own = {symbol.address for symbol in self._shared_of(kernel_address)}
        for symbol in self.shared_variables:
            start = symbol.address - section.address
            end = start + symbol.size
            slots = slice(start // abi.SHARED_SLOT, -(-end // abi.SHARED_SLOT))
            ends[slots] = end if symbol.address in own else 0
        return ends

    def shared_variable(self, address: int) -> tuple[str, int, int] | None:
        """Return name, offset and size of the static shared variable next below an address."""
        offset = address - self.base
        below = [symbol for symbol in self.shared_variables if symbol.address <= offset]
        if not below:
            return None
        return local_name(below[-1].name), offset - below[-1].address, below[-1].size

    @property
    def dynamic_shared_address(self) -> int:
        return int(self._native.learnml_dynamic_shared())

    @cached_property
    def shared_variables(self) -> list[Symbol]:
        return self._elf.variables("learnml_shared")

    @cached_property
    def _elf(self) -> Elf:
        return Elf(self._data)

    @cached_property
    def _lines(self) -> LineTable:
        return LineTable(self._elf, SOURCE_NAME)

    @cached_property
    def _functions(self) -> list[Symbol]:
        return [symbol for symbol in self._elf.symbols if symbol.is_function]

    def _declare(self) -> None:
        for name in ("learnml_base", "learnml_dynamic_shared"):
            getattr(self._native, name).restype = ctypes.c_uint64
        self._native.learnml_version.restype = ctypes.c_uint32
        for name in ("learnml_launch", "learnml_release"):
            getattr(self._native, name).argtypes = (ctypes.c_void_p,)
