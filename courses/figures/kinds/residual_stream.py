"""Variance of the residual stream against depth: no norm, post-norm and pre-norm, simulated."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, ClassVar

from pydantic import Field, field_validator

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
from courses.figures.numbers import percent, shown
from courses.figures.simulate_residual import DATA_PATH, DEPTH, GAINS
from courses.figures.svg import Drawing

WIDTH, HEIGHT = 420.0, 380.0
VARIANCE_LOW, VARIANCE_HIGH = 1e-2, 1e16
MUCH = 10_000.0
SMALL_GAIN = 0.25


@cache
def simulated() -> dict[str, Any]:
    """Return the simulation's data, as `simulate_residual` wrote them."""
    data: dict[str, Any] = json.loads(DATA_PATH.read_text(encoding="utf-8"))
    return data


class ResidualStreamParameters(Parameters):
    gain: float = 1.0
    depth: int = Field(default=12, ge=1, le=DEPTH)

    @field_validator("gain")
    @classmethod
    def _simulated(cls, gain: float) -> float:
        if gain not in GAINS:
            raise ValueError(f"simulated are the gains {', '.join(f'{one:g}' for one in GAINS)}")
        return gain


class ResidualStream(FigureKind[ResidualStreamParameters]):
    name: ClassVar[str] = "residual-stream"
    parameters = ResidualStreamParameters

    def controls(self, given: ResidualStreamParameters) -> list[Control]:
        gains = [(f"{gain:g}", f"g = {gain:g}") for gain in GAINS]
        return [
            Range("depth", "depth: blocks passed, <var>L</var>", 1, DEPTH, 1, given.depth),
            Choice("gain", "gain of every branch, <var>g</var>", gains, f"{given.gain:g}"),
        ]

    def readouts(self, given: ResidualStreamParameters) -> list[Readout]:
        return [
            Readout("plain", "no norm", "c"),
            Readout("plain-law", "its law (1 + <var>g</var>²)<sup><var>L</var></sup>"),
            Readout("pre", "pre-norm", "a"),
            Readout("pre-law", "its law 1 + <var>g</var>²<var>L</var>"),
            Readout("post", "post-norm", "b"),
            Readout("share", "pre-norm: what block <var>L</var> added"),
        ]

    def goals(self, given: ResidualStreamParameters) -> list[Goal]:
        return [
            Goal(
                "exploded",
                "Without a norm, after which block does the variance first pass 10,000?",
                "Where (1 + <var>g</var>²)<sup><var>L</var></sup> does: for <var>g</var> = 1 "
                "after 14 doublings, since 2¹³ = 8192 and 2¹⁴ = 16384.",
            ),
            Goal(
                "diluted",
                "At <var>g</var> = 1, go so deep that a pre-norm block adds less than 3% to the "
                "variance.",
                "The stream grows as 1 + <var>L</var>, so block <var>L</var> adds about "
                "1/<var>L</var> of it: deep pre-norm blocks change little.",
            ),
            Goal(
                "tamed",
                "Find a gain with which even the network without a norm stays below 100 at the "
                "full depth.",
                "A small gain tames it too: 1.0625<sup>48</sup> ≈ 18. Small branches at "
                "initialisation are the other cure.",
            ),
        ]

    def script_data(self, given: ResidualStreamParameters) -> dict[str, Any]:
        return {"variances": simulated()["variances"]}

    def view(self, given: ResidualStreamParameters, state: State) -> View:
        depth, gain = int(state["depth"]), float(state["gain"])
        variances = simulated()["variances"][state["gain"]]
        plain, pre, post = (variances[name] for name in ("plain", "pre", "post"))
        depths = range(len(plain))
        growth = 1 + gain**2
        share = pre[depth] / pre[depth - 1] - 1
        return View(
            lines={
                **{
                    name: [(float(n), values[n]) for n in depths]
                    for name, values in variances.items()
                },
                "plain-law": [(float(n), growth**n) for n in depths],
                "pre-law": [(float(n), 1 + gain**2 * n) for n in depths],
                "now": [(float(depth), VARIANCE_LOW), (float(depth), VARIANCE_HIGH)],
            },
            points={name: (float(depth), values[depth]) for name, values in variances.items()},
            texts={
                "depth": str(depth),
                "plain": shown(plain[depth]),
                "plain-law": shown(growth**depth),
                "pre": shown(pre[depth]),
                "pre-law": shown(1 + gain**2 * depth),
                "post": shown(post[depth]),
                "share": percent(share),
            },
            goals={
                "exploded": plain[depth] > MUCH >= plain[depth - 1],
                "diluted": gain == 1 and share < 0.03,
                "tamed": gain == SMALL_GAIN and depth == len(plain) - 1,
            },
        )

    def draw(self, given: ResidualStreamParameters, view: View, key: str) -> Drawing:
        plane = Plane(
            Axis(0, DEPTH, 46, WIDTH - 12),
            Axis(VARIANCE_LOW, VARIANCE_HIGH, HEIGHT - 44, 30, log=True),
        )
        drawing = Drawing(key, WIDTH, HEIGHT, {"main": plane})
        drawing.x_axis([(n, str(n)) for n in range(0, DEPTH + 1, 8)], "blocks passed, L")
        drawing.y_axis(decades(1, VARIANCE_HIGH, 4), "variance of the residual stream")
        drawing.line("now", view.lines["now"], "now")
        drawing.line("plain-law", view.lines["plain-law"], "curve law")
        drawing.line("pre-law", view.lines["pre-law"], "curve law")
        drawing.line("plain", view.lines["plain"], "curve c")
        drawing.line("pre", view.lines["pre"], "curve a")
        drawing.line("post", view.lines["post"], "curve b")
        x, y = plane((28, 2.0**28))
        drawing.text((x - 12, y - 10), "no norm", "label c", text_anchor="end")
        x, y = plane((DEPTH, DEPTH))
        drawing.text((x - 2, y - 12), "pre-norm", "label a", text_anchor="end")
        x, y = plane((DEPTH, 1.0))
        drawing.text((x - 2, y + 18), "post-norm", "label b", text_anchor="end")
        drawing.point("pre", view.points["pre"], "point a")
        drawing.point("post", view.points["post"], "point b")
        drawing.point(
            "plain", view.points["plain"], "point c handle", radius=7, data_drag="depth",
            data_label="The depth. Move it with the left and right arrow keys.",
        )  # fmt: skip
        return drawing

    def describe(self, given: ResidualStreamParameters, view: View) -> str:
        run, texts = simulated(), view.texts
        return (
            "Variance of the residual stream after each of "
            f"{run['depth']} blocks at initialisation, on a logarithmic axis, from a simulation "
            f"(width {run['width']}, {run['rows']} rows, mean of {run['seeds']} seeds). Without a "
            f"norm it follows (1 + g²) to the power L, after {texts['depth']} blocks "
            f"{texts['plain']}; with pre-norm 1 + g²L, there {texts['pre']}; with post-norm it "
            f"stays at 1, there {texts['post']}. Dashed lines are the laws."
        )
