"""The vendored KaTeX: script on the server, styles and fonts for the page, all of one version."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

from courses.rendering.katex_child import KATEX_PATH

VENDOR = Path(settings.BASE_DIR) / "static" / "vendor" / "katex"


def test_the_stylesheet_loads_only_woff2_fonts_that_are_there() -> None:
    css = (VENDOR / "katex.min.css").read_text()
    urls = re.findall(r"url\(([^)]*)\)", css)
    assert urls
    assert set(urls) == {f"fonts/{path.name}" for path in (VENDOR / "fonts").iterdir()}
    assert all(url.endswith(".woff2") for url in urls)
    for url in urls:
        assert (VENDOR / url).read_bytes()[:4] == b"wOF2"


def test_script_and_stylesheet_are_of_the_same_version() -> None:
    script = re.findall(r'version:"([\d.]+)"|"(0\.\d+\.\d+)"', KATEX_PATH.read_text())
    versions = {one or other for one, other in script}
    css = re.findall(r'\.katex-version:after\{content:"([\d.]+)"\}', _css())
    assert set(css) == versions
    assert len(versions) == 1


def test_the_script_stays_on_the_server() -> None:
    static = Path(settings.BASE_DIR) / "static"
    assert list(static.rglob("*katex*.js")) == []


def test_the_licence_is_with_both_parts() -> None:
    for folder in (VENDOR, KATEX_PATH.parent):
        assert "MIT License" in (folder / "LICENSE").read_text()


def _css() -> str:
    return (VENDOR / "katex.min.css").read_text()
