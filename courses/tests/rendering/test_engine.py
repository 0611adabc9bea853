from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from courses.rendering import RenderError, Source, render_all, tex
from courses.tests.rendering.samples import TEX

BOMBS = {
    "wide macro": r"\def\a{xxxxxxxxxx}" + r"\a" * 900,
    "doubling macro": r"\def\a{xx}\def\b{\a\a}\def\c{\b\b}\def\d{\c\c}\def\e{\d\d}\def\f{\e\e}"
    r"\def\g{\f\f}\def\h{\g\g}\def\i{\h\h}\def\j{\i\i}\j\j\j\j",
    "edef": r"\edef\a{xxxxxxxxxx}\edef\b{\a\a\a\a\a\a\a\a\a\a}\edef\c{\b\b\b\b\b\b\b\b\b\b}"
    r"\edef\d{\c\c\c\c\c\c\c\c\c\c}\edef\e{\d\d\d\d\d\d\d\d\d\d}\e\e\e\e\e",
    "loop": r"\def\a{\a}\a",
    "nested arguments": r"\def\a#1{#1#1#1#1#1#1#1#1#1#1}\a{\a{\a{\a{\a{x}}}}}",
    "nested braces": "{" * 1900 + "x" + "}" * 1900,
    "nested roots": r"\sqrt{" * 500 + "x" + "}" * 500,
    "nested delimiters": r"\left(" * 250 + "x" + r"\right)" * 250,
    "nested text": r"\text{" * 500 + "x" + "}" * 500,
    "tall": r"\begin{matrix}" + r"\\" * 1900 + r"\end{matrix}",
    "long": "x" * 4001,
    "huge rule": r"\rule{500em}{500em}",
    "huge rule in points": r"\rule{1pt}{-900pt}",
    "huge space": r"a\hspace{1e9em}b",
    "huge negative space": r"a\kern-500em b",
    "huge space in a macro": r"\def\n{500}a\kern-\n em b",
    "huge line space": r"\begin{aligned}a\\[500em]b\end{aligned}",
}


def render_and_measure(sources: dict[str, Source]) -> tuple[set[str], float, int]:
    """Return the names with errors, and the child's processor seconds and peak KiB."""
    errors = set(render_all(sources).errors)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return errors, usage.ru_utime, usage.ru_maxrss


def test_bombs_are_the_authors_error_and_bounded_in_time() -> None:
    sources = {"before": Source("tex_inline", "x")}
    sources |= {name: Source("tex_display", text) for name, text in BOMBS.items()}
    sources["after"] = Source("tex_inline", "y")
    # In a process of its own: the usage of "children" is that of the renderer's child alone.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        errors, seconds, kibibytes = pool.submit(render_and_measure, sources).result()
    assert errors == set(BOMBS)
    assert seconds < 5
    assert kibibytes < 512 * 1024


def test_formulas_beyond_the_time_budget_are_refused_not_lost() -> None:
    bombs = {
        f"bomb {i}": Source("tex_display", BOMBS["wide macro"].replace("x", letter))
        for i, letter in enumerate("abcdef")
    }
    rendered = render_all({"before": Source("tex_inline", "x"), **bombs})
    assert set(rendered.errors) == set(bombs)
    assert "before" not in rendered.errors
    assert "took too long" in rendered.errors["bomb 5"][0].message


def test_macros_of_one_formula_are_unknown_to_the_next() -> None:
    rendered = render_all(
        {"a": Source("tex_inline", r"\gdef\mine{x}\mine"), "b": Source("tex_inline", r"\mine")}
    )
    assert set(rendered.errors) == {"b"}


def test_eight_threads_render_the_same_as_one() -> None:
    sources = {name: Source("tex_display", text) for name, text in TEX.items()}
    sources["text"] = Source("markdown", "### A $x_1$\n\n- $y$\n\n```python\nz\n```")
    alone = render_all(sources)
    with ThreadPoolExecutor(max_workers=8) as pool:
        results = list(pool.map(lambda _: render_all(sources), range(16)))
    assert all(result == alone for result in results)


CRASHES = {
    "killed by a signal": "import os; os.abort()",
    "exit status": "import sys; sys.exit(3)",
    "exception": "raise RuntimeError('no engine here')",
    "no answer": "",
    "not JSON": "print('<html>')",
    "another shape": "print('[1, 2]')",
    "too few answers": "import json; print(json.dumps({'results': []}))",
}


@pytest.mark.parametrize("name", CRASHES)
def test_a_dead_child_is_an_error_and_not_a_dead_process(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child.py"
    child.write_text(CRASHES[name])
    monkeypatch.setattr(tex, "CHILD_PATH", child)
    with pytest.raises(RenderError) as caught:
        render_all({"a": Source("tex_inline", "x")})
    assert str(caught.value).startswith("The formula renderer")
    # Texts without formulas need no engine.
    assert render_all({"a": Source("markdown", "plain")}).html == {"a": "<p>plain</p>"}


def test_a_child_that_hangs_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child.py"
    child.write_text("import time; time.sleep(600)")
    monkeypatch.setattr(tex, "CHILD_PATH", child)
    monkeypatch.setattr(tex, "CHILD_WALL_LIMIT_SECONDS", 0.3)
    started = time.monotonic()
    with pytest.raises(RenderError, match="did not finish"):
        render_all({"a": Source("tex_inline", "x")})
    assert time.monotonic() - started < 180


def test_a_missing_interpreter_is_a_render_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(RenderError, match="could not be started"):
        render_all({"a": Source("tex_inline", "x")})


def test_all_formulas_of_a_call_go_through_one_child(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[dict[str, object]]] = []
    run = subprocess.run

    def counting(*args: object, **kwargs: object) -> object:
        started.append(json.loads(kwargs["input"])["formulas"])  # type: ignore[arg-type]
        return run(*args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", counting)
    render_all(
        {
            "a": Source("markdown", "$x$ and $y$ and $x$"),
            "b": Source("inline_markdown", "$x$"),
            "c": Source("tex_inline", "z"),
            "d": Source("tex_display", "z"),
        }
    )
    (formulas,) = started
    assert [(item["tex"], item["display"]) for item in formulas] == [
        ("x", False),
        ("y", False),
        ("z", False),
        ("z", True),
    ]


def test_the_child_knows_nothing_of_the_site_and_of_the_environment(tmp_path: Path) -> None:
    probe = (
        "import os, runpy, sys\n"
        f"runpy.run_path({str(tex.CHILD_PATH)!r})\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not names & {'django', 'courses', 'markdown', 'pygments', 'learnml'}, names\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_secrets_in_the_environment_do_not_reach_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child.py"
    child.write_text(
        "import json, os, sys\n"
        "sys.stdout.write(json.dumps({'results': [{'error': ' '.join(os.environ), 'kind': 'parse',"
        "'position': 0}]}))\n"
    )
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setattr(tex, "CHILD_PATH", child)
    rendered = render_all({"a": Source("tex_inline", "x")})
    assert "DATABASE_URL" not in rendered.errors["a"][0].message


def test_a_chapter_with_a_hundred_formulas_is_quick() -> None:
    sources = {
        f"text {i}": Source(
            "markdown",
            f"Step {i}: $x_{{{i}}} = \\frac{{a_{{{i}}}}}{{\\sqrt{{b}}}}$ and so $y_{{{i}}}$.",
        )
        for i in range(45)
    }
    sources |= {f"{n}{i}": Source("tex_display", f"{i}{t}") for n, t in TEX.items() for i in (1,)}
    render_all(sources)  # imports and caches do not count
    before = cpu_seconds()
    render_all(sources)
    # CPU time, because other tests run beside this one; it takes about a fifth of the bound.
    assert cpu_seconds() - before < 1.5


def cpu_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
