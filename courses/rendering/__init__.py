"""The rendering pipeline: Markdown, TeX and code to HTML without scripts or inline styles."""

from courses.rendering.changed import without_marks
from courses.rendering.code import render_code
from courses.rendering.model import (
    RENDERER_VERSION,
    Link,
    Rendered,
    RenderError,
    Source,
    SourceError,
    too_long,
)
from courses.rendering.pipeline import render_all

__all__ = [
    "RENDERER_VERSION",
    "Link",
    "RenderError",
    "Rendered",
    "Source",
    "SourceError",
    "render_all",
    "render_code",
    "too_long",
    "without_marks",
]
