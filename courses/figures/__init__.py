"""Interactive figures: computed and drawn here as a still, animated by a script.

To add a kind: a module in `kinds/`, a module of the same name in `static/js/figures/kinds/`, and
`npm run build`. Tests compare the two.
"""

from __future__ import annotations

from .page import figure_page
from .registry import FigureError, in_order, kinds, read

__all__ = ["FigureError", "figure_page", "in_order", "kinds", "read"]
