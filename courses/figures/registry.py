"""The registry of kinds: one for each module of `courses.figures.kinds`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import ValidationError

from . import kinds as kinds_package
from .base import FigureKind, Parameters


class FigureError(ValueError):
    """A figure that cannot be drawn. `field` is `kind` or `parameters`; the text says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@cache
def kinds() -> dict[str, FigureKind[Any]]:
    """Return all kinds by name, in alphabetical order."""
    found: dict[str, FigureKind[Any]] = {}
    for module_info in pkgutil.iter_modules(kinds_package.__path__):
        module = importlib.import_module(f"{kinds_package.__name__}.{module_info.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, FigureKind) and kind.__module__ == module.__name__:
                found[kind.name] = kind()
    return dict(sorted(found.items()))


def read(kind: str, parameters: Mapping[str, Any]) -> tuple[FigureKind[Any], Parameters]:
    """Return a figure's kind with its validated parameters; `FigureError` if they are invalid."""
    if kind not in kinds():
        raise FigureError(
            "kind", f"There is no kind of figure “{kind}”. There are: {', '.join(kinds())}."
        )
    found = kinds()[kind]
    try:
        return found, found.parameters.model_validate(dict(parameters))
    except ValidationError as error:
        known = ", ".join(found.parameters.model_fields)
        problems = "; ".join(_sentence(problem) for problem in error.errors())
        raise FigureError(
            "parameters", f"{problems}. Figures of kind {kind} have the parameters: {known}."
        ) from error


def in_order(kind: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters in their kind's order: databases do not keep the order of JSON keys."""
    known = list(kinds()[kind].parameters.model_fields) if kind in kinds() else []
    unknown = sorted(set(parameters) - set(known))
    return {name: parameters[name] for name in [*known, *unknown] if name in parameters}


def _sentence(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
