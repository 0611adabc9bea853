"""Lets the tests of a process render each formula once.

Each save of a chapter renders all its formulas in a process of its own, which reads KaTeX anew.
Hundreds of tests save the same few chapters. What KaTeX says of a formula depends on nothing else,
so what it said before is said again; it is asked only for what is new. The tests of rendering
itself have the real thing each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

Answer = dict[str, Any]
Ask = Callable[[Sequence[Any]], list[Answer]]

WALL_LIMIT_SECONDS = 600
"""In place of the site's limit, which a busy machine may reach."""


class Remembered:
    """Asks KaTeX only for formulas that it has not been asked for yet."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._known: dict[Any, Answer] = {}

    def __call__(self, formulas: Sequence[Any]) -> list[Answer]:
        new = [formula for formula in formulas if formula not in self._known]
        answers = dict(zip(new, self.ask(new), strict=True))
        # Those that met a limit may fare better another time.
        self._known |= {formula: a for formula, a in answers.items() if "html" in a}
        known = {**self._known, **answers}
        return [dict(known[formula]) for formula in formulas]


@contextmanager
def rendered_once() -> Iterator[Remembered]:
    """Within it, formulas are rendered once, by a process that may take its time."""
    from courses.rendering import tex

    remembered = Remembered(tex._ask_child)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tex, "_ask_child", remembered)
        patch.setattr(tex, "CHILD_WALL_LIMIT_SECONDS", WALL_LIMIT_SECONDS)
        yield remembered
