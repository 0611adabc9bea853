"""The geometry of RMSNorm and LayerNorm for a row of two or three numbers."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
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
from courses.figures.numbers import fixed, row, shown
from courses.figures.svg import Drawing

Vector = NDArray[np.float64]
WIDTH, HEIGHT, MARGIN = 420.0, 420.0, 12.0
OUTLINE_POINTS = 60
SUBSCRIPTS = "₀₁₂₃"
TILT = math.radians(22)  # how far from above a space of three axes is seen
PLANE_SHARE = 0.8  # radius of the disc that stands for the plane, in limits
SAME_PLACE = 0.05  # between two results that the picture shows as one
LEFT_NOTHING = 1e-6  # root mean square of a row that centring has taken away


class NormGeometryParameters(Parameters):
    x: list[float] = Field(min_length=2, max_length=3)
    gamma: list[float] = Field(default=[], max_length=3)  # empty: ones
    eps: float = Field(default=1e-6, gt=0, le=1)
    limit: float = Field(default=3.0, ge=1, le=100)  # half the picture's width, in values of x
    turn: float = Field(default=335.0, ge=0, le=360)  # degrees about the third axis

    @model_validator(mode="after")
    def _fits(self) -> NormGeometryParameters:
        if self.gamma and len(self.gamma) != len(self.x):
            raise ValueError("gamma needs as many numbers as x, or none")
        if any(abs(value) > self.limit for value in self.x):
            raise ValueError("the numbers of x must lie between -limit and limit")
        return self


class NormGeometry(FigureKind[NormGeometryParameters]):
    name: ClassVar[str] = "norm-geometry"
    parameters = NormGeometryParameters

    def controls(self, given: NormGeometryParameters) -> list[Control]:
        limit, names = given.limit, range(1, len(given.x) + 1)
        controls: list[Control] = [
            Range(f"x{n}", f"<var>x</var><sub>{n}</sub>", -limit, limit, 0.05, given.x[n - 1])
            for n in names
        ]
        if len(given.x) == 3:
            controls.append(Range("turn", "Turn the view", 0, 360, 5, given.turn))
        gamma = given.gamma or [1.0] * len(given.x)
        controls += [
            Range(f"gamma{n}", f"<var>γ</var><sub>{n}</sub>", 0, 2, 0.1, gamma[n - 1], "Scale γ")
            for n in names
        ]
        return controls

    def readouts(self, given: NormGeometryParameters) -> list[Readout]:
        return [
            Readout("x", "<var>x</var>", "x"),
            Readout("rms-y", "RMSNorm(<var>x</var>)", "a"),
            Readout("ln-y", "LayerNorm(<var>x</var>)", "b"),
            Readout("mean", "mean <var>μ</var>"),
            Readout("rms", "RMS(<var>x</var>)"),
            Readout("square", "mean square of RMSNorm(<var>x</var>)"),
        ]

    def goals(self, given: NormGeometryParameters) -> list[Goal]:
        return [
            Goal(
                "same",
                "Find rows that both norms send to the same place. What do their numbers add up "
                "to?",
                "They add up to zero. Re-centring a row of mean 0 changes nothing.",
            ),
            Goal(
                "nothing",
                "Make all numbers of <var>x</var> equal. What does LayerNorm leave of them?",
                "Nothing: the row is all mean, and only <var>ε</var> keeps 0/0 away. RMSNorm "
                "keeps its direction.",
            ),
        ]

    def view(self, given: NormGeometryParameters, state: State) -> View:
        size = len(given.x)
        x = np.array([state[f"x{n}"] for n in range(1, size + 1)], dtype=np.float64)
        gamma = np.array([state[f"gamma{n}"] for n in range(1, size + 1)], dtype=np.float64)
        eye = camera(float(state.get("turn", 0.0)), size)
        mean, rms = float(x.mean()), math.sqrt(float(np.mean(x**2)) + given.eps)
        centred = x - mean
        deviation = math.sqrt(float(np.mean(centred**2)))
        rms_y = x / rms * gamma
        ln_y = centred / math.sqrt(deviation**2 + given.eps) * gamma
        decimals = 5 - size  # a row fits beside its name
        view = View(
            lines={
                "sphere": _outline(eye * (gamma * math.sqrt(size))),
                **_centred_places(eye, gamma, given.limit),
                "x": _route(eye, np.zeros(size), x),
                "to-rms": _route(eye, x, rms_y),
                "to-ln": _route(eye, x, centred, ln_y),
            },
            points={"x": _seen(eye, x), "rms": _seen(eye, rms_y), "ln": _seen(eye, ln_y)},
            texts={f"x{n}": fixed(x[n - 1], 2) for n in range(1, size + 1)}
            | {f"gamma{n}": fixed(gamma[n - 1], 1) for n in range(1, size + 1)}
            | {
                "x": row(x, 2),
                "rms-y": row(rms_y, decimals),
                "ln-y": row(ln_y, decimals),
                "mean": fixed(mean, 3),
                "rms": shown(rms),
                "square": fixed(float(np.mean(rms_y**2)), 3),
            },
            goals={
                "same": bool(
                    np.max(np.abs(rms_y - ln_y)) < SAME_PLACE and np.max(np.abs(rms_y)) > SAME_PLACE
                ),
                "nothing": deviation < LEFT_NOTHING < abs(mean),
            },
        )
        if size == 3:
            view.texts["turn"] = f"{state['turn']:g}°"
            for n, axis in enumerate(np.eye(3) * given.limit, start=1):
                view.lines[f"axis{n}"] = _route(eye, np.zeros(3), axis)
                view.points[f"name{n}"] = _seen(eye, axis)
        return view

    def draw(self, given: NormGeometryParameters, view: View, key: str) -> Drawing:
        # Of three axes the corners of the cube reach further than its sides.
        reach = given.limit * (1.08 if len(given.x) == 2 else 1.15)
        plane = Plane(
            Axis(-reach, reach, MARGIN, WIDTH - MARGIN),
            Axis(-reach, reach, HEIGHT - MARGIN, MARGIN),
        )
        drawing = Drawing(key, WIDTH, HEIGHT, {"main": plane})
        if len(given.x) == 2:
            _flat_axes(drawing, given.limit)
        for n in (1, 2, 3):
            if f"axis{n}" in view.lines:
                drawing.line(f"axis{n}", view.lines[f"axis{n}"], "axis")
                drawing.point(
                    f"name{n}", view.points[f"name{n}"], "name", label=f"x{SUBSCRIPTS[n]}", radius=0
                )
        drawing.line("centred", view.lines["centred"], "plane", closed=len(given.x) == 3)
        # Where gamma = 1 would put all results: it stays when the scale is changed.
        whole = _outline(np.eye(2) * math.sqrt(len(given.x)))
        drawing.line(None, whole, "curve faint", closed=True)
        drawing.line("sphere", view.lines["sphere"], "curve a ball", closed=True)
        if "circle" in view.lines:
            drawing.line("equator", view.lines["equator"], "curve faint", closed=True)
            drawing.line("circle", view.lines["circle"], "curve b", closed=True)
        drawing.line("to-rms", view.lines["to-rms"], "route a")
        drawing.line("to-ln", view.lines["to-ln"], "route b")
        drawing.line("x", view.lines["x"], "stem")
        drawing.point("ln", view.points["ln"], "point b", label="LayerNorm", offset=(10, 20))
        drawing.point("rms", view.points["rms"], "point a", label="RMSNorm", offset=(-10, -10))
        drawing.point(
            "x", view.points["x"], "point handle", label="x", offset=(11, -11), radius=7,
            data_drag="x1 x2 x3" if len(given.x) == 3 else "x1 x2",
            data_label="The row x. Move it with the arrow keys.",
        )  # fmt: skip
        return drawing

    def describe(self, given: NormGeometryParameters, view: View) -> str:
        shape = "circle" if len(given.x) == 2 else "sphere"
        centred = "line" if len(given.x) == 2 else "plane"
        texts = view.texts
        return (
            f"The row x = {texts['x']} with two routes. RMSNorm moves it along its own direction "
            f"to {texts['rms-y']} on the {shape} of radius √{len(given.x)}. LayerNorm first drops "
            f"it onto the {centred} where the numbers add up to zero and then brings it to "
            f"{texts['ln-y']} on the same {shape}."
        )


def camera(turn_degrees: float, size: int) -> Vector:
    """Return the matrix (2, size) that maps a row onto the picture: the identity for two axes."""
    if size == 2:
        return np.eye(2)
    turn = math.radians(turn_degrees)
    right = (-math.sin(turn), math.cos(turn), 0.0)
    up = (-math.sin(TILT) * math.cos(turn), -math.sin(TILT) * math.sin(turn), math.cos(TILT))
    return np.array([right, up])


def _seen(eye: Vector, x: Vector) -> Point:
    u, v = eye @ x
    return float(u), float(v)


def _route(eye: Vector, *stops: Vector) -> list[Point]:
    return [_seen(eye, stop) for stop in stops]


def _outline(matrix: Vector) -> list[Point]:
    """Return the outline of the image of the unit ball under `matrix` (2, size): an ellipse.

    It is L(cos t, sin t) with the Cholesky factor L of matrix @ matrix.T.
    """
    square = matrix @ matrix.T
    first = math.sqrt(square[0, 0])
    slant = square[0, 1] / first if first else 0.0
    second = math.sqrt(max(0.0, square[1, 1] - slant**2))
    angles = (2 * math.pi * place / OUTLINE_POINTS for place in range(OUTLINE_POINTS))
    return [
        (first * math.cos(angle), slant * math.cos(angle) + second * math.sin(angle))
        for angle in angles
    ]


def _centred_places(eye: Vector, gamma: Vector, limit: float) -> dict[str, list[Point]]:
    """Return the centred rows, and for three numbers their images under LayerNorm."""
    if len(gamma) == 2:
        return {"centred": [(-limit, limit), (limit, -limit)]}
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2.0], [6.0]])  # orthonormal rows
    return {
        "centred": _outline(eye @ basis.T * limit * PLANE_SHARE),
        "equator": _outline((eye * gamma)[:, :2] * math.sqrt(3)),
        "circle": _outline((eye * gamma) @ basis.T * math.sqrt(3)),
    }


def _flat_axes(drawing: Drawing, limit: float) -> None:
    plane = drawing.planes["main"]
    whole = range(-math.floor(limit), math.floor(limit) + 1)
    drawing.grid([(plane((n, -limit)), plane((n, limit))) for n in whole])
    drawing.grid([(plane((-limit, n)), plane((limit, n))) for n in whole])
    drawing.line(None, [(-limit, 0), (limit, 0)], "axis")
    drawing.line(None, [(0, -limit), (0, limit)], "axis")
    x, y = plane((limit, 0))
    drawing.text((x, y + 18), f"x{SUBSCRIPTS[1]}", "name", text_anchor="end")
    x, y = plane((0, limit))
    drawing.text((x + 8, y + 12), f"x{SUBSCRIPTS[2]}", "name")
    x, y = plane((-limit + 0.15, limit - 0.15))
    drawing.text((x + 8, y), "mean 0", "label b")
    x, y = plane((-1, 1))
    drawing.text((x - 4, y - 40), "radius √2", "label a", text_anchor="end")
