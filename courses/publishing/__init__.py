"""From a chapter's content to its page: `build` is the one way, for publishing and for checks."""

from __future__ import annotations

from .builder import BUILD_VERSION, Built, build

__all__ = ["BUILD_VERSION", "Built", "build"]
