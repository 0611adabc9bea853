"""Cuts the typefaces of the pages and of the formulas down to what the pages use.

    build.py NODE_MODULES STATIC

reads the packages of package-lock.json in NODE_MODULES and writes below STATIC: the fonts of the
pages into vendor/fonts/, those of KaTeX and their rules into vendor/katex/, the pages' @font-face
rules into css/site.css between its two marks. The same packages and tools give the same bytes.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fontTools import subset
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

# --- what is kept -------------------------------------------------------------------------------
# What nearly every page uses: ASCII, quotation marks, dashes, dots, the signs of plain arithmetic.
BASIC = "20-7E,A0,B7,D7,2013,2014,2018,2019,201C,201D,2026,2212"
BASIC_SERIF = BASIC + ",E9,F6,FC"
# Bold and italic words have hardly a sign that is for programs.
EMPHASIS = (
    "20-22,25-29,2B-3B,3D,3F,41-5A,61-7A,A0,B7,D7,E9,F6,FC,2013,2014,2018,2019,201C,201D,2026,2212"
)
BASIC_INTERFACE = BASIC + ",B0,B2,B3,B9,203A"
BASIC_CODE = BASIC + ",2192"
# A second file of each face, which a browser loads when a page has one of these: the letters of
# names from western Europe, and signs. What is in neither comes from the reader's machine.
SIGNS = "B0-B3,B9,BD,203A"
LETTERS = f"{SIGNS},C4,C5,C7,C9,D6,D8,DC,DF,E0-E5,E7-EB,ED-EF,F1,F3,F4,F6,F8-FC"
PROGRAMS = f"20-7E,{LETTERS}"
CODE = f"{SIGNS},3B1-3C9,2070,2074-2079,207B,2080-2089,2190-2193,221A,221E,2248,2260,2264,2265"

# Formulas: what lessons are made of; the rest of each font stays in the file that KaTeX released.
COMMON = {
    "Main-Regular": "20-7E,A0,AF,B1,B7,D7,2C9,2026,2190-2193,2200,2202,2203,2207,2208,2212,221A,"
    "221E,2223,"
    "2225,223C,2248,2260,2264,2265,2282,2286,2299,22A4,22C5,22EF,27F9,394,3A3,E020",
    "Main-Bold": "20-7E",
    "Math-Italic": "41-5A,61-7A,3B1-3B5,3B7,3B8,3BB,3BC,3C0,3C1,3C3,3C4,3C6,3C9,3D5,3F5",
    "AMS-Regular": "43,45,4E,50,51,52,5A",
    "Size1-Regular": "28,29,2F,5B,5D,7B-7D,2C6,2DC,220F,2211,221A,222B",
    "Size2-Regular": "28,29,2F,5B,5D,7B-7D,2C6,2DC,220F,2211,221A,222B",
    "Size3-Regular": "28,29,2F,5B,5D,7B-7D,2C6,2DC,221A",
    "Size4-Regular": "28,29,2F,5B,5D,7B-7D,2C6,2DC,221A,239B-23B1",
}

REST = "u+21-1fff,u+2010-10ffff"


def code_points(ranges: str) -> list[int]:
    found: list[int] = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        found += range(int(first, 16), int(last or first, 16) + 1)
    return found


# --- the faces ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Metrics:
    """Of a font, in parts of an em; `width` is the mean of English text."""

    ascent: float
    descent: float
    width: float


@dataclass(frozen=True)
class Face:
    """One file of the pages: where it comes from, and what of it."""

    file: str
    family: str
    package: str
    source: str
    weight: str
    style: str
    basic: str
    more: str
    features: tuple[str, ...]


SERIF, SANS, MONO = "LearnML Serif", "LearnML Sans", "LearnML Mono"
CHARIS, FIGTREE, IOSEVKA = (
    "@fontsource/charis-sil",
    "@fontsource-variable/figtree",
    "@fontsource/iosevka",
)
TEXT = ("kern", "liga")
FACES = (
    Face(
        "serif",
        SERIF,
        CHARIS,
        "charis-sil-latin-400-normal",
        "400",
        "normal",
        BASIC_SERIF,
        LETTERS,
        TEXT,
    ),
    Face(
        "serif-bold",
        SERIF,
        CHARIS,
        "charis-sil-latin-700-normal",
        "700",
        "normal",
        EMPHASIS,
        PROGRAMS,
        TEXT,
    ),
    Face(
        "serif-italic",
        SERIF,
        CHARIS,
        "charis-sil-latin-400-italic",
        "400",
        "italic",
        EMPHASIS,
        PROGRAMS,
        TEXT,
    ),
    Face(
        "sans",
        SANS,
        FIGTREE,
        "figtree-latin-wght-normal",
        "400 700",
        "normal",
        BASIC_INTERFACE,
        LETTERS,
        ("kern", "tnum"),
    ),
    Face("mono", MONO, IOSEVKA, "iosevka-latin-400-normal", "400", "normal", BASIC_CODE, CODE, ()),
)
LICENCES = {"Charis-SIL": CHARIS, "Figtree": FIGTREE, "Iosevka": IOSEVKA}

# Lines of Charis are set far apart for stacked accents; with these a tint behind words is as high
# as they are. The others keep their own.
ROOM = {SERIF: (0.94, 0.26)}

# What stands in while a face is on its way, or where a character is missing. Measured in the fonts
# of Debian 12 (fonts-liberation 1.07.4, fonts-dejavu-core 2.37, fonts-noto-core 20201225);
# Liberation has the widths of Microsoft's core fonts.
FALLBACKS = {
    SERIF: {
        "Times": (
            ("Times New Roman", "Liberation Serif", "Tinos", "Times"),
            Metrics(0.8911, 0.2163, 0.3986),
        ),
        "DejaVu": (("DejaVu Serif", "Bitstream Vera Serif"), Metrics(0.9282, 0.2358, 0.5104)),
        "Noto": (("Noto Serif",), Metrics(1.069, 0.293, 0.4771)),
    },
    SANS: {
        "Arial": (
            ("Arial", "Liberation Sans", "Arimo", "Helvetica"),
            Metrics(0.9053, 0.2119, 0.44),
        ),
        "DejaVu": (
            ("DejaVu Sans", "Bitstream Vera Sans", "Verdana"),
            Metrics(0.9282, 0.2358, 0.5051),
        ),
        "Noto": (("Noto Sans",), Metrics(1.069, 0.293, 0.4702)),
    },
    MONO: {
        "Courier": (("Courier New", "Liberation Mono", "Cousine"), Metrics(0.8325, 0.3003, 0.6001)),
        "DejaVu": (
            ("DejaVu Sans Mono", "Menlo", "Bitstream Vera Sans Mono"),
            Metrics(0.9282, 0.2358, 0.602),
        ),
    },
}
# Letters and spaces in a thousand characters of English.
FREQUENCIES = {
    **{
        " ": 183,
        "e": 102,
        "t": 75,
        "a": 65,
        "o": 62,
        "i": 57,
        "n": 57,
        "s": 53,
        "h": 50,
        "r": 49,
        "d": 33,
    },
    **{
        "l": 33,
        "c": 22,
        "u": 23,
        "m": 20,
        "w": 17,
        "f": 18,
        "g": 16,
        "y": 14,
        "p": 16,
        "b": 12,
        "v": 8,
    },
    **{"k": 6, "x": 2, "j": 1, "q": 1, "z": 1},
}


def build(packages: Path, static: Path) -> None:
    fonts = static / "vendor" / "fonts"
    for old in fonts.glob("*.woff2"):
        old.unlink()
    rules = "".join(rule for face in FACES for rule in write_face(face, packages, fonts))
    rules += "".join(fallback_rules(packages))
    for name, package in LICENCES.items():
        text = (packages / package / "LICENSE").read_text(encoding="utf-8")
        (fonts / f"LICENSE.{name}").write_text(tidied(text), encoding="utf-8")
    sheet = static / "css" / "site.css"
    between = re.compile(r"(/\* faces:.*?\*/\n).*?(/\* end of faces \*/)", re.DOTALL)
    sheet.write_text(
        between.sub(lambda marks: marks[1] + rules + marks[2], sheet.read_text(encoding="utf-8")),
        encoding="utf-8",
    )
    build_katex(packages / "katex" / "dist", static / "vendor" / "katex")


def tidied(text: str) -> str:
    """A licence without spaces at the ends of its lines."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def write_face(face: Face, packages: Path, folder: Path) -> Iterable[str]:
    """Write the two files of a face; yield their rules."""
    source = packages / face.package / "files" / f"{face.source}.woff2"
    basic = set(code_points(face.basic))
    for suffix, points in (("", basic), ("-more", set(code_points(face.more)) - basic)):
        font = cut(source, points, face.features)
        there = sorted(points & set(font.getBestCmap()))
        # The licences reserve their fonts' names: a font that was changed needs one of its own.
        name(font, f"{face.family} {face.style} {face.weight}{suffix}")
        file = f"{face.file}{suffix}.woff2"
        save(font, folder / file)
        yield (
            f'@font-face {{ font-family: "{face.family}"; font-style: {face.style}; '
            f"font-weight: {face.weight}; font-display: swap; "
            f'src: url(../vendor/fonts/{file}) format("woff2"); '
            f"unicode-range: {as_range(there)}; }}\n"
        )


def cut(source: Path, points: Iterable[int], features: Iterable[str]) -> TTFont:
    """Return the font with these characters alone, without hints, with weights from 400 to 700."""
    font = TTFont(source, recalcTimestamp=False)
    if "fvar" in font:
        limited = io.BytesIO()
        instancer.instantiateVariableFont(font, {"wght": (400, 700)}).save(limited)
        font = TTFont(limited, recalcTimestamp=False)
    options = subset.Options(
        hinting=False,
        layout_features=list(features),
        name_IDs=[0, 14],
        notdef_outline=True,
        glyph_names=False,
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=list(points))
    subsetter.subset(font)
    make_simple(font)
    # What glyphs were made of is not needed any more.
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=list(points))
    subsetter.subset(font)
    return font


def make_simple(font: TTFont) -> None:
    """Draw each glyph that is made of others by itself: of few glyphs that takes less."""
    drawn = {}
    glyphs = font.getGlyphSet()
    for one in font.getGlyphOrder():
        if "gvar" not in font and font["glyf"][one].isComposite():
            recording = DecomposingRecordingPen(glyphs)
            glyphs[one].draw(recording)
            pen = TTGlyphPen(None)
            recording.replay(pen)
            drawn[one] = pen.glyph()
    for one, glyph in drawn.items():
        font["glyf"][one] = glyph


def name(font: TTFont, text: str) -> None:
    for number in (1, 4, 6):
        font["name"].setName(text.replace(" ", "") if number == 6 else text, number, 3, 1, 0x409)
    font["name"].setName("Regular", 2, 3, 1, 0x409)
    family = next(family for family in (SERIF, SANS, MONO) if text.startswith(family))
    if family in ROOM:
        ascent, descent = (round(part * font["head"].unitsPerEm) for part in ROOM[family])
        font["hhea"].ascent, font["hhea"].descent = ascent, -descent
        font["OS/2"].sTypoAscender, font["OS/2"].sTypoDescender = ascent, -descent
        font["OS/2"].usWinAscent, font["OS/2"].usWinDescent = ascent, descent
    font["hhea"].lineGap = font["OS/2"].sTypoLineGap = 0


def save(font: TTFont, path: Path) -> None:
    # Of use to programs in which one chooses a font, and to hints.
    for table in ("gasp", "STAT"):
        if table in font:
            del font[table]
    font.flavor = "woff2"
    font.save(path, reorderTables=True)


def as_range(points: list[int]) -> str:
    """Return code points as CSS has them."""
    runs: list[list[int]] = []
    for point in points:
        if runs and point == runs[-1][1] + 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return ", ".join(f"U+{a:X}" if a == b else f"U+{a:X}-{b:X}" for a, b in runs)


def fallback_rules(packages: Path) -> Iterable[str]:
    """Yield a rule for each kind of font that may stand in, with the widths and heights of ours."""
    for family, others in FALLBACKS.items():
        face = next(face for face in FACES if face.family == family)
        own = metrics(packages / face.package / "files" / f"{face.source}.woff2", family)
        for kind, (names, other) in others.items():
            scale = own.width / other.width
            local = ", ".join(f'local("{one}")' for one in names)
            yield (
                f'@font-face {{ font-family: "{family} {kind}"; src: {local}; '
                f"size-adjust: {scale:.1%}; ascent-override: {own.ascent / scale:.1%}; "
                f"descent-override: {own.descent / scale:.1%}; line-gap-override: 0%; }}\n"
            )


def metrics(path: Path, family: str) -> Metrics:
    font = TTFont(path)
    em, characters = font["head"].unitsPerEm, font.getBestCmap()
    width = sum(font["hmtx"][characters[ord(one)]][0] * often for one, often in FREQUENCIES.items())
    ascent, descent = ROOM.get(family, (font["hhea"].ascent / em, -font["hhea"].descent / em))
    return Metrics(ascent, descent, width / sum(FREQUENCIES.values()) / em)


# --- formulas -----------------------------------------------------------------------------------
def build_katex(source: Path, folder: Path) -> None:
    """Write KaTeX's sheet and fonts: woff2 alone, without hints, the common in files of its own."""
    for old in (folder / "fonts").glob("*.woff2"):
        old.unlink()
    css = (source / "katex.min.css").read_text(encoding="utf-8")
    css = re.sub(r',url\([^)]*\) format\("(?:woff|truetype)"\)', "", css)

    def cut_up(rule: re.Match[str]) -> str:
        file = re.search(r"KaTeX_([\w-]+)\.woff2", rule[0])
        if file is None:
            raise ValueError(f"A rule of KaTeX's sheet names no font: {rule[0]}")
        font = TTFont(source / "fonts" / file[0])
        all_points, common = set(font.getBestCmap()), set(code_points(COMMON.get(file[1], "0")))
        write_formulas_font(source, folder, file[1], all_points)
        if file[1] not in COMMON:
            return rule[0]
        write_formulas_font(source, folder, file[1], common & all_points, "-Common")
        # Of two rules with a character the later one is taken. Neither has the spaces without width
        # that are in each formula and in no font: the rest would be loaded for them.
        rest = f"{rule[0][:-1]};unicode-range:{REST}}}"
        first = rule[0].replace(f"{file[1]}.woff2", f"{file[1]}-Common.woff2")
        return f"{rest}{first[:-1]};unicode-range:{short_range(common & all_points)}}}"

    css = re.sub(r"@font-face\{[^}]*\}", cut_up, css)
    (folder / "katex.min.css").write_text(css, encoding="utf-8")


def short_range(points: Iterable[int]) -> str:
    return as_range(sorted(points)).replace(" ", "").lower()


def write_formulas_font(
    source: Path, folder: Path, file: str, points: Iterable[int], suffix: str = ""
) -> None:
    font = TTFont(source / "fonts" / f"KaTeX_{file}.woff2", recalcTimestamp=False)
    options = subset.Options(
        hinting=False, layout_features=["*"], name_IDs=[0], notdef_outline=True
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=sorted(points))
    subsetter.subset(font)
    save(font, folder / "fonts" / f"KaTeX_{file}{suffix}.woff2")


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))
