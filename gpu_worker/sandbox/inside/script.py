"""Plays a case on a class: the same code for submissions in the runner and for references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .wire import ArrayValue, CaseScript, Operation, Reason

Emit = Callable[[int, Operation, Any, Any], None]
"""Called with the operation's position, the operation, the instance and the result."""
Announce = Callable[[int], None]
"""Called with the operation's position before the class or one of its methods is called."""


CALLS: Final = frozenset({"new", "forward", "backward"})
"""The kinds of operation that run the learner's code for as long as it likes."""
OTHER_NAMES: Final = {
    "gamma": ("weight", "weights", "scale", "gain", "g", "w"),
    "beta": ("bias", "biases", "shift", "offset", "b"),
    "dgamma": (
        "grad_weight",
        "weight_grad",
        "dweight",
        "grad_gamma",
        "gamma_grad",
        "d_gamma",
        "dw",
    ),
    "dbeta": ("grad_bias", "bias_grad", "dbias", "grad_beta", "beta_grad", "d_beta", "db"),
}
"""What parameters and their gradients are called elsewhere."""
SUBMISSION: Final = "submission.py"
"""The name of the learner's file, as its frames have it."""


class RefusalError(Exception):
    """The class does not follow the contract; nothing was raised by it."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text


def arrange(value: ArrayValue) -> NDArray[Any]:
    """Return the values in the memory layout that the case asks for, as a new array.

    `transposed` is a transposed view in two dimensions, and one with the first two axes swapped
    in more; `strided` leaves NaN between the elements; `reversed` has negative strides;
    `broadcast` has strides of zero and is read-only; `offset` begins one element into its memory,
    where no address fits a vector of several.
    """
    values = value.values
    if value.layout == "fortran":
        return np.array(values, order="F")
    if value.layout == "transposed" and values.ndim >= 2:
        axes = (1, 0, *range(2, values.ndim))
        return values.transpose(axes).copy().transpose(axes)
    if value.layout == "strided":
        spaced = np.full((*values.shape[:-1], 2 * values.shape[-1]), np.nan, values.dtype)
        spaced[..., ::2] = values
        return spaced[..., ::2]
    if value.layout == "reversed":
        flipped = np.flip(values).copy()
        return np.flip(flipped)
    if value.layout == "offset":
        later = np.empty(values.size + 1, values.dtype)
        later[1:] = values.ravel()
        return later[1:].reshape(values.shape)
    if value.layout == "broadcast":
        return np.broadcast_to(values.copy(), value.shape)
    return values.copy()


def last_contents(case: CaseScript) -> list[NDArray[Any]]:
    """Return what each input holds at the case's end if nothing but the case fills it."""
    arrays = [np.broadcast_to(value.values, value.shape) for value in case.arrays]
    for operation in case.operations:
        if operation.kind == "fill":
            arrays[operation.instance] = arrays[operation.array]
    return arrays


def play(
    cls: Callable[..., Any],
    operations: Sequence[Operation],
    arrays: Sequence[NDArray[Any]],
    emit: Emit,
    announce: Announce | None = None,
) -> None:
    """Run the operations in order; `emit` is called after each that has a result.

    Raises:
        RefusalError: a method or an attribute is missing, or does not take what it is given.
        BaseException: whatever the class raises.
    """
    layers: dict[int, Any] = {}
    for position, operation in enumerate(operations):
        if announce and operation.kind in CALLS:
            announce(position)
        if operation.kind == "new":
            layers[operation.instance] = _make(cls, operation)
            continue
        if operation.kind == "fill":
            # New content at an old address: `instance` is the index of the array that is filled.
            _fill(arrays[operation.instance], operation.name, arrays[operation.array])
            continue
        layer = layers[operation.instance]
        if operation.kind == "set":
            _set(layer, operation.name, arrays[operation.array])
        elif operation.kind == "cast":
            _cast(layer, operation.name, arrays[operation.array].dtype)
        elif operation.kind == "get":
            emit(position, operation, layer, _attribute(layer, operation.name))
        else:
            method = _method(layer, operation.kind)
            emit(position, operation, layer, _call(method, arrays[operation.array]))


def _make(cls: Callable[..., Any], operation: Operation) -> Any:
    arguments: dict[str, Any] = {}
    if operation.dim:
        # Without it, the class is constructed without the row length.
        arguments["dim"] = operation.dim
    if operation.eps is not None:
        arguments["eps"] = operation.eps
    return _call(cls, **arguments) if operation.by_name else _call(cls, *arguments.values())


def _call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call it; that it does not take these arguments is a refusal, not an error of its own."""
    try:
        return function(*arguments, **named)
    except TypeError as error:
        # If the call itself failed, there is no frame below this one: no line of the body ran.
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        raise RefusalError(Reason.CALL_REFUSED, str(error)) from None


def _fill(array: NDArray[Any], name: str, values: NDArray[Any]) -> None:
    try:
        array[...] = values
    except ValueError:
        # It had the right form and was writable when it was handed out; the class changed that.
        raise RefusalError(Reason.PARAMETER_FIXED, name) from None


def _set(layer: Any, name: str, value: NDArray[Any]) -> None:
    if not hasattr(layer, name):
        raise RefusalError(Reason.PARAMETER_MISSING, _called(layer, name))
    try:
        setattr(layer, name, value)
    except AttributeError as error:
        # A property without a setter, a slot, a frozen dataclass: none of these runs learner code.
        if _runs_own_lines(error):
            raise
        raise RefusalError(Reason.PARAMETER_FIXED, name) from None


def _cast(layer: Any, name: str, dtype: Any) -> None:
    """Set an attribute anew in a dtype; what is no array stays as it is."""
    if not hasattr(layer, name):
        raise RefusalError(Reason.PARAMETER_MISSING, _called(layer, name))
    convert = getattr(getattr(layer, name), "astype", None)
    if callable(convert):
        _set(layer, name, convert(dtype))


def _runs_own_lines(error: BaseException) -> bool:
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SUBMISSION:
            return True
        trace = trace.tb_next
    return False


def _method(layer: Any, name: str) -> Callable[..., Any]:
    method = getattr(layer, name, None)
    if not callable(method):
        raise RefusalError(Reason.METHOD_MISSING, name)
    return method


def _attribute(layer: Any, name: str) -> Any:
    missing = object()
    value = getattr(layer, name, missing)
    if value is missing:
        raise RefusalError(Reason.ATTRIBUTE_MISSING, _called(layer, name))
    return value


def _called(layer: Any, name: str) -> str:
    """Return the name of an attribute that is not there, and behind a colon what it is called."""
    other = next((other for other in OTHER_NAMES.get(name, ()) if hasattr(layer, other)), "")
    return f"{name}:{other}" if other else name
