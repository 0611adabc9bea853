"""Known mistakes that every layer over rows can make: digits lost on the way, another default eps.

A reference has the methods `forward`, `backward` and `cast`, and of those that normalize `weighted`
and one that applies its parameters; see the reference of RMSNorm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank

Method = Callable[..., Any]

_NEVER_NARROWER: Final = (
    "float16 has three digits only: convert to a wider type, never to a narrower one."
)
_FLOAT32_INSIDE: Final = (
    "For float64 input about seven digits are right, and the errors go both ways: results are only "
    "as exact as float32. A step runs in float32, or is approximated, for example a derivative by "
    "differences. float64 input needs exact formulas in float64 arithmetic: widen float16 to "
    "float32, and leave wider types as they are."
)
_HALF_RESULTS: Final = (
    "Results hold float16 numbers whatever the type of x is: they were rounded to float16 before "
    "they were returned. Convert the wide result once, to the type of x."
)
_OTHER_DEFAULTS: Final = (1e-5, 1e-8, 1e-3, 1e-12, 1e-7, 1e-4, 1e-10, 0.0)


def add_lost_digits(
    bank: Bank,
    reference: type,
    places: Mapping[str, str],
    *,
    in_backward: Mapping[str, str] | None = None,
    scale: str = "",
    parameters: Sequence[str] = (),
) -> None:
    """Register that float64 is computed in float32, and that float16 is met on the way.

    `places` are the ids of what is concerned. A reference with `parameters`, of which gamma is one,
    has a method `scale` that applies them; `in_backward` are the ids of gamma in backward.
    """
    bank.variant(
        "float32-inside",
        _FLOAT32_INSIDE,
        **places,
        exact_as="float32",
        loses_digits=True,
        made=_derived(reference, "ComputedInFloat32", _computed_in_float32(reference)),
    )(_derived(reference, "Float32Inside", {}))
    for name, subject, methods in _rounded_to_half(reference, scale, parameters):
        ids = in_backward if in_backward and name == "HalfGammaBackward" else places
        text = f"{subject} {_NEVER_NARROWER}"
        bank.variant("float16-inside", text, **ids, exact_as="float32")(
            _derived(reference, name, methods)
        )
    bank.variant(
        "float16-inside",
        _HALF_RESULTS,
        **places,
        exact_as="float16",
        loses_digits=True,
        on_grid=True,
        made=_derived(
            reference, "ReturnedThroughHalf", {"cast": _with_half(reference, "cast", argument=True)}
        ),
    )(_derived(reference, "HalfResults", {}))


def add_default_eps(bank: Bank, reference: type, places: Mapping[str, str]) -> None:
    """Register that the constructor has another default of eps; `places` are ids."""
    for value in _OTHER_DEFAULTS:
        bank.variant(
            "eps-default",
            f"The constructor's default of eps is {value:g}. By contract it is 1e-6: "
            "def __init__(self, dim, eps=1e-6).",
            **places,
        )(_derived(reference, "DefaultEps", {"__init__": _with_default(reference, value)}))


def _rounded_to_half(
    reference: type, scale: str, parameters: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, Method]]]:
    """Yield each variant's name, what is rounded in it, and the methods that it replaces."""

    def argument(*methods: str, beside: Sequence[str] = ()) -> dict[str, Method]:
        return {
            name: _with_half(reference, name, argument=True, parameters=beside) for name in methods
        }

    def parameter(parameter: str, *methods: str) -> dict[str, Method]:
        return {name: _with_half(reference, name, parameters=(parameter,)) for name in methods}

    its = "rounded to float16 on the way, whatever its type is."
    theirs = its.replace("its", "their")
    yield "HalfX", f"x is {its}", argument("forward")
    yield "HalfXAndDout", f"x and dout are {theirs}", argument("forward", "backward")
    if parameters:
        every = f"{', '.join(('x', 'dout', *parameters[:-1]))} and {parameters[-1]} are {theirs}"
        yield "HalfEverything", every, argument("forward", "backward", beside=parameters)
    yield "HalfDout", f"dout is {its}", argument("backward")
    if not parameters:
        return
    for name, where, methods in (
        ("HalfGammaForward", "in forward", (scale,)),
        ("HalfGammaBackward", "in backward", ("weighted",)),
        ("HalfGamma", "on the way", (scale, "weighted")),
    ):
        text = f"gamma is rounded to float16 {where}, whatever its type is."
        yield name, text, parameter("gamma", *methods)
    yield (
        "HalfNormalized",
        "The normalized rows are rounded to float16 before gamma scales them, whatever the type of "
        "x is.",
        argument(scale),
    )
    if "beta" in parameters:
        yield "HalfBeta", f"beta is {its}", parameter("beta", scale)


def _with_half(
    reference: type, method: str, *, argument: bool = False, parameters: Sequence[str] = ()
) -> Method:
    """Return the method with its argument, or parameters of the layer, rounded to float16."""
    original: Method = getattr(reference, method)

    def rounding(self: Any, values: Array) -> Any:
        kept = {name: getattr(self, name) for name in parameters}
        for name, value in kept.items():
            setattr(self, name, _rounded(value))
        result = original(self, _rounded(values) if argument else values)
        vars(self).update(kept)
        return result

    return rounding


def _rounded(values: Array) -> Array:
    """Return the values as they come back from float16."""
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(values.dtype)


def _computed_in_float32(reference: Any) -> dict[str, Method]:
    def forward(self: Any, x: Array) -> Array:
        narrow = x.astype(np.float32) if x.dtype == np.float64 else x
        y: Array = reference.forward(self, narrow)
        return y.astype(x.dtype)

    def backward(self: Any, dout: Array) -> Array:
        dx: Array = reference.backward(self, dout)
        return dx.astype(dout.dtype)

    return {"forward": forward, "backward": backward}


def _with_default(reference: Any, value: float) -> Method:
    def constructor(self: Any, dim: int, eps: float = value) -> None:
        reference.__init__(self, dim, eps)

    return constructor


def _derived(reference: type, name: str, methods: Mapping[str, Method]) -> type:
    return type(name, (reference,), dict(methods))
