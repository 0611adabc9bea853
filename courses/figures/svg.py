"""Drawings as inline SVG: classes instead of styles, a title and a description.

Moving elements have a name, `data-part`, by which the script finds them. Elements in a plane are
clipped to its box, so curves may leave their axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from .axes import Plane, Point

TICK_UNITS = 4.0
LABEL_UNITS = 8.0
# A curve along the edge of its box keeps its whole width.
CLIP_MARGIN_UNITS = 2.0
Ticks = Iterable[tuple[float, str]]


def units(value: float) -> str:
    """Return a length in the drawing's units, to a tenth: less cannot be seen."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def path(points: Iterable[Point], closed: bool = False) -> str:
    """Return the path through points that are already in the drawing's units.

    Steps from point to point, in tenths rounded as a whole, are half as long as places.
    """
    places = [(round(x * 10), round(y * 10)) for x, y in points]
    if not places:
        return ""
    start, *rest = places
    steps = [
        f"{units((x - before_x) / 10)} {units((y - before_y) / 10)}"
        for (before_x, before_y), (x, y) in zip(places, rest, strict=False)
    ]
    line = f"l{' '.join(steps)}" if steps else ""
    return f"M{units(start[0] / 10)} {units(start[1] / 10)}{line}{'z' if closed else ''}"


def attributes(values: Mapping[str, object]) -> str:
    """Return attributes with a space before each; None leaves one out, `_` is written `-`."""
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in values.items()
        if value is not None
    )


@dataclass(slots=True)
class Drawing:
    """One picture of `width` by `height` units with named planes; elements stand in order.

    `key` makes its ids unique on the page.
    """

    key: str
    width: float
    height: float
    planes: Mapping[str, Plane]
    elements: list[str] = field(default_factory=list)

    def add(self, tag: str, text: str | None = None, **values: object) -> None:
        """Add an element; `class_` is its class, `text` its content."""
        content = "/>" if text is None else f">{escape(text)}</{tag}>"
        self.elements.append(f"<{tag}{attributes(values)}{content}")

    def text(self, at: Point, text: str, class_: str = "label", **values: object) -> None:
        self.add("text", text, class_=class_, x=units(at[0]), y=units(at[1]), **values)

    def line(
        self,
        part: str | None,
        points: Sequence[Point],
        class_: str,
        plane: str = "main",
        closed: bool = False,
    ) -> None:
        """Add a line through values in a plane; with a name it can be moved."""
        places = map(self.planes[plane], points)
        self.add(
            "path",
            class_=class_,
            data_part=part,
            data_plane=None if plane == "main" else plane,
            data_closed="" if closed and part else None,
            clip_path=f"url(#{self._clip_id(plane)})",
            d=path(places, closed),
        )

    def point(
        self,
        part: str,
        at: Point,
        class_: str,
        plane: str = "main",
        label: str = "",
        offset: Point = (9.0, -9.0),
        value: str | None = None,
        radius: float = 5.5,
        **values: object,
    ) -> None:
        """Add a marker that can be moved, with its name beside it.

        `value` names a text of the view that stands in place of `label`. A `radius` of 0 leaves
        only the text.
        """
        x, y = self.planes[plane](at)
        start = attributes(
            {
                "class_": class_,
                "data_part": part,
                "data_plane": None if plane == "main" else plane,
                "transform": f"translate({units(x)} {units(y)})",
                **values,
            }
        )
        marker = f'<circle r="{units(radius)}"/>' if radius else ""
        name = ""
        if label or value:
            anchor = "end" if offset[0] < 0 else "middle" if offset[0] == 0 else None
            place = {
                "class_": "label",
                "x": units(offset[0]),
                "y": units(offset[1]),
                "text_anchor": anchor,
                "data_value": value,
            }
            name = f"<text{attributes(place)}>{escape(label)}</text>"
        self.elements.append(f"<g{start}>{marker}{name}</g>")

    def grid(self, lines: Iterable[tuple[Point, Point]]) -> None:
        """Add straight lines between places of the drawing, as one element."""
        self.add("path", class_="grid", d="".join(path(line) for line in lines))

    def x_axis(self, ticks: Ticks, name: str, plane: str = "main") -> None:
        """Add the axis at the bottom of a plane's box, its ticks, and its name below them."""
        box = self.planes[plane]
        bottom, top = box.y.start, box.y.end
        places = [(box.x(value), label) for value, label in ticks]
        self.grid([((x, bottom), (x, top)) for x, _ in places])
        for x, label in places:
            self.text((x, bottom + 18), label, "tick", text_anchor="middle")
        self.add("path", class_="axis", d=path([(box.x.start, bottom), (box.x.end, bottom)]))
        self.text((box.x.end, bottom + 36), name, "name", text_anchor="end")

    def y_axis(self, ticks: Ticks, name: str, plane: str = "main") -> None:
        """Add the axis at the left of a plane's box, its ticks, and its name above it."""
        box = self.planes[plane]
        left, right = box.x.start, box.x.end
        places = [(box.y(value), label) for value, label in ticks]
        self.grid([((left, y), (right, y)) for y, _ in places])
        for y, label in places:
            self.text((left - LABEL_UNITS, y + TICK_UNITS), label, "tick", text_anchor="end")
        self.text((0, box.y.end - 12), name, "name")

    def markup(self, title: str, description: str) -> str:
        """Return the whole picture."""
        name = f"picture-{self.key}"
        clips = "".join(
            f'<clipPath id="{self._clip_id(plane)}"><rect{attributes(_box(axes))}/></clipPath>'
            for plane, axes in self.planes.items()
        )
        return (
            f'<svg class="picture" viewBox="0 0 {units(self.width)} {units(self.height)}" '
            f'role="img" aria-labelledby="{name}-title" aria-describedby="{name}-text">'
            f'<title id="{name}-title">{escape(title)}</title>'
            f'<desc id="{name}-text">{escape(description)}</desc>'
            f"<defs>{clips}</defs>{''.join(self.elements)}</svg>"
        )

    def _clip_id(self, plane: str) -> str:
        return f"clip-{self.key}-{plane}"


def _box(plane: Plane) -> dict[str, str]:
    left, right = sorted((plane.x.start, plane.x.end))
    top, bottom = sorted((plane.y.start, plane.y.end))
    return {
        "x": units(left - CLIP_MARGIN_UNITS),
        "y": units(top - CLIP_MARGIN_UNITS),
        "width": units(right - left + 2 * CLIP_MARGIN_UNITS),
        "height": units(bottom - top + 2 * CLIP_MARGIN_UNITS),
    }
