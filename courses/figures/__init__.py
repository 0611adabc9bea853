"""Figures that a learner can move: computed here and drawn as a still, moved by a script.

Adding a kind: a module in `kinds/`, a module of the same name in `static/js/figures/kinds/`, and
`npm run build`. Tests then compare the two.
"""

from __future__ import annotations

from .page import figure_page
from .registry import FigureError, in_order, kinds, read

__all__ = ["FigureError", "figure_page", "in_order", "kinds", "read"]
