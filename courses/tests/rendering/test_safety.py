from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from courses.rendering import RenderError, Source, render_all
from courses.rendering.katex_styles import LengthError, MathStylesheet
from courses.tests.rendering.samples import MARKDOWN, SILENT_MISTAKES, TEX
from tests.tiers import examples

PAYLOADS = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<img src=//evil.example/x.png>",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![x](/a.png "x\\" onerror=alert(1) y=\\"")',
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=x></object><embed src=x>",
    "<form action=//evil.example><button>x</button></form>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href=' &#106;avascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:alert(1))",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    '<p style="position:fixed">x</p>',
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content=0>",
    "<base href=//evil.example/>",
    "<details ontoggle=alert(1) open>x</details>",
    "<p onclick=alert(1) id=csrf name=x>x</p>",
    'x{: onclick="alert(1)" style="color:red" }',
    "### x {: #id onclick=alert(1) .skip-link }",
    '```{.python onclick="alert(1)" style="color:red"}\nx\n```',
    "```html\n</code></pre><script>alert(1)</script>\n```",
    "`</code><script>alert(1)</script>`",
    "<div><![CDATA[<script>alert(1)</script>]]></div>",
    "<!--<script>alert(1)</script>-->",
    "<!--><img src=x onerror=alert(1)>-->",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<template><script>alert(1)</script></template>",
    "<textarea></textarea><script>alert(1)</script>",
    "<a title='<a href=\"https://x.example\">' href=https://e.example>x</a>",
    r"$\text{<script>alert(1)</script>}$",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\text{&lt;script&gt;}$",
    r"$\verb|<b onclick=alert(1)>|$",
    r"$<img/src=x/onerror=alert(1)>$",
    "$$\n</span><script>alert(1)</script>\n$$",
    '<span class="arithmatex">\\(\\href{javascript:alert(1)}{x}\\)</span>',
    '<span class="arithmatex">mathtoken0000000000000000n0e</span> $x$',
    "\x02wzxhzdk:0\x03 <b>x</b>",
    "[^<script>]\n\n[^<script>]: x",
    "/// details | <script>alert(1)</script>\nx\n///",
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
]

FORBIDDEN_ELEMENTS = {
    *("script", "style", "iframe", "object", "embed", "form", "input", "button", "link", "meta"),
    *("base", "template", "textarea", "noscript", "svg", "audio", "video"),
}
PIECES = [
    *(
        "$",
        "$$",
        "|",
        "\\",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "<",
        ">",
        "<b>",
        "</b>",
        "<![",
        "<!--",
        "&",
    ),
    *("`", "```", "~~~", "[", "]", "(", ")", "[^1]", "[^1]:", "#", ">", "-", "1.", "{", "}", "{:"),
    *("_", "*", "**", "///", "details", "\\frac{1}{2}", "\\foo", "x", "%", "^", "|---|", "é", "𝔸"),
    *(" ", "\n", "\n\n", "    ", "\t", "\x02"),
]


class Inspector(HTMLParser):
    """Notes what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = {name for name, _ in attrs}
        values = dict(attrs)
        if tag in FORBIDDEN_ELEMENTS and not (tag == "svg" and names <= SVG_ATTRIBUTES):
            self.bad.append(f"element {tag}")
        for name, value in attrs:
            if name.startswith("on") or name in {"style", "name", "srcdoc", "action"}:
                self.bad.append(f"attribute {name}")
            if name in {"href", "src"} and not harmless(value or "", may_leave=name == "href"):
                self.bad.append(f"{name}={value}")
        if tag == "a" and "href" in names and values.get("rel") != "noopener":
            self.bad.append("a link without rel=noopener")


def harmless(address: str, may_leave: bool) -> bool:
    """Read an address as a browser does: line ends, tabs and leading spaces do not count."""
    address = re.sub(r"[\t\r\n]", "", address).lstrip("".join(map(chr, range(33)))).lower()
    scheme = re.match(r"[a-z][a-z0-9+.-]*:", address)
    if not may_leave:
        return scheme is None and not re.match(r"[/\\]{2}", address)
    return scheme is None or scheme.group() in {"http:", "https:", "mailto:"}


SVG_ATTRIBUTES = {"xmlns", "width", "height", "viewbox", "preserveaspectratio"}


def findings(markup: str) -> list[str]:
    inspector = Inspector()
    inspector.feed(markup)
    inspector.close()
    return inspector.bad


def test_no_payload_becomes_anything_that_runs() -> None:
    sources = {f"m{i}": Source("markdown", text) for i, text in enumerate(PAYLOADS)}
    sources |= {f"i{i}": Source("inline_markdown", text) for i, text in enumerate(PAYLOADS)}
    sources |= {f"t{i}": Source("tex_inline", text) for i, text in enumerate(PAYLOADS)}
    rendered = render_all(sources)
    found = {name: findings(markup) for name, markup in rendered.html.items()}
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_the_inspector_sees_what_it_is_meant_to_see() -> None:
    assert findings("<img src=x onerror=alert(1)>")
    assert findings("<script>1</script>")
    assert findings("<a href='javascript:alert(1)' rel=noopener>x</a>")
    assert findings("<a href=' java\tscript:alert(1)' rel=noopener>x</a>")
    assert findings("<img src=//evil.example/x>")
    assert findings("<a href='https://e.example'>x</a>")
    assert findings("<p style='x'>")


def test_no_inline_style_in_anything_rendered() -> None:
    sources = {f"m{name}": Source("markdown", text) for name, (text, _) in MARKDOWN.items()}
    sources |= {f"t{name}": Source("tex_display", text) for name, text in TEX.items()}
    sources |= {f"s{name}": Source("markdown", text) for name, text in SILENT_MISTAKES.items()}
    rendered = render_all(sources)
    assert not re.search(r"<[^>]*\sstyle\s*=", "".join(rendered.html.values()))
    assert "math-display" in "".join(rendered.html.values())
    # The stylesheet holds flat rules with known values: nothing that loads or hides anything.
    for rule in rendered.css.splitlines():
        assert re.fullmatch(
            r"\.m-[0-9a-f]{8}\{(?:[a-z-]+:[-+#a-zA-Z0-9.% ()]+;?|!important;?)+\}", rule
        )
        assert "url" not in rule


def test_an_authors_classes_do_not_reach_the_page() -> None:
    rendered = render_all(
        {
            "a": Source(
                "markdown", '<b class="skip-link">x</b>\n\n<span class="m-00ed193f k">y</span>'
            )
        }
    )
    assert "skip-link" not in rendered.html["a"]
    assert "m-00ed193f" not in rendered.html["a"]


@pytest.mark.parametrize(
    "tex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\href{java&colon;x}{x}",
        r"\href{https://example.org}{x}",
        r"\url{https://example.org}",
        r"\includegraphics[height=1em]{https://example.org/x.png}",
        r"\htmlClass{skip-link}{x}",
        r"\htmlId{csrf}{x}",
        r"\htmlStyle{position:fixed}{x}",
        r"\htmlData{onclick=alert}{x}",
        r"\def\x{\href{https://example.org}}\x{y}",
        r"\let\x=\htmlStyle \x{color:red}{y}",
    ],
)
def test_commands_that_write_raw_html_are_errors_at_their_place(tex: str) -> None:
    rendered = render_all({"a": Source("tex_display", f"a + {tex}")})
    (error,) = rendered.errors["a"]
    command = re.search(r"\\(?:href|url|include|html)\w*", tex)
    assert command is not None
    assert error.column == 5 + command.start()
    assert command.group() in error.message


@pytest.mark.parametrize("command", ["href", "htmlStyle", "includegraphics", "url"])
def test_katex_itself_refuses_them_too(command: str) -> None:
    from courses.rendering import tex

    formula = tex.Formula(rf"\{command}{{https://e.example}}{{x}}", display=False)
    (answer,) = tex._ask_child([formula])
    assert answer["kind"] == "trust"
    assert answer["error"] == f"\\{command}"


@pytest.mark.parametrize(
    "markup",
    [
        '<span onclick="x">',
        "<script>",
        '<a href="x">',
        '<span style="position:fixed">',
        '<span style="background-image:url(x)">',
        '<span style="color:red;}*{display:none">',
        '<span style="height:1em" onload=x>',
        '<span class="a>',
        '<img src="x">',
    ],
)
def test_markup_that_katex_never_writes_is_refused(markup: str) -> None:
    with pytest.raises(RenderError):
        MathStylesheet().rewrite(markup)


def test_style_values_that_mean_nothing_are_dropped() -> None:
    sheet = MathStylesheet()
    assert sheet.rewrite('<span class="x" style="false">a</span>') == '<span class="x">a</span>'
    assert sheet.css() == ""


def test_oversized_spaces_are_refused() -> None:
    with pytest.raises(LengthError):
        MathStylesheet().rewrite('<span style="margin-right:-500em;">')


@settings(
    max_examples=examples(25),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_text_breaks_the_renderer(text: str) -> None:
    rendered = render_all({"a": Source("markdown", text), "b": Source("inline_markdown", text)})
    for markup in rendered.html.values():
        assert findings(markup) == []
    for error in rendered.errors.get("a", []):
        lines = text.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
