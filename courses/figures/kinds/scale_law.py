"""How a factor alpha changes RMSNorm's result and gradient, and where epsilon breaks the law."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from pydantic import Field, field_validator

from courses.figures.axes import Axis, Plane, decades, log_space
from courses.figures.base import (
    Control,
    FigureKind,
    Goal,
    Parameters,
    Range,
    Readout,
    State,
    Switch,
    View,
)
from courses.figures.numbers import percent, row, shown
from courses.figures.svg import Drawing

WIDTH, HEIGHT = 420.0, 380.0
ALPHA_LOW, ALPHA_HIGH = 1e-6, 1e4
SIZE_LOW, SIZE_HIGH = 1e-5, 1e6
CURVE_POINTS = 51
BROKEN_FROM = 0.01  # relative error of the plain law at which the shaded region begins
SEARCH_STEPS = 60
NEAR_A_TENTH = (0.08, 0.12)


class ScaleLawParameters(Parameters):
    x: list[float] = Field(min_length=2, max_length=5)
    eps: float = Field(default=1e-6, ge=1e-12, le=1e-2)
    alpha: float = Field(default=0.01, ge=ALPHA_LOW, le=ALPHA_HIGH)

    @field_validator("x")
    @classmethod
    def _not_zero(cls, x: list[float]) -> list[float]:
        if not any(x):
            raise ValueError("a row of zeros stays zero whatever it is multiplied by")
        return x


class Scale:
    """RMSNorm at alpha x for alpha > 0 and gamma = 1, by its Jacobian's closed form.

    J = (I - xhat xhat^T / D) / rms has the singular value 1/rms in all directions across x, of
    which there are D - 1, and (1/rms) eps / (ms + eps) along x, where ms = mean((alpha x)^2).
    """

    def __init__(self, x: list[float], eps: float) -> None:
        self.mean_square = float(np.mean(np.square(x)))
        self.across = len(x) - 1
        self.eps = eps

    def size(self, alpha: float) -> float:
        """Return the root mean square of y = RMSNorm(alpha x)."""
        square = alpha**2 * self.mean_square
        return math.sqrt(square / (square + self.eps))

    def gradient(self, alpha: float) -> float:
        """Return the Frobenius norm of J_eps(alpha x)."""
        total = alpha**2 * self.mean_square + self.eps
        return math.sqrt((self.across + (self.eps / total) ** 2) / total)

    def law(self, alpha: float) -> float:
        """Return the Frobenius norm of J_0(x) / alpha: what holds without epsilon."""
        return math.sqrt(self.across / self.mean_square) / alpha

    def error(self, alpha: float) -> float:
        """Return the Frobenius norm of J_eps(alpha x) - J_0(x)/alpha relative to the latter."""
        share = self.eps / (alpha**2 * self.mean_square)
        shrunk = 1 / math.sqrt(1 + share)
        # 1 - shrunk without the cancellation that a small share would bring.
        missing = share * shrunk / (1 + shrunk) * shrunk
        along = shrunk * share / (1 + share)
        return math.sqrt(missing**2 + along**2 / self.across)

    def edge(self) -> float:
        """Return the alpha below which the law is off by more than `BROKEN_FROM`."""
        low, high = -12.0, 12.0
        for _ in range(SEARCH_STEPS):
            middle = (low + high) / 2
            if self.error(10**middle) > BROKEN_FROM:
                low = middle
            else:
                high = middle
        return float(10 ** ((low + high) / 2))


class ScaleLaw(FigureKind[ScaleLawParameters]):
    name: ClassVar[str] = "scale-law"
    parameters = ScaleLawParameters

    def controls(self, given: ScaleLawParameters) -> list[Control]:
        return [
            Range.of_powers("alpha", "|<var>α</var>|", ALPHA_LOW, ALPHA_HIGH, 0.05, given.alpha),
            Range("eps", "<var>ε</var>", -12, -2, 0.5, math.log10(given.eps)),
            Switch("negative", "<var>α</var> is negative"),
        ]

    def readouts(self, given: ScaleLawParameters) -> list[Readout]:
        return [
            Readout("y", "<var>y</var>"),
            Readout("size", "RMS of <var>y</var>", "a"),
            Readout("gradient", "‖<var>J</var>(<var>αx</var>)‖", "b"),
            Readout("law", "‖<var>J</var><sub>0</sub>(<var>x</var>)‖/|<var>α</var>|", "law"),
            Readout("off", "the law is off by"),
            Readout("edge", "off by 1% at |<var>α</var>|"),
        ]

    def goals(self, given: ScaleLawParameters) -> list[Goal]:
        return [
            Goal(
                "off",
                "Make <var>α</var> small until the law is off by about 10%.",
                "There <var>ε</var> is no longer small beside the mean square of "
                "<var>αx</var>: it is about a seventh of it.",
            ),
            Goal(
                "moved",
                "Make <var>ε</var> a hundred times larger or smaller and find that place again. "
                "How far did it move?",
                "By a factor of ten: the place moves with √<var>ε</var>.",
            ),
        ]

    def view(self, given: ScaleLawParameters, state: State) -> View:
        alpha, eps = 10 ** float(state["alpha"]), 10 ** float(state["eps"])
        scale = Scale(given.x, eps)
        alphas = log_space(ALPHA_LOW, ALPHA_HIGH, CURVE_POINTS)
        edge = scale.edge()
        signed = -alpha if state["negative"] else alpha
        rms = math.sqrt(alpha**2 * scale.mean_square + eps)
        off = scale.error(alpha)
        near = NEAR_A_TENTH[0] <= off <= NEAR_A_TENTH[1]
        return View(
            lines={
                "size": [(one, scale.size(one)) for one in alphas],
                "gradient": [(one, scale.gradient(one)) for one in alphas],
                "law": [(one, scale.law(one)) for one in (ALPHA_LOW, ALPHA_HIGH)],
                "broken": [
                    (ALPHA_LOW, SIZE_LOW),
                    (edge, SIZE_LOW),
                    (edge, SIZE_HIGH),
                    (ALPHA_LOW, SIZE_HIGH),
                ],
                "now": [(alpha, SIZE_LOW), (alpha, SIZE_HIGH)],
            },
            points={
                "size": (alpha, scale.size(alpha)),
                "gradient": (alpha, scale.gradient(alpha)),
            },
            texts={
                "alpha": shown(alpha, 3),
                "eps": shown(eps, 3),
                "y": row([signed * value / rms for value in given.x], 2),
                "size": shown(scale.size(alpha)),
                "gradient": shown(scale.gradient(alpha)),
                "law": shown(scale.law(alpha)),
                "off": percent(off),
                "edge": shown(edge, 3),
            },
            goals={
                "off": near,
                "moved": near and abs(float(state["eps"]) - math.log10(given.eps)) > 0.5,
            },
        )

    def draw(self, given: ScaleLawParameters, view: View, key: str) -> Drawing:
        plane = Plane(
            Axis(ALPHA_LOW, ALPHA_HIGH, 46, WIDTH - 12, log=True),
            Axis(SIZE_LOW, SIZE_HIGH, HEIGHT - 44, 30, log=True),
        )
        drawing = Drawing(key, WIDTH, HEIGHT, {"main": plane})
        drawing.line("broken", view.lines["broken"], "region", closed=True)
        drawing.x_axis(decades(ALPHA_LOW, ALPHA_HIGH, 2), "|α|")
        drawing.y_axis(decades(SIZE_LOW, SIZE_HIGH, 2), "")
        drawing.line("now", view.lines["now"], "now")
        drawing.line("law", view.lines["law"], "curve law")
        drawing.line("size", view.lines["size"], "curve a")
        drawing.line("gradient", view.lines["gradient"], "curve b")
        x, y = plane((ALPHA_HIGH, 1.0))
        drawing.text((x - 4, y - 10), "RMS of y", "label a", text_anchor="end")
        x, y = plane((1e2, Scale(given.x, given.eps).law(1e2)))
        drawing.text((x + 4, y - 8), "‖J(αx)‖", "label b")
        x, y = plane((ALPHA_LOW, SIZE_HIGH))
        drawing.text((x + 8, y - 10), "law off by more than 1%", "label")
        drawing.point("size", view.points["size"], "point a")
        drawing.point(
            "gradient", view.points["gradient"], "point b handle", radius=7, data_drag="alpha",
            data_label="The factor alpha. Move it with the left and right arrow keys.",
        )  # fmt: skip
        return drawing

    def describe(self, given: ScaleLawParameters, view: View) -> str:
        texts = view.texts
        return (
            "Two curves over |alpha| from 10⁻⁶ to 10⁴, both axes logarithmic, for the row "
            f"x = {row(given.x, 2)} and epsilon = {texts['eps']}. The root mean square of "
            "y is 1 and the norm of the Jacobian falls as 1/|alpha|, except in the shaded region "
            f"below |alpha| = {texts['edge']}, where epsilon makes the law wrong by more than 1%: "
            "there y shrinks to zero and the norm of the Jacobian levels off. At |alpha| = "
            f"{texts['alpha']} the norm is {texts['gradient']}."
        )
