"""`cupy.ndarray` over NumPy memory, and the way between the two.

It is a type of its own, as in CuPy: NumPy never gets the memory without being asked, and an array
of one kind is not mixed with one of the other.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .missing import missing
from .pointers import Address

_NO_CONVERSION: Final = (
    "Implicit conversion to a NumPy array is not allowed. "
    "Please use `.get()` to construct a NumPy array explicitly."
)
_SCALARS: Final = (bool, int, float, complex, np.generic)


def library() -> Any:
    """Return the package that this module belongs to, under whatever name it was imported."""
    return sys.modules[__name__.rpartition(".")[0]]


def view(values: Any) -> Any:
    """Return a `cupy.ndarray` over device memory that another one holds."""
    made = object.__new__(ndarray)
    _hold(made, values)
    return made


def wrap(values: Any) -> Any:
    """Return what NumPy computed, an array or a scalar, as a new `cupy.ndarray`."""
    computed = np.asarray(values)
    home = memory.place(computed)
    traffic.placed(computed, home)
    return view(home)


def unwrap(value: Any) -> Any:
    """Return what NumPy may compute with: the array's memory, or a scalar.

    Raises:
        TypeError: it is neither, for example a NumPy array, which is not on the device.
    """
    if isinstance(value, ndarray):
        return backing(value)
    if isinstance(value, _SCALARS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def unwrap_deep(value: Any) -> Any:
    """Return the same with arrays in tuples and lists unwrapped, for indices and sequences."""
    if isinstance(value, ndarray):
        return backing(value)
    if isinstance(value, (tuple, list)):
        return type(value)(unwrap_deep(item) for item in value)
    return value


class _Flags:
    """The flags CuPy has."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous = bool(flags.c_contiguous)
        self.f_contiguous = bool(flags.f_contiguous)
        self.owndata = bool(flags.owndata)
        self.fnc = self.f_contiguous and not self.c_contiguous
        self.forc = self.f_contiguous or self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, name.lower()))


class ndarray:
    """A multi-dimensional array as on a device, here in this process's memory."""

    __module__ = "cupy"
    __slots__ = ("__weakref__", "_values")  # see `backing`
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None,
        order: str = "C",
    ) -> None:  # fmt: skip
        if memptr is None:
            _hold(self, memory.new_block(shape, np.dtype(dtype), order, initialised=False))
        else:
            kept = getattr(memptr, "kept", None)
            _hold(self, memory.at_address(memptr.ptr, shape, np.dtype(dtype), strides, kept))

    # --- what it is ---------------------------------------------------------------------------
    dtype = property(lambda self: backing(self).dtype)
    shape = property(
        lambda self: backing(self).shape,
        lambda self, shape: _hold(self, backing(self).reshape(shape)),
    )
    ndim = property(lambda self: backing(self).ndim)
    size = property(lambda self: backing(self).size)
    nbytes = property(lambda self: backing(self).nbytes)
    itemsize = property(lambda self: backing(self).itemsize)
    strides = property(lambda self: backing(self).strides)
    flags = property(lambda self: _Flags(backing(self).flags))
    data = property(lambda self: Address(backing(self).__array_interface__["data"][0], self))
    T = property(lambda self: view(backing(self).T))
    mT = property(lambda self: view(backing(self).mT))
    real = property(lambda self: view(backing(self).real))
    imag = property(lambda self: wrap(backing(self).imag))

    @property
    def device(self) -> Any:
        return library().cuda.Device(0)

    @property
    def base(self) -> Any:
        base = backing(self).base
        return None if base is None or base.dtype == np.uint8 else view(base)

    def __len__(self) -> int:
        if not backing(self).ndim:
            raise TypeError("len() of unsized object")
        return len(backing(self))

    def __iter__(self) -> Iterator[Any]:
        if not backing(self).ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[place] for place in range(len(self)))

    # --- between host and device --------------------------------------------------------------
    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        """Return a copy as a NumPy array. Values come to the host by this alone."""
        traffic.count_transfer(self.nbytes)
        if out is not None:
            out[...] = backing(self)
            return out
        return np.array(backing(self), order=order)  # type: ignore[call-overload]

    def set(self, values: Any, stream: Any = None) -> None:
        """Copy a NumPy array of the same shape and dtype into this one."""
        if not isinstance(values, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if values.dtype != self.dtype or values.shape != self.shape:
            raise ValueError(
                f"An array of shape {values.shape} and dtype {values.dtype} does not fit into one "
                f"of shape {self.shape} and dtype {self.dtype}."
            )
        traffic.count_transfer(self.nbytes)
        backing(self)[...] = values
        memory.mark_written(backing(self))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(_NO_CONVERSION)

    def item(self) -> Any:
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        return bytes(self.get().tobytes(order))

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        return int(self.get().__index__())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, form: str) -> str:
        return format(self.get(), form)

    def __reduce__(self) -> Any:
        return library().array, (self.get(),)

    # --- views and copies ---------------------------------------------------------------------
    def __getitem__(self, index: Any) -> Any:
        index = unwrap_deep(index)
        taken = backing(self)[index]
        # A single element is a view of no dimensions in CuPy, not a scalar.
        if not isinstance(taken, np.ndarray):
            places = index if isinstance(index, tuple) else (index,)
            taken = backing(self)[(*places, ...)]
        if _shares(taken, backing(self)):
            return view(taken)
        traffic.count([taken], [taken])
        return wrap(taken)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = unwrap_deep(index)
        if not isinstance(value, ndarray):
            value = _host_value(value)
        source = backing(value) if isinstance(value, ndarray) else value
        with np.errstate(all="ignore"):
            backing(self)[index] = source
        target = backing(self)[index]
        if isinstance(target, np.ndarray):
            memory.mark_written(target if _shares(target, backing(self)) else backing(self))
            traffic.count([source] if isinstance(source, np.ndarray) else [], [target])

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe",
               subok: Any = None, copy: bool = True) -> Any:  # fmt: skip
        if not copy and self.dtype == np.dtype(dtype):
            return self
        if np.dtype(dtype).hasobject:
            raise TypeError(f"Unsupported dtype {dtype}")
        with np.errstate(all="ignore"):
            made = backing(self).astype(dtype, order=order, casting=casting)
        traffic.count([backing(self)], [made])
        return wrap(made)

    def copy(self, order: str = "C") -> Any:
        made = backing(self).copy(order=order)
        traffic.count([backing(self)], [made])
        return wrap(made)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def view(self, dtype: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype).hasobject:
            raise TypeError(f"Unsupported dtype {dtype}")
        return view(backing(self).view() if dtype is None else backing(self).view(dtype))

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        made = backing(self).reshape(*shape, order=order)
        if _shares(made, backing(self)):
            return view(made)
        traffic.count([backing(self)], [made])
        return wrap(made)

    def ravel(self, order: str = "C") -> Any:
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> Any:
        made = backing(self).flatten(order)
        traffic.count([backing(self)], [made])
        return wrap(made)

    def transpose(self, *axes: Any) -> Any:
        return view(backing(self).transpose(*axes))

    def swapaxes(self, first: int, second: int) -> Any:
        return view(backing(self).swapaxes(first, second))

    def squeeze(self, axis: Any = None) -> Any:
        return view(backing(self).squeeze(axis))

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, axis: int = -1) -> None:
        self[...] = library().sort(self, axis)

    def partition(self, kth: Any, axis: int = -1) -> None:
        self[...] = library().partition(self, kth, axis)

    # --- NumPy's functions on it --------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = getattr(library(), ufunc.__name__, None)
        if function is None or method != "__call__":
            return NotImplemented
        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
        return function(*inputs, **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        try:
            own = functools.reduce(
                getattr, [*func.__module__.split(".")[1:], func.__name__], library()
            )
        except AttributeError:
            return NotImplemented
        return own(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise missing("ndarray", name, dir(ndarray))


backing: Final[Callable[[Any], Any]] = ndarray.__dict__["_values"].__get__
"""Returns the memory of an array, as NumPy has it, and counts nothing. No attribute of an array
gives it away, so what a program sees of the values is copied, and counted, by `get`.
"""
_hold: Final[Callable[[Any, Any], None]] = ndarray.__dict__["_values"].__set__
delattr(ndarray, "_values")


def _shares(values: Any, owner: Any) -> bool:
    """True if an array is a view of the owner's memory; without elements, it may be called one."""
    return not values.size or np.may_share_memory(values, owner)


def _host_value(value: Any) -> Any:
    """Return what may be assigned to elements beside a `cupy.ndarray`: scalars and lists.

    Raises:
        TypeError: a NumPy array with dimensions, which would have to be moved to the device.
    """
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def define_methods(names: tuple[str, ...]) -> None:
    """Give `ndarray` methods that call the package's functions of the same names."""
    for name in names:

        def method(self: Any, *args: Any, _name: str = name, **kwargs: Any) -> Any:
            return getattr(library(), _name)(self, *args, **kwargs)

        method.__name__ = name
        setattr(ndarray, name, method)


_OPERATORS: Final = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide"},
    **{"floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul"},
    **{"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"},
    **{"lshift": "left_shift", "rshift": "right_shift"},
}
_COMPARISONS: Final = {
    **{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"},
    **{"gt": "greater", "ge": "greater_equal"},
}
_UNARY: Final = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _define_operators() -> None:
    def forward(self: Any, other: Any, _name: str) -> Any:
        if getattr(other, "__array_ufunc__", _SCALARS) is None:
            return NotImplemented
        return getattr(library(), _name)(self, other)

    def reflected(self: Any, other: Any, _name: str) -> Any:
        return getattr(library(), _name)(other, self)

    def in_place(self: Any, other: Any, _name: str) -> Any:
        return getattr(library(), _name)(self, other, out=self)

    def unary(self: Any, _name: str) -> Any:
        return getattr(library(), _name)(self)

    for short, name in (*_OPERATORS.items(), *_COMPARISONS.items()):
        setattr(ndarray, f"__{short}__", _bound(forward, name))
    for short, name in _OPERATORS.items():
        setattr(ndarray, f"__r{short}__", _bound(reflected, name))
        setattr(ndarray, f"__i{short}__", _bound(in_place, name))
    for short, name in _UNARY.items():
        setattr(ndarray, f"__{short}__", _bound(unary, name))


def _bound(function: Any, name: str) -> Any:
    def method(*args: Any) -> Any:
        return function(*args, _name=name)

    return method


_define_operators()
