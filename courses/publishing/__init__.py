"""From a chapter's content to its page: `build` serves both publishing and checks."""

from __future__ import annotations

from .builder import BUILD_VERSION, Built, build

__all__ = ["BUILD_VERSION", "Built", "build"]
