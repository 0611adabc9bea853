"""A figure for the page: the still picture, its controls and numbers, the script's data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from .base import Control, View, initial_state
from .registry import read

RANGE_ATTRIBUTES = {"low": "low", "high": "high", "step": "step", "value": "start"}


def figure_page(
    key: str, kind: str, title: str, parameters: Mapping[str, Any], state: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Return the context of the template `_figure.html`.

    `state` overrides the controls' initial values. `FigureError` if the kind or the parameters are
    invalid.
    """
    found, given = read(kind, parameters)
    controls = found.controls(given)
    view = found.view(given, initial_state(controls) | dict(state))
    drawing = found.draw(given, view, key)
    data = {
        "data": found.script_data(given),
        "planes": {name: plane.spec for name, plane in drawing.planes.items()},
    }
    return {
        "kind": kind,
        "svg": drawing.markup(title, found.describe(given, view)),
        "groups": _groups(controls, view),
        "readouts": [
            {
                "key": one.key,
                "label": _label(one.label),
                "mark": one.mark,
                "text": view.texts[one.key],
            }
            for one in found.readouts(given)
        ],
        "goals": [
            {"key": goal.key, "text": _label(goal.text), "found": _label(goal.found)}
            for goal in found.goals(given)
        ],
        "script": json.dumps(data, separators=(",", ":"), ensure_ascii=False),
    }


def _label(markup: str) -> str:
    """Mark the symbols in a kind's text as not for translation."""
    return markup.replace("<var", '<var translate="no"')


def _groups(controls: Sequence[Control], view: View) -> list[dict[str, Any]]:
    """Group controls by their group's name, in order; ungrouped ones come first."""
    ordered = sorted(controls, key=lambda control: control.group != "")
    return [
        {"name": name, "controls": [_control(control, view) for control in group]}
        for name, group in groupby(ordered, key=lambda control: control.group)
    ]


def _control(control: Control, view: View) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "kind": control.kind,
        "key": control.key,
        "label": _label(control.label),
        "value": control.start,
    }
    if control.kind == "range":
        # As text: templates would localise 0.05.
        for name, attribute in RANGE_ATTRIBUTES.items():
            entry[name] = f"{getattr(control, attribute):.10g}"
        entry["text"] = view.texts[control.key]
    elif control.kind == "choice":
        entry["options"] = list(getattr(control, "options", ()))
    return entry
