"""`cupy.ndarray` over NumPy memory, and the way between the two.

It is a type of its own, as in CuPy: NumPy never gets the memory implicitly, and arrays of the two
kinds do not mix.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from . import memory, operators, traffic
from .missing import missing
from .pointers import Address, array_at

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
    traffic.check_fusible()
    return _array(values)


def _array(values: Any) -> Any:
    made = object.__new__(ndarray)
    _hold(made, values)
    return made


def wrap(values: Any) -> Any:
    """Return what NumPy computed, an array or a scalar, as a new `cupy.ndarray`."""
    computed = np.asarray(values)
    home = memory.place(computed)
    traffic.placed(computed, home)
    return _array(home)


def unwrap(value: Any) -> Any:
    """Return what NumPy may compute with: the array's memory, or a scalar.

    Raises:
        TypeError: it is neither, for example a NumPy array, which is not on the device.
    """
    if isinstance(value, ndarray):
        return backing(value)
    if isinstance(value, _SCALARS) and not isinstance(value, np.flexible):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def unwrap_deep(value: Any) -> Any:
    """Return the same with arrays in tuples and lists unwrapped, for indices and sequences."""
    if isinstance(value, ndarray):
        return backing(value)
    if isinstance(value, (tuple, list)):
        made = [unwrap_deep(item) for item in value]
        return tuple(made) if isinstance(value, tuple) else made
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
        traffic.check_fusible()
        if memptr is None:
            _hold(self, memory.new_block(shape, np.dtype(dtype), order, initialised=False))
        else:
            _hold(self, array_at(memptr, shape, np.dtype(dtype), strides))

    # --- what it is ---------------------------------------------------------------------------
    dtype = property(lambda self: backing(self).dtype)
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

    @property
    def shape(self) -> Any:
        traffic.check_fusible()
        return backing(self).shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        _hold(self, _reshaped(backing(self), shape))

    @property
    def imag(self) -> Any:
        has_one = self.dtype.kind == "c"
        return view(backing(self).imag) if has_one else library().zeros_like(self)

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
        if out is not None:
            if not isinstance(out, np.ndarray):
                raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
            np.asarray(out)[...] = self.get()
            return out
        traffic.count_transfer(self.nbytes)
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
        places, read = _places(index)
        if _is_basic(places):
            if not all(map(_is_whole, places)):
                traffic.check_fusible()
            # A single element is a view of no dimensions in CuPy, not a scalar.
            return _array(backing(self)[places if ... in places else (*places, ...)])
        taken = np.asarray(backing(self)[places])
        traffic.count([taken, *read], [taken])
        return wrap(taken)

    def __setitem__(self, index: Any, value: Any) -> None:
        places, read = _places(index)
        if _is_basic(places):
            places = places if ... in places else (*places, ...)
            target = backing(self)[places]
            if isinstance(value, ndarray) and _is_same(backing(value), target):
                return
            source = unwrap(_number(value))
        else:
            # Listed indices are filled from an array; a host array is moved to the device.
            source = unwrap(value if isinstance(value, _SCALARS) else library().asarray(value))
            target = np.asarray(backing(self)[places])
        with np.errstate(all="ignore"):
            backing(self)[places] = source
        memory.mark_written(backing(self), places)
        inputs = [source, *read] if isinstance(source, np.ndarray) else read
        traffic.count(inputs, [target], fusible=_is_all(index))

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe",
               subok: Any = None, copy: bool = True) -> Any:  # fmt: skip
        if not copy and self.dtype == np.dtype(dtype):
            return self
        if np.dtype(dtype).hasobject:
            raise TypeError(f"Unsupported dtype {dtype}")
        with np.errstate(all="ignore"):
            made = backing(self).astype(dtype, order=order, casting=casting)
        traffic.count([backing(self)], [made], fusible=True)
        return wrap(made)

    def copy(self, order: str = "C") -> Any:
        made = backing(self).copy(order=order)
        traffic.count([backing(self)], [made], fusible=True)
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
        return NotImplemented if own is func else own(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise missing("ndarray", name, dir(ndarray))


backing: Final[Callable[[Any], Any]] = ndarray.__dict__["_values"].__get__
"""Returns the memory of an array, as NumPy has it, and counts nothing. No attribute of an array
gives it away, so what a program sees of the values is copied, and counted, by `get`.
"""
_hold: Final[Callable[[Any, Any], None]] = ndarray.__dict__["_values"].__set__
delattr(ndarray, "_values")


def _reshaped(values: Any, shape: Any) -> Any:
    """Return a view in another shape.

    Raises:
        AttributeError: it would take a copy.
    """
    made = values.reshape(shape)
    if not _shares(made, values):
        raise AttributeError("Incompatible shape for a non-contiguous array: use x.reshape(shape)")
    return made


def _shares(values: Any, owner: Any) -> bool:
    """True if an array is a view of the owner's memory; without elements, it may be called one."""
    return not values.size or np.may_share_memory(values, owner)


def _is_same(one: Any, other: Any) -> bool:
    """True if two arrays are the same elements of memory: a copy has nothing to do."""
    same = one.__array_interface__["data"] == other.__array_interface__["data"]
    return same and (one.shape, one.strides) == (other.shape, other.strides)


def _number(value: Any) -> Any:
    """Return a NumPy array without dimensions as the number that it is, anything else as it is."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim else value


def _places(index: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return an index as NumPy takes it, and the arrays of the device that are read for it.

    Lists and NumPy arrays are moved to the device, as CuPy moves them.
    """
    places: list[Any] = []
    read = []
    for item in index if isinstance(index, tuple) else (index,):
        place = _number(unwrap_deep(item))
        if isinstance(item, (list, tuple, range, np.ndarray)) and not isinstance(place, np.generic):
            place = np.asarray(place) if len(place) else place
            traffic.count_transfer(getattr(place, "nbytes", 0))
        elif isinstance(item, ndarray):
            place = backing(item)
        if isinstance(place, np.ndarray):
            read.append(place)
        places.append(place)
    return tuple(places), read


def define_methods(names: tuple[str, ...]) -> None:
    """Give `ndarray` methods that call the package's functions of the same names."""
    for name in names:

        def method(self: Any, *args: Any, _name: str = name, **kwargs: Any) -> Any:
            return getattr(library(), _name)(self, *args, **kwargs)

        method.__name__ = name
        setattr(ndarray, name, method)


operators.define(ndarray, library)


def _is_all(index: Any) -> bool:
    """True for the indices to which a function of `cupy.fuse` may assign."""
    return index is ... or (isinstance(index, slice) and index == slice(None))


def _is_whole(place: Any) -> bool:
    """True for the indices that such a function may take of an axis: all of it, or one."""
    whole = (slice(None), slice(None, None, 1), slice(None, None, -1))
    return not isinstance(place, slice) or place in whole


def _is_basic(places: tuple[Any, ...]) -> bool:
    """True if an index gives a view: numbers, slices, new axes and `...`."""
    return all(
        place is None
        or place is ...
        or isinstance(place, slice)
        or (isinstance(place, (int, np.integer)) and not isinstance(place, bool))
        for place in places
    )
