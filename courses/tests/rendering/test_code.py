from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.conf import settings
from pygments.token import STANDARD_TYPES

from courses.rendering import render_code

SITE_CSS = Path(settings.BASE_DIR) / "static" / "css" / "site.css"

PYTHON = '''

import numpy as np


class Norm:
    """Two
    lines."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        # <b>not bold</b> & safe
        return x / np.sqrt(np.mean(x**2) + 1e-6)
'''


def text_of(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


def test_the_text_of_a_listing_is_the_code_byte_for_byte() -> None:
    assert text_of(render_code(PYTHON, "python")) == PYTHON


def test_every_line_is_an_element_with_its_number() -> None:
    markup = render_code(PYTHON, "python")
    lines = re.findall(r'<span class="line" data-line="(\d+)">(.*?)</span>\n', markup)
    assert [int(number) for number, _ in lines] == list(range(1, PYTHON.count("\n") + 1))
    for number, line in zip(range(1, 100), markup.splitlines()[:-1], strict=False):
        assert line.count("<span") == line.count("</span>"), number


def test_named_lines_get_their_anchors() -> None:
    markup = render_code(PYTHON, "python", {12: "rstd", 7: 'a"b'})
    (line,) = (line for line in markup.splitlines() if 'id="line-rstd"' in line)
    assert text_of(line) == PYTHON.splitlines()[11]
    assert 'data-line="12"' in line
    assert 'id="line-a&quot;b"' in markup


def test_code_is_escaped_and_has_classes_only() -> None:
    markup = render_code(PYTHON, "python")
    assert "<b>" not in markup
    assert "style=" not in markup
    assert '<span class="k">class</span>' in markup


def test_an_unknown_language_is_plain_text() -> None:
    assert text_of(render_code("a <b> c\n", "no such language")) == "a <b> c\n"


def test_windows_line_ends_do_not_make_lines() -> None:
    assert render_code("a = 1\r\nb = 2\r\n", "python") == render_code("a = 1\nb = 2\n", "python")


# --- colours ---------------------------------------------------------------------------------


def colours() -> dict[str, tuple[str, str]]:
    """Custom property to its light and dark colour, of the code and of the page's styles."""
    pattern = r"--([\w-]+):\s*light-dark\(\s*(#[0-9a-f]{3,6})\s*,\s*(#[0-9a-f]{3,6})\s*\)"
    return {m[1]: (m[2], m[3]) for m in re.finditer(pattern, SITE_CSS.read_text())}


def code_rules() -> str:
    """The part of the page's styles that is for listings."""
    section = SITE_CSS.read_text().split("/* --- what the renderer writes", 1)[1]
    return section.split("/* ---", 1)[0]


def luminance(colour: str) -> float:
    """Relative luminance after WCAG 2.2."""
    digits = colour.removeprefix("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio after WCAG 2.2, from 1 to 21."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("background", ["code-bg", "accent-soft", "warn-soft"])
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_token_is_readable_on_plain_and_marked_lines(background: str, theme: int) -> None:
    found = colours()
    tokens = {name: value for name, value in found.items() if name.startswith("code-")}
    del tokens["code-bg"]
    assert len(tokens) >= 8
    ratios = {name: contrast(v[theme], found[background][theme]) for name, v in tokens.items()}
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}


def test_tokens_are_coloured_by_the_checked_properties_alone() -> None:
    rules = code_rules()
    assert set(re.findall(r"(?<![-\w])color:\s*([^;]+);", rules)) <= {
        f"var(--{name})" for name in colours()
    }
    assert "#" not in rules


def test_every_class_of_the_highlighter_has_a_colour() -> None:
    css = code_rules()
    coloured = " ".join(re.findall(r":is\(([^)]*)\)\s*\{\s*color", css))
    known = set(re.findall(r"\.(\w+)", coloured))
    assert {name for name in STANDARD_TYPES.values() if name} - known == set()


# --- links of lines --------------------------------------------------------------------------


def test_every_line_of_a_file_has_a_link_and_named_lines_are_tab_stops() -> None:
    markup = render_code(PYTHON, "python", {12: "rstd"}, filename="norm.py")
    links = re.findall(r'<a class="line-link" href="#([^"]+)" data-line="(\d+)"([^>]*)>', markup)
    assert [int(number) for _, number, _ in links] == list(range(1, PYTHON.count("\n") + 1))
    assert set(re.findall(r' id="([^"]+)"', markup)) == {target for target, _, _ in links}
    assert [target for target, _, rest in links if "tabindex" not in rest] == ["line-rstd"]
    assert text_of(markup) == PYTHON


def test_a_line_leads_to_the_steps_it_computes_without_changing_its_text() -> None:
    markup = render_code(PYTHON, "python", {12: "rstd"}, "norm.py", {12: [("a", 1), ("b", 5)]})
    line = markup.splitlines()[11]
    assert re.findall(r'href="#(step-\w+)" data-step="(\d)"', line) == [
        ("step-a", "1"),
        ("step-b", "5"),
    ]
    assert text_of(line) == PYTHON.splitlines()[11]
