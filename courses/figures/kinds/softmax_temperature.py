"""Softmax of logits divided by a temperature: its bars, its entropy, and where exp overflows."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from courses.figures.axes import Axis, Plane, Point
from courses.figures.base import (
    Control,
    FigureKind,
    Goal,
    Parameters,
    Range,
    Readout,
    State,
    View,
)
from courses.figures.numbers import INFINITY, fixed, row, shown
from courses.figures.svg import Drawing

WIDTH, HEIGHT = 420.0, 320.0
BAR_SHARE = 0.7  # of the room that each class has
TEMPERATURE_LOW, TEMPERATURE_HIGH = 0.01, 100.0
LARGEST_LOGIT = 1e4
# exp of anything above this is infinite in float32.
FLOAT32_LARGEST_EXPONENT = math.log(float(np.finfo(np.float32).max))
NEARLY_ONE = 0.999


class SoftmaxTemperatureParameters(Parameters):
    logits: list[float] = Field(min_length=2, max_length=12)
    labels: list[str] = Field(default=[], max_length=12)  # plain text; empty: z1, z2, ...
    temperature: float = Field(default=1.0, ge=TEMPERATURE_LOW, le=TEMPERATURE_HIGH)

    @model_validator(mode="after")
    def _fits(self) -> SoftmaxTemperatureParameters:
        if self.labels and len(self.labels) != len(self.logits):
            raise ValueError("labels needs as many texts as there are logits, or none")
        if any(abs(logit) > LARGEST_LOGIT for logit in self.logits):
            raise ValueError(f"logits must lie between -{LARGEST_LOGIT:g} and {LARGEST_LOGIT:g}")
        if len(set(self.logits)) == 1:
            raise ValueError("logits that are all equal stay uniform at every temperature")
        return self


class SoftmaxTemperature(FigureKind[SoftmaxTemperatureParameters]):
    name: ClassVar[str] = "softmax-temperature"
    parameters = SoftmaxTemperatureParameters

    def controls(self, given: SoftmaxTemperatureParameters) -> list[Control]:
        low, high = TEMPERATURE_LOW, TEMPERATURE_HIGH
        label = "temperature <var>T</var>"
        return [
            Range.of_powers("temperature", label, low, high, 0.01, given.temperature),
            Range("shift", "add <var>c</var> to all logits", -200, 200, 5, 0),
        ]

    def readouts(self, given: SoftmaxTemperatureParameters) -> list[Readout]:
        return [
            Readout("entropy", "entropy, in nats"),
            Readout("uniform", "its largest value, ln <var>K</var>"),
            Readout("choices", "equal choices of that entropy: e<sup>entropy</sup>"),
            Readout("largest", "largest probability"),
            Readout("total", "sum of the probabilities"),
            Readout("naive", "largest exp(<var>z</var>/<var>T</var>) in float32"),
        ]

    def goals(self, given: SoftmaxTemperatureParameters) -> list[Goal]:
        return [
            Goal(
                "flat",
                "Raise <var>T</var> until the entropy is within 0.1% of its largest value.",
                "At high temperature all differences of logits vanish beside <var>T</var>: the "
                "distribution becomes uniform.",
            ),
            Goal(
                "sharp",
                "Lower <var>T</var> until one class has more than 99.9%.",
                "At low temperature softmax becomes the maximum, and the entropy goes to 0.",
            ),
            Goal(
                "overflow",
                "At <var>T</var> near 1, add a constant until exp overflows in float32. What do "
                "the bars do?",
                "They do not move: only differences of logits count. That is why code subtracts "
                "the largest logit before exp.",
            ),
        ]

    def view(self, given: SoftmaxTemperatureParameters, state: State) -> View:
        temperature, shift = 10 ** float(state["temperature"]), float(state["shift"])
        logits = np.array(given.logits, dtype=np.float64) + shift
        shares = np.exp((logits - logits.max()) / temperature)
        shares /= shares.sum()
        logs = np.log(shares, where=shares > 0, out=np.zeros_like(shares))
        entropy, most = float(-np.sum(shares * logs)) + 0.0, math.log(len(logits))
        exponent = float(logits.max()) / temperature
        overflows = exponent > FLOAT32_LARGEST_EXPONENT
        names = range(1, len(logits) + 1)
        return View(
            lines={f"bar{n}": _bar(n, float(shares[n - 1])) for n in names},
            points={f"share{n}": (float(n), float(shares[n - 1])) for n in names},
            texts={f"share{n}": fixed(float(shares[n - 1]), 3) for n in names}
            | {
                "temperature": shown(temperature, 3),
                "shift": fixed(shift, 0),
                "entropy": fixed(entropy, 4),
                "uniform": fixed(most, 4),
                "choices": fixed(math.exp(entropy), 3),
                "largest": fixed(float(shares.max()), 4),
                "total": fixed(float(shares.sum()), 4),
                "naive": f"{INFINITY}: it overflows" if overflows else shown(math.exp(exponent), 3),
            },
            goals={
                "flat": entropy > NEARLY_ONE * most,
                "sharp": float(shares.max()) > NEARLY_ONE,
                "overflow": overflows and 0.5 < temperature < 2,
            },
        )

    def draw(self, given: SoftmaxTemperatureParameters, view: View, key: str) -> Drawing:
        count = len(given.logits)
        plane = Plane(Axis(0.5, count + 0.5, 40, WIDTH - 8), Axis(0, 1, HEIGHT - 34, 32))
        drawing = Drawing(key, WIDTH, HEIGHT, {"main": plane})
        drawing.y_axis([(tick / 4, f"{tick / 4:g}") for tick in range(5)], "probability")
        for n, name in enumerate(given.labels or [f"z{n}" for n in range(1, count + 1)], start=1):
            drawing.line(f"bar{n}", view.lines[f"bar{n}"], "bar", closed=True)
            drawing.point(
                f"share{n}",
                view.points[f"share{n}"],
                "share",
                label=view.texts[f"share{n}"],
                value=f"share{n}",
                offset=(0, -6),
                radius=0,
            )
            x, y = plane((n, 0))
            drawing.text((x, y + 20), name, "tick", text_anchor="middle")
        drawing.line(None, [(0.5, 0), (count + 0.5, 0)], "axis")
        return drawing

    def describe(self, given: SoftmaxTemperatureParameters, view: View) -> str:
        shares = ", ".join(view.texts[f"share{n}"] for n in range(1, len(given.logits) + 1))
        return (
            f"Bars of the probabilities that softmax gives the logits {row(given.logits, 2)} at "
            f"temperature {view.texts['temperature']}: {shares}. The entropy is "
            f"{view.texts['entropy']} nats of at most {view.texts['uniform']}."
        )


def _bar(place: int, height: float) -> list[Point]:
    half = BAR_SHARE / 2
    return [(place - half, 0), (place - half, height), (place + half, height), (place + half, 0)]
