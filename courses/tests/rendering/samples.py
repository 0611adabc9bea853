"""Texts and formulas that have broken other renderers, with the TeX that must reach KaTeX.

`MARKDOWN` maps a name to a text and the formulas in it, byte for byte and in the order of the page.
`TEX` maps a name to a display formula. The HTML they give is checked in under `golden/`.
"""

from __future__ import annotations

MARKDOWN: dict[str, tuple[str, list[str]]] = {
    "emphasis marks in formulas": (
        r"$a_1 * b_2 * c_3$ and *so*",
        ["a_1 * b_2 * c_3"],
    ),
    "subscripts on hats": (
        r"$\hat{x}_{i}$ then $\hat{y}_{j}$ and _so_",
        [r"\hat{x}_{i}", r"\hat{y}_{j}"],
    ),
    "aligned with ampersands and line breaks": (
        "$$\\begin{aligned}a&=b_1\\\\c&=d^*\\end{aligned}$$",
        ["\\begin{aligned}a&=b_1\\\\c&=d^*\\end{aligned}"],
    ),
    "display over several lines": (
        "Before.\n\n$$\n\\frac{a}{b} \\\\\nc_d\n$$\n\nAfter.",
        ["\n\\frac{a}{b} \\\\\nc_d\n"],
    ),
    "bare environment": (
        "\\begin{align}a&=b\\\\c&=d\\end{align}",
        ["\\begin{align}a&=b\\\\c&=d\\end{align}"],
    ),
    "less and greater": (
        "If $x<y$ and $a<b>c$ then $a < b$ & $c > d$.",
        ["x<y", "a<b>c", "a < b", "c > d"],
    ),
    "ampersand in a formula": (r"$\text{a \& b}$ and AT&T", [r"\text{a \& b}"]),
    "bars in a table": (
        "| a | b |\n|---|--:|\n| $\\lvert x \\rvert$ | $P(A \\mid B)$ |\n"
        "| $P(A\\|B)$ | $a\\vert b$ |",
        [r"\lvert x \rvert", r"P(A \mid B)", r"P(A\|B)", r"a\vert b"],
    ),
    "money": ("It costs $5 an hour, or $10.", []),
    "money with a slash": ("It is $5/hour and $10/day.", []),
    "money and a formula": ("From $3 to $4 and $x$.", ["x"]),
    "escaped money": (r"\$5 in prose, $\$5+x$ in a formula", [r"\$5+x"]),
    "code span": (r"`$x$` and ``\(y\)`` and $z$", ["z"]),
    "code fence": ('```python\ncost = "$x$"  # \\(y\\)\n```', []),
    "round and square brackets": ("\\(a_b\\) and\n\n\\[c_d\\]", ["a_b", "c_d"]),
    "display in a list": ("- item\n\n    $$\n    a_1\n    $$\n\n- two", ["\na_1\n"]),
    "display in a quote": ("> so\n>\n> $$\n> a_1 \\\\ b\n> $$", ["\na_1 \\\\ b\n"]),
    "numbered list": ("1. one $x_1$\n2. two $x_2$", ["x_1", "x_2"]),
    "heading": (r"### The $\sigma$ of a layer", [r"\sigma"]),
    "heading with its own id": ("### The layer {#own}\n\n### The layer", []),
    "link": ("[to $l_1$](https://example.org/a_b?x=1&y=2) and [in](/courses/)", ["l_1"]),
    "picture": (r'![of \$5](/static/a.png "t")', []),
    "footnote": ("See[^n].\n\n[^n]: With $f_1$.", ["f_1"]),
    "stars as superscripts": ("$x^*$ and $y^*$", ["x^*", "y^*"]),
    "braces": (r"$\{a\}$ and $\{b\}$", [r"\{a\}", r"\{b\}"]),
    "inside bold": ("**bold $z_1$** and *em $z_2$*", ["z_1", "z_2"]),
    "looks like a link": ("$[a](b)$ and $f[i](x)$", ["[a](b)", "f[i](x)"]),
    "neighbours": ("$a$$b$ and $n$s", ["a", "b", "n"]),
    "inside inline HTML": ("<em>$a_1<b_2$</em> and H<sub>2</sub>O", ["a_1<b_2"]),
    "details": ("/// details | More $m_1$\nBody $d_1$.\n///", ["m_1", "d_1"]),
    "over a line end": ("one $a\n+ b$ two", ["a\n+ b"]),
    "quotes and apostrophes": ("It's $f'(x)$ \"so\" $f''$", ["f'(x)", "f''"]),
    "double backslashes in text": (r"a \\(not\\) b, a\_b, 1 < 2 > 0, &copy; $x\\y$", [r"x\\y"]),
    "characters beyond ASCII": (
        "Größe $α_1 ≤ β$ — ok 𝔸 $\\text{naïve}$",
        ["α_1 ≤ β", r"\text{naïve}"],
    ),
    "brace after a formula": ("a $y${b} c", ["y"]),
    "table of text": ("| a | b | c |\n|:--|:-:|--|\n| 1 | **2** | `3` |", []),
}

SILENT_MISTAKES: dict[str, str] = {
    "bar in a table cell": "| a |\n|---|\n| $|x|$ |",
    "unclosed dollar": r"It is $x + \alpha of it.",
    "shell variables": "Set $HOME and $USER.",
    "spaces inside": "a $ x $ b",
    "display with an empty line": "$$\na\n\nb\n$$",
    "display inside a paragraph": "so $$x$$ there",
    "square brackets in a paragraph": r"so \[ \frac{a}{b} \] there",
    "formula in a block of HTML": "<div>\n$x$\n</div>",
    "a comparison that reads as a tag": "all i <n and n> 3",
    "money before a command": r"$5 \times 3",
}

TEX: dict[str, str] = {
    "universal approximation": (
        r"\forall f \in C(K), \; \forall \epsilon > 0, \; \exists N \in \mathbb{N}: \; "
        r"\left| f(x) - \sum_{i=1}^N v_i \sigma(w_i^T x + b_i) \right| < \epsilon"
    ),
    "layer normalization": (
        r"\text{LN}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta \qquad "
        r"\mu = \frac{1}{D}\sum_{i=1}^D x_i"
    ),
    "softmax": r"\operatorname{softmax}(z)_i = \frac{e^{z_i/T}}{\sum_{j} e^{z_j/T}}",
    "attention": (
        r"\mathrm{Attention}(Q,K,V)="
        r"\operatorname{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V"
    ),
    "rotation": (
        r"\begin{pmatrix}\cos m\theta & -\sin m\theta\\ \sin m\theta & \cos m\theta\end{pmatrix}"
        r"\begin{pmatrix}x_1\\x_2\end{pmatrix}"
    ),
    "cases": r"\operatorname{ReLU}(x)=\begin{cases}x & x>0\\ 0 & \text{otherwise}\end{cases}",
    "braces under and over": r"\underbrace{W_0}_{\text{frozen}}+\overbrace{BA}^{r\ll d}",
    "preference loss": (
        r"\mathcal{L}=-\mathbb{E}_{(x,y_w,y_l)}\left[\log\sigma\left(\beta\log"
        r"\frac{\pi_\theta(y_w\mid x)}{\pi_{\text{ref}}(y_w\mid x)}\right)\right]"
    ),
    "boxes, colours and strikes": (
        r"\boxed{E}\,\fcolorbox{red}{yellow}{x}\,\textcolor{#1a4780}{y}\,\cancel{z}\,"
        r"\pmb{w}\,\rule{1em}{2pt}"
    ),
    "what a step changed": r"y_{\changed{j}} = \changed{\frac{\gamma_i}{D}} \, x_i < 1",
    "array with lines": (
        r"\begin{array}{c|c}a&b\\\hline c&d\end{array}\xrightarrow{f}\widehat{xyz}\tag{3}"
    ),
}
