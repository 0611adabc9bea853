"""Pasted text in a source is reported by line and column, and repaired where that is certain."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_worker.pasted import NO_CLASS, recognise, repaired


def found(source: str) -> list[tuple[str, int, int]]:
    """Compile a source as the sandbox does, and return what is recognised: kind, line, column."""
    try:
        compile(source, "submission.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        findings = recognise(source, type(error).__name__, error.lineno)
    else:
        findings = recognise(source, NO_CLASS)
    return [(finding.kind, finding.line, finding.column) for finding in findings]


@pytest.mark.parametrize(
    ("source", "kind", "line", "column"),
    [
        *((f"x = 1\ny ={space} 2\n", "space", 2, 4) for space in "\u00a0\u1680\u2003\u202f\u3000"),
        *((f"x = 1{end}y = 2\n", "space", 1, 6) for end in "\u2028\u2029\x0b\x1c\x85"),
        *(
            (f"class{mark} A: pass\n", "invisible", 1, 6)
            for mark in "\u200b\u2060\ufeff\u00ad\u200d"
        ),
        *((f"x = {sign}1\n", "bidi", 1, 5) for sign in "\u202e\u2067\u200f\u061c"),
        *(
            (f"x = {quote}a{quote}\n", "quote", 1, 5)
            for quote in "\u201c\u201d\u2018\u2019\u00ab\u2032\uff02"
        ),
        *((f"x = 3 {dash} 2\n", "dash", 1, 7) for dash in "\u2010\u2013\u2014\u2212\ufe63\uff0d"),
        *((f"x = 3 {sign} 2\n", "operator", 1, 7) for sign in "\u00d7\u00f7\u2264\u2260"),
        *(
            (f"f{sign} = 2\n", "punctuation", 1, 2)
            for sign in "\uff08\uff3b\uff1a\uff0c\u3001\u3010\ufe5a"
        ),
        ("x = \uff11\uff12\n", "digit", 1, 5),
        ("x = y\u00b2\n", "exponent", 1, 6),
        ("try: pass\n\ufb01nally: pass\n", "letter", 2, 1),
        ("\uff44ef f(): pass\n", "letter", 1, 1),
        ("x = 1 \U0001f642\n", "character", 1, 7),
        ("`x = 1`\n", "backtick", 1, 1),
        ("x = 1\x07\n", "control", 1, 6),
        ("if x:\n\ty = 1\n        z = 2\n", "tabs", 2, 1),
        ("Import numpy\n", "capital", 1, 1),
        ("a = 1\n```python\nx = 1\n```\n", "fence", 2, 1),
        ("~~~\nx = 1\n~~~\n", "fence", 1, 1),
        (">>> x = 1\n", "prompt", 1, 1),
        ("In [3]: x = 1\n", "prompt", 1, 1),
        ("import numpy\n%matplotlib inline\n", "magic", 2, 1),
        ("  !pip install numpy\n", "magic", 1, 3),
        ("x = a &lt; b\n", "html", 1, 7),
        ("<pre>x = 1</pre>\n", "html", 1, 1),
        ("1 import numpy\n2\n3 x = 1\n4 y = 2\n", "numbers", 1, 1),
        ("> x = 1\n> y = 2\n", "quotation", 1, 1),
        ('{"cells": [{"cell_type": "code", "source": []}], "nbformat": 4}', "notebook", 1, 1),
        ('{"cells": [{"cell_type": "code", "source": ["x = 1', "notebook", 1, 1),
        ("{\\rtf1\\ansi x}", "document", 1, 1),
        ("<!DOCTYPE html>\n<p>", "document", 1, 1),
    ],
)
def test_pasted_text_is_reported_with_its_place(
    source: str, kind: str, line: int, column: int
) -> None:
    assert found(source)[0] == (kind, line, column)


@pytest.mark.parametrize(
    "source",
    [
        "x = 'a\u00a0b \u201cq\u201d \u2013 \u200b \uff08'  # \u00a0\u200b\u2026 \u2212\n",
        "\u03c0 = 3\nna\u00efve = \u03c0\n\u540d = 1\nx\u0661 = 2\n\uff58 = 3\nco\ufb01g = 4\n",
        'def f():\n    """\n    >>> f()\n    ```python\n    x &lt; y\n    %time\n    """\n',
        "x = (7\n % y)\nz = 7 \\\n % y\n",
        "class A:\n    ...\n    ... ; x = 1\n",
        "x = ~~~y\n",
        "x = a & lt; y = 1\n",
        "t = '''\n1 a\n2 b\n3 c\n'''\n",
        "x = {'cells': []}\n",
        "if x:\n\ty = 1\nif z:\n    y = 2\n",
        "def f():\r\n    return 1\r\n",
    ],
)
def test_valid_python_has_no_findings_and_needs_no_repair(source: str) -> None:
    assert found(source) == []
    assert repaired(source) is None


def test_bidirectional_controls_are_warned_of_anywhere() -> None:
    (finding,) = recognise("x = 1\n# access \u202e# reversed \u202c\n")
    assert (finding.kind, finding.severity, finding.line, finding.column) == (
        "bidi",
        "warning",
        2,
        10,
    )
    assert finding.count == 2
    assert "A right-to-left override (U+202E) in line 2, column 10, and 1 more" in finding.message


def test_a_message_names_the_character_its_places_and_what_to_do() -> None:
    finding = recognise("def f():\n\u00a0 return 1\n\u00a0 x = 1\n", "SyntaxError", 2)[0]
    assert finding.message == (
        "A no-break space (U+00A0) in line 2, column 1, and 1 more in line 3. Write a plain space "
        "in its place."
    )


@pytest.mark.parametrize(
    ("source", "program"),
    [
        ("It goes so:\n\n```python\nx = 1\n```\nThat's it.\n", "x = 1\n"),
        ("```\nx = 1\n", "x = 1\n"),
        ("x = 1\n```\n", "x = 1\n"),
        ("```py\na = 1\n```\n```bash\nls\n```\n```\nb = 2\n```\n", "a = 1\n\nb = 2\n"),
        (">>> def f():\n...     return 1\n... \n>>> f()\n1\n", "def f():\n    return 1\n\nf()\n"),
        (
            "In [1]: class A:\n   ...:     x = 1\n\nIn [2]: A.x\nOut[2]: 1\n",
            "class A:\n    x = 1\nA.x\n",
        ),
        ("%matplotlib inline\n!ls\nx = 1\n", "# %matplotlib inline\n# !ls\nx = 1\n"),
        ("if a &lt; b &amp; c:\n    x = &quot;y&quot;\n", 'if a < b & c:\n    x = "y"\n'),
        (" 9 def f():\n10     x = 1\n\n11     return x\n", "def f():\n    x = 1\n\n    return x\n"),
        ("> def f():\n>     return 1\n", "def f():\n    return 1\n"),
        (
            '{"cells": [{"cell_type": "markdown", "source": "# A"}, {"cell_type": "code", "source":'
            ' ["%time x = 1\\n", "y = 2"]}, {"cell_type": "code", "source": "%%bash\\nls"}]}',
            "# %time x = 1\ny = 2\n\n# %%bash\n# ls\n",
        ),
    ],
)
def test_certain_cases_are_repaired(source: str, program: str) -> None:
    repair = repaired(source)
    assert repair is not None
    assert repair.text == program
    ast.parse(repair.text)
    assert repaired(repair.text) is None


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n>>> y = 2\n",  # what comes first may be code, or printed
        ">>> def f():\n\treturn 1\n",  # an editor that shows no second prompt
        "In [1]:\nx = 1\nprinted\nIn [2]:\ny = 2\n",
        "a = 1\n```\nb = 2\n",
        "x = 3 \u2013 2\n",
        '{"cells": [{"cell_type": "code", "source": ["x = 1',
    ],
)
def test_uncertain_cases_are_left_to_the_author(source: str) -> None:
    assert repaired(source) is None


def test_large_texts_are_only_checked_for_notebooks() -> None:
    text = "#" * 70_000
    assert repaired(f"```\n{text}\n```\n") is None
    cell = '{"cells": [{"cell_type": "code", "outputs": ["%s"], "source": "%s"}]}'
    assert repaired(cell % (text, "x = 1")) is not None
    assert repaired(cell % ("", text)) is None


def test_spaces_and_invisible_characters_are_repaired_only_in_a_refused_source() -> None:
    source = "def f():\n\u00a0 \u00a0 return '\u00a0'\u200b  # \u00a0\n"
    assert repaired(source) is None
    repair = repaired(source, characters=True)
    assert repair is not None
    assert repair.text == "def f():\n    return '\u00a0'  # \u00a0\n"


def test_characters_are_reported_in_kernels_but_not_in_their_comments() -> None:
    source = (
        'k = cp.RawKernel(r"""\nextern "C" __global__ void f(float *x) { // \u2013 \u201c\n'
        '  x[0] =\u00a0x[1] \u2013 1;\n}""", "f")\nt = "\u2013"\n'
    )
    findings = recognise(source, "CompileException")
    assert [(item.kind, item.line, item.column) for item in findings] == [
        ("space", 3, 9),
        ("dash", 3, 15),
    ]


@given(
    st.text(alphabet="ab \n\t#'\"`~>.%!&;()[]{}:\\1\u00a0\u200b\u202e\u201c\u2019In", max_size=60)
)
def test_findings_lie_within_any_text(source: str) -> None:
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for finding in recognise(source, "SyntaxError", 1):
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1
    repaired(source, characters=True)


@pytest.mark.parametrize(
    "text",
    [
        "\u00a0" * 21_000,
        "`\n" * 30_000,
        ">>> x\n" * 10_000,
        "(" * 60_000,
        "```" + " " * 60_000 + "!",
        '"""__global__' + "/*" * 30_000,
        "\u201c" * 20_000 + "\u2018" * 1_000,
        "&lt;<p" * 10_000,
        '{"cells": "cell_type", "x": ' + "[" * 60_000,
        "'\\" * 30_000,
    ],
)
@pytest.mark.parametrize("problem", ["SyntaxError", "CompileException"])
def test_the_work_is_linear_in_the_source(text: str, problem: str) -> None:
    """What takes the square of the length would not come to an end here."""
    assert len(recognise(text, problem, 1)) <= 12
    repaired(text, characters=True)
