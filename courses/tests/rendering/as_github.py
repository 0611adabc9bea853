"""Ask GitHub's renderer what it makes of the nasty texts, and keep it.

`pip install cmarkgfm` (a binding of cmark-gfm) somewhere, then
`python -m courses.tests.rendering.as_github` from the root of the repository.
"""

from __future__ import annotations

import json
from pathlib import Path

from courses.tests.rendering.nasty import NASTY

GITHUB = Path(__file__).resolve().parent / "golden" / "github.json"


def main() -> None:
    import cmarkgfm
    from cmarkgfm.cmark import Options, _cmark

    options = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE
    kept = {
        "renderer": f"cmark-gfm {_cmark.ffi.string(_cmark.lib.cmark_version_string()).decode()}",
        "texts": {
            name: {"text": text, "html": cmarkgfm.github_flavored_markdown_to_html(text, options)}
            for name, text in NASTY.items()
        },
    }
    GITHUB.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
