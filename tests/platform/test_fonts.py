"""The pages' own typefaces: small, with their licences, and what their sources make."""

from __future__ import annotations

import hashlib
import re

from tests.platform.instance import PROJECT

FONTS = PROJECT / "static" / "vendor" / "fonts"
SHEET = PROJECT / "static" / "css" / "site.css"
MOST_BYTES = 60_000


def test_all_faces_together_are_small() -> None:
    files = sorted(FONTS.glob("*.woff2"))
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES
    named = re.findall(r"url\(\.\./vendor/fonts/([\w-]+\.woff2)\)", SHEET.read_text())
    assert sorted(named) == [path.name for path in files]


def test_they_are_what_was_built_from_the_sources_that_are_there() -> None:
    for line in (FONTS / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        path = FONTS.parent / name if "/" in name else FONTS / name
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        assert found == digest, f"{name} changed: run static/vendor/fonts/build.sh"


def test_each_text_names_its_own_face_and_what_stands_in_for_it() -> None:
    css = SHEET.read_text()
    families = set(re.findall(r'font-family: "([\w ]+)";\s+(?:font-style|src)', css))
    for variable in ("--serif", "--sans", "--mono"):
        listed = re.search(rf"{variable}:\s*([^;]+);", css)
        assert listed is not None
        own, *others = re.findall(r'"([^"]+)"', listed[1])
        assert {own, *others} <= families
        assert len(others) > 1
        assert all(one.startswith(own) for one in others)
    stand_ins = re.findall(r"@font-face \{[^}]*local\([^}]*\}", css)
    adjusted = ("size-adjust", "ascent-override", "descent-override", "line-gap-override")
    assert all(word in rule for rule in stand_ins for word in adjusted)
    assert all(
        "font-display: swap" in rule for rule in re.findall(r"@font-face[^}]*woff2[^}]*\}", css)
    )


def test_each_has_its_licence() -> None:
    texts = [path.read_text() for path in FONTS.glob("LICENSE.*")]
    assert len(texts) == 3
    assert all("SIL Open Font License" in text and "Copyright" in text for text in texts)
