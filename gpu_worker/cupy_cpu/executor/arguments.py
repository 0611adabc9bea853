"""Arguments of a launch, passed as CuPy passes them: by the type of the value, not the parameter's.

From each argument the driver copies as many bytes as the kernel's parameter has. A Python int is
passed as 64 bits and a Python float as a double, whatever the kernel takes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from . import abi

POINTER: Final = 1
SIGNED: Final = 2
UNSIGNED: Final = 3
FLOATING: Final = 4
BOOLEAN: Final = 5
OTHER: Final = 6
BRAIN: Final = 0x100
"""Set beside FLOATING for bfloat16, which has the size of float16."""

_SPARE_BYTES: Final = 256
"""Read where a parameter is wider than its argument: as on a device, whatever lies there."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address of an array's first element.

    `label` is what its owner calls the array, if that is known.
    """

    address: int
    dtype: Any = None
    label: str = ""
    nbytes: int | None = None


class ArrayStructure(bytes):
    """A structure that is passed by value and begins with the address of an array's memory.

    `itemsize` in bytes of its elements. `shared`: threads may write each other's elements, so the
    array is watched as one that is passed by its address.
    """

    itemsize: int
    shared: bool

    def __new__(cls, fields: bytes, itemsize: int, *, shared: bool = False) -> Self:
        structure = super().__new__(cls, fields)
        structure.itemsize, structure.shared = itemsize, shared
        return structure

    @property
    def address(self) -> int:
        """The address of the array's first element."""
        return int.from_bytes(self[:8], "little")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel; sizes in bytes. `text` is how the source declares it."""

    kind: int
    size: int
    pointee_kind: int
    pointee_size: int
    pointee_const: bool
    name: str = ""
    text: str = ""

    @classmethod
    def from_native(cls, raw: abi.Parameter, text: str) -> Parameter:
        name = text.replace("*", " ").replace("&", " ").split()[-1:] or [""]
        return cls(
            raw.kind, raw.size, raw.pointee_kind, raw.pointee_size, bool(raw.pointee_const),
            name[0], " ".join(text.split()),
        )  # fmt: skip

    @property
    def type_name(self) -> str:
        """Return the type in C's words: `float*`, `int`."""
        if self.kind & 0xFF == POINTER:
            return f"{type_name(self.pointee_kind, self.pointee_size)}*"
        return type_name(self.kind, self.size)


def type_name(kind: int, size: int) -> str:
    """Return C's name of a plain type."""
    if kind & BRAIN:
        return "__nv_bfloat16"
    names = {
        (FLOATING, 2): "half", (FLOATING, 4): "float", (FLOATING, 8): "double",
        (SIGNED, 1): "char", (SIGNED, 2): "short", (SIGNED, 4): "int", (SIGNED, 8): "long long",
        (UNSIGNED, 1): "unsigned char", (UNSIGNED, 2): "unsigned short",
        (UNSIGNED, 4): "unsigned int", (UNSIGNED, 8): "unsigned long long", (BOOLEAN, 1): "bool",
    }  # fmt: skip
    return names.get((kind, size), f"a type of {size} bytes")


def dtype_type(dtype: Any) -> tuple[int, int]:
    """Return kind and size of C's type for a NumPy dtype."""
    dtype = np.dtype(dtype)
    if dtype.name == "bfloat16":
        return FLOATING | BRAIN, 2
    kinds = {"i": SIGNED, "u": UNSIGNED, "f": FLOATING, "b": BOOLEAN}
    return kinds.get(dtype.kind, OTHER), dtype.itemsize


def passed_type(value: object) -> tuple[int, int]:
    """Return kind and size of what CuPy passes for a value.

    Raises:
        TypeError: it passes no such value.
    """
    if isinstance(value, Pointer):
        return POINTER, 8
    if isinstance(value, bytes):
        return OTHER, len(value)
    if isinstance(value, np.generic):
        return dtype_type(value.dtype)
    if isinstance(value, bool):
        return BOOLEAN, 1
    if isinstance(value, int):
        return SIGNED, 8
    if isinstance(value, float):
        return FLOATING, 8
    if isinstance(value, complex):
        return OTHER, 16
    raise TypeError(
        f"A kernel cannot be given a {type(value).__name__}: pass arrays, NumPy scalars such as "
        "np.int32(n) and np.float32(eps), or Python's numbers."
    )


def addresses(structure: np.void) -> list[tuple[str, int]]:
    """Return the members of a structure that may be addresses, whole numbers of 64 bits."""
    fields: Mapping[str, Any] = structure.dtype.fields or {}
    return [
        (name, int(structure[name]))
        for name, (dtype, *_) in fields.items()
        if dtype.kind in "iu" and dtype.itemsize == 8
    ]


def _bytes_of(value: object) -> bytes:
    if isinstance(value, Pointer):
        return value.address.to_bytes(8, "little")
    if isinstance(value, bytes):
        return value
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, int):
        return (value & (1 << 64) - 1).to_bytes(8, "little")
    if isinstance(value, complex):
        return np.complex128(value).tobytes()
    return np.float64(value).tobytes()  # type: ignore[arg-type]


class PackedArguments:
    """Values laid out for the native half; `pointers` is an array of their addresses.

    Raises:
        TypeError: a value is of a kind that is not passed.
    """

    def __init__(self, values: Sequence[object], parameters: Sequence[Parameter]) -> None:
        self.types = [passed_type(value) for value in values]
        self._kept = []
        self.pointers = (ctypes.c_void_p * max(1, len(values)))()
        for number, value in enumerate(values):
            data = _bytes_of(value)
            size = parameters[number].size if number < len(parameters) else 0
            room = ctypes.create_string_buffer(data, max(len(data), size) + _SPARE_BYTES)
            ctypes.memset(
                ctypes.addressof(room) + len(data), 0xFF, max(len(data), size) - len(data)
            )
            self._kept.append(room)
            self.pointers[number] = ctypes.addressof(room)
