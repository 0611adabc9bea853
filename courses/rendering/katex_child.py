"""The child process that runs KaTeX: formulas as JSON on stdin, HTML as JSON on stdout.

It is started by path (`python -I .../katex_child.py`), lives for one request and imports nothing of
the site, so that it starts in some 30 ms and so that a crash of the JavaScript engine, an endless
macro or a huge matrix costs this process and nothing else.

Request: `{"formulas": [{"tex": str, "display": bool}, ...]}`. Answer: `{"results": [...]}` in the
same order, each `{"html": str}` or `{"error": str, "kind": str, "position": int | null}` with the
position in UTF-16 units, as JavaScript counts, and `kind` one of parse, symbol, trust, limit (too
much time or memory) and budget (not begun, because earlier formulas used up the time).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

# The extension itself: the package around it starts a thread that is not needed here.
import _quickjs  # type: ignore[import-not-found]

CPU_LIMIT_SECONDS = 5
ADDRESS_SPACE_LIMIT_BYTES = 512 * 1024 * 1024
HEAP_LIMIT_BYTES = 64 * 1024 * 1024
STACK_LIMIT_BYTES = 1024 * 1024
FORMULA_LIMIT_SECONDS = 1.0
# The last formula may still take a second, which leaves the rest for starting and writing.
BUDGET_SECONDS = 3.0

KATEX_PATH = Path(__file__).resolve().parent / "katex" / "katex.min.js"

# strict: an unknown character would be drawn in a font without metrics. Everything else that LaTeX
# would refuse is harmless on a page.
# macros: \changed marks what a step of a derivation changed, by the one class that is trusted.
# trust: throws, because a plain `false` would print the command in red and call that success.
SETUP = r"""
function renderFormula(tex, display) {
  const options = {
    displayMode: display, output: "htmlAndMathml", throwOnError: true,
    maxExpand: 1000, maxSize: 20,
    macros: {"\\changed": "\\htmlClass{changed}{#1}"},
    strict: (code, message, token) => {
      if (code !== "unknownSymbol") return "ignore";
      const error = new Error(message);
      error.kind = "symbol";
      error.position = token && token.loc ? token.loc.start : null;
      throw error;
    },
    trust: (context) => {
      if (context.command === "\\htmlClass" && context.class === "changed") return true;
      const error = new Error(context.command);
      error.kind = "trust";
      throw error;
    },
  };
  try {
    return JSON.stringify({html: katex.renderToString(tex, options)});
  } catch (error) {
    if (error instanceof RangeError || error instanceof InternalError)
      return JSON.stringify({error: error.message, kind: "limit", position: null});
    return JSON.stringify({
      error: error.rawMessage || error.message || String(error),
      kind: error.kind || "parse",
      position: error.position === undefined ? null : error.position,
    });
  }
}
"""


class Engine:
    """One JavaScript context with KaTeX loaded."""

    def __init__(self, katex_source: str) -> None:
        context = _quickjs.Context()
        context.set_memory_limit(HEAP_LIMIT_BYTES)
        context.set_max_stack_size(STACK_LIMIT_BYTES)
        context.eval(katex_source)
        context.eval(SETUP)
        self._context = context
        self._render = context.get("renderFormula")

    def render(self, tex: str, display: bool) -> dict[str, Any]:
        """Render one formula; raises what the engine raises when a limit is reached."""
        self._context.set_time_limit(FORMULA_LIMIT_SECONDS)
        result: dict[str, Any] = json.loads(self._render(tex, display))
        return result


def limit_process() -> None:
    """Limit this process, whatever the formulas ask for."""
    for name, value in (
        (resource.RLIMIT_CPU, CPU_LIMIT_SECONDS),
        (resource.RLIMIT_AS, ADDRESS_SPACE_LIMIT_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(name)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (bound, bound))


def render_formulas(formulas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Render all formulas within the budget; one that reaches a limit does not affect the next."""
    katex_source = KATEX_PATH.read_text(encoding="utf-8")
    engine: Engine | None = None
    results: list[dict[str, Any]] = []
    started = time.process_time()
    for formula in formulas:
        if time.process_time() - started > BUDGET_SECONDS:
            results.append({"error": "", "kind": "budget", "position": None})
            continue
        engine = engine or Engine(katex_source)
        try:
            result = engine.render(formula["tex"], formula["display"])
        except (_quickjs.JSException, MemoryError, SystemError) as error:
            result = {"error": str(error), "kind": "limit", "position": None}
        if result.get("kind") == "limit":
            # A context that reached a limit may be in any state: use a fresh one.
            engine = None
        results.append(result)
    return results


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.read())
    limit_process()
    answer = {"results": render_formulas(request["formulas"])}
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))


if __name__ == "__main__":
    main()
