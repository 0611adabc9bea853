"""Write the golden files anew: `python -m courses.tests.rendering.regenerate`.

Run it after a change that is meant to change the HTML, look at the difference, and raise
`RENDERER_VERSION` in the same commit.
"""

from __future__ import annotations

from pathlib import Path

from courses.rendering import Rendered, Source, render_all
from courses.tests.rendering.samples import MARKDOWN, TEX

GOLDEN = Path(__file__).resolve().parent / "golden"


def golden_files() -> dict[str, str]:
    """File name to content, as the renderer gives it now."""
    markdown = render_all({name: Source("markdown", text) for name, (text, _) in MARKDOWN.items()})
    tex = render_all({name: Source("tex_display", text) for name, text in TEX.items()})
    return {
        "markdown.html": _joined(markdown),
        "markdown.css": markdown.css,
        "tex.html": _joined(tex),
        "tex.css": tex.css,
    }


def _joined(rendered: Rendered) -> str:
    return "".join(f"<!-- {name} -->\n{html}\n\n" for name, html in rendered.html.items())


def main() -> None:
    for name, content in golden_files().items():
        (GOLDEN / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
