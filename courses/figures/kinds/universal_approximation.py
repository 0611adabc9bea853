"""One hidden layer fitted to a function: the largest error against the number of hidden units."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from courses.figures.axes import Axis, Plane, decades
from courses.figures.base import (
    Choice,
    Control,
    FigureKind,
    Goal,
    Parameters,
    Range,
    Readout,
    State,
    View,
)
from courses.figures.numbers import fixed, shown
from courses.figures.svg import Drawing

Array = NDArray[np.float64]
WIDTH, HEIGHT = 420.0, 500.0
SAMPLES = 201  # of [-1, 1], equally spaced; 0 is one of them
MOST_UNITS = 40
ERROR_LOW, ERROR_HIGH = 1e-4, 3.0
NO_ERROR = 1e-12  # below this there is only rounding
CLOSE = 0.01

FUNCTIONS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "abs": ("|x|", np.abs),
    "square": ("x²", np.square),
    "wave": ("sin 2πx", lambda x: np.sin(2 * math.pi * x)),
    "bump": ("1/(1 + 25x²)", lambda x: 1 / (1 + 25 * x**2)),
    "step": ("sign x (not continuous)", np.sign),
}
ACTIVATIONS = {
    "relu": "ReLU: max(0, t)",
    "tanh": "tanh t",
    "square": "t² (a polynomial)",
}


class UniversalApproximationParameters(Parameters):
    function: Literal["abs", "square", "wave", "bump", "step"] = "wave"
    activation: Literal["relu", "tanh", "square"] = "relu"
    units: int = Field(default=8, ge=1, le=MOST_UNITS)


def hidden(activation: str, count: int, x: Array) -> Array:
    """Return what each of `count` hidden units gives at each `x`, shape (len(x), count).

    One unit has w = 0 and makes the constant. The others are fixed: for ReLU and t² at equally
    spaced knots, each with w = 1; for tanh at the middles between them, as steep as they are dense.
    """
    pieces = count - 1
    knots = -1 + 2 * np.arange(pieces) / max(1, pieces)
    from_knots = x[:, None] - knots
    if activation == "relu":
        units = np.maximum(0, from_knots)
    elif activation == "tanh":
        units = np.tanh((from_knots - 1 / max(1, pieces)) * pieces)
    else:
        units = from_knots**2
    return np.concatenate([np.ones((len(x), 1)), units], axis=1)


def fit(function: str, activation: str, count: int) -> tuple[Array, Array]:
    """Return the network's outputs at the samples and its error there, by least squares."""
    x = np.linspace(-1, 1, SAMPLES)
    target = FUNCTIONS[function][1](x)
    units = hidden(activation, count, x)
    weights, *_ = np.linalg.lstsq(units, target, rcond=1e-10)
    output = units @ weights
    error = np.abs(target - output)
    if function == "step":
        # The network is continuous: at the jump it cannot be near both of its sides.
        error[SAMPLES // 2] = 1 + abs(output[SAMPLES // 2])
    return output, error


@cache
def sup_errors(function: str, activation: str) -> tuple[float, ...]:
    """Return the largest error for 1, 2, ..., `MOST_UNITS` hidden units."""
    return tuple(
        float(np.max(fit(function, activation, count)[1])) for count in range(1, MOST_UNITS + 1)
    )


class UniversalApproximation(FigureKind[UniversalApproximationParameters]):
    name: ClassVar[str] = "universal-approximation"
    parameters = UniversalApproximationParameters

    def controls(self, given: UniversalApproximationParameters) -> list[Control]:
        functions = [(name, label) for name, (label, _) in FUNCTIONS.items()]
        return [
            Range("units", "hidden units <var>N</var>", 1, MOST_UNITS, 1, given.units),
            Choice("function", "function <var>f</var>", functions, given.function),
            Choice(
                "activation", "activation <var>σ</var>", [*ACTIVATIONS.items()], given.activation
            ),
        ]

    def readouts(self, given: UniversalApproximationParameters) -> list[Readout]:
        return [
            Readout("sup", "largest error: sup |<var>f</var> − network|", "c"),
            Readout("place", "where: <var>x</var>"),
            Readout("half", "with half as many units"),
        ]

    def goals(self, given: UniversalApproximationParameters) -> list[Goal]:
        return [
            Goal(
                "close",
                "Take a continuous <var>f</var> and add units until the largest error is below "
                "0.01.",
                "There is an <var>N</var> for every error you ask for: that is the theorem.",
            ),
            Goal(
                "polynomial",
                "Take <var>σ</var>(<var>t</var>) = <var>t</var>² for |<var>x</var>| and use all 40 "
                "units.",
                "The error stops falling: every sum of such units is one quadratic function. "
                "<var>σ</var> must not be a polynomial.",
            ),
            Goal(
                "jump",
                "Try the function with a jump, with 30 units or more.",
                "At the jump a continuous network misses one side by at least 1, half the jump. "
                "<var>f</var> must be continuous.",
            ),
        ]

    def view(self, given: UniversalApproximationParameters, state: State) -> View:
        function, activation = str(state["function"]), str(state["activation"])
        count = int(state["units"])
        x = np.linspace(-1, 1, SAMPLES)
        target = FUNCTIONS[function][1](x)
        output, error = fit(function, activation, count)
        errors = sup_errors(function, activation)
        sup = errors[count - 1]
        # The first of places that are equally bad up to rounding: symmetric functions have two.
        worst = int(np.argmax(error > sup * (1 - 1e-6))) if sup > NO_ERROR else SAMPLES // 2
        place = float(x[worst])
        return View(
            lines={
                "target": _curve(x, target),
                "network": _curve(x, output),
                "gap": [(place, float(target[worst])), (place, float(output[worst]))],
                "errors": [(float(n), _visible(value)) for n, value in enumerate(errors, start=1)],
            },
            points={"worst": (place, float(output[worst])), "now": (float(count), _visible(sup))},
            texts={
                "units": str(count),
                "sup": _error(sup),
                "place": fixed(place, 2) if sup > NO_ERROR else "nowhere",
                "half": _error(errors[max(1, count // 2) - 1]),
            },
            goals={
                "close": function != "step" and sup < CLOSE,
                "polynomial": (function, activation, count) == ("abs", "square", MOST_UNITS),
                "jump": function == "step" and count >= 30,
            },
        )

    def draw(self, given: UniversalApproximationParameters, view: View, key: str) -> Drawing:
        main = Plane(Axis(-1, 1, 46, WIDTH - 12), Axis(-1.5, 1.5, 274, 30))
        error = Plane(
            Axis(1, MOST_UNITS, 46, WIDTH - 12, log=True),
            Axis(ERROR_LOW, ERROR_HIGH, HEIGHT - 44, 336, log=True),
        )
        drawing = Drawing(key, WIDTH, HEIGHT, {"main": main, "error": error})
        drawing.x_axis([(-1, "−1"), (0, "0"), (1, "1")], "x")
        drawing.y_axis([(-1, "−1"), (0, "0"), (1, "1")], "")
        drawing.line("target", view.lines["target"], "curve law")
        drawing.line("network", view.lines["network"], "curve a")
        drawing.line("gap", view.lines["gap"], "gap")
        drawing.point("worst", view.points["worst"], "point c", radius=4)
        x, y = main((-1, 1.5))
        drawing.text((x, y - 12), "network", "label a")
        drawing.text((x + 70, y - 12), "f (dashed)", "label")
        drawing.text((x + 150, y - 12), "largest error", "label c")
        ticks = [(n, str(n)) for n in (1, 2, 5, 10, 20, 40)]
        drawing.x_axis(ticks, "hidden units N", "error")
        drawing.y_axis(decades(ERROR_LOW, 1), "largest error", "error")
        drawing.line("errors", view.lines["errors"], "curve c", "error")
        drawing.point(
            "now", view.points["now"], "point c handle", "error", radius=7, data_drag="units",
            data_label="The number of hidden units. Move it with the left and right arrow keys.",
        )  # fmt: skip
        return drawing

    def describe(self, given: UniversalApproximationParameters, view: View) -> str:
        label, texts = FUNCTIONS[given.function][0], view.texts
        return (
            f"Above, the function {label} on the interval from −1 to 1 and a network of "
            f"{texts['units']} hidden units fitted to it by least squares; the largest error is "
            f"{texts['sup']}, at x = {texts['place']}. Below, the largest error against the number "
            f"of hidden units from 1 to {MOST_UNITS}, both axes logarithmic."
        )


def _curve(x: Array, y: Array) -> list[tuple[float, float]]:
    """Every other sample: a picture cannot show more."""
    return list(zip(x[::2].tolist(), y[::2].tolist(), strict=True))


def _visible(error: float) -> float:
    """Errors that are rounding are drawn, and written, as none: their digits mean nothing."""
    return error if error > NO_ERROR else ERROR_LOW * ERROR_LOW


def _error(error: float) -> str:
    return shown(error) if error > NO_ERROR else "0"
