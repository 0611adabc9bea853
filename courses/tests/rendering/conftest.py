"""The tests of rendering ask KaTeX each time, as the site does."""

from __future__ import annotations

import pytest

from courses.rendering import tex
from tests.formulas import Remembered


@pytest.fixture(autouse=True)
def _rendered_each_time(formulas: Remembered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tex, "_ask_child", formulas.ask)
