"""A fused reference of the CuPy track as one file, as a learner would hand it in.

python -m gpu_worker.exercises.one_file     writes them into `submissions/cupy/correct`
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpu_worker.exercises.registry import Exercise, get, slugs

NAME: Final = "reference_kernels.py"
_HEADER: Final = """# outcome: accepted
# From kernels.cu, launch.py and fused_cupy.py, with row_launch.py and cupy_rows.py.
"""
_PARTS: Final = ("../cupy_rows.py", "../row_launch.py", "launch.py", "fused_cupy.py")
_SOURCE_FILE: Final = 'Path(__file__).with_name("kernels.cu").read_text(encoding="utf-8")'


def one_file(exercise: Exercise) -> str:
    """Return the program: the kernels' source as a string, and the modules one after another."""
    imports = _Imports()
    bodies = [
        _without_imports((exercise.folder / name).read_text(encoding="utf-8"), imports)
        for name in _PARTS
    ]
    kernels = (exercise.folder / "kernels.cu").read_text(encoding="utf-8")
    program = "\n\n\n".join(bodies)
    program = program.replace(_SOURCE_FILE, f'r"""\n{kernels}"""')
    return "\n".join((_HEADER, *imports.lines(), "", "", program, ""))


class _Imports:
    """What several modules import, each once."""

    def __init__(self) -> None:
        self._whole: set[str] = set()
        self._names: dict[str, set[str]] = defaultdict(set)

    def add(self, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.Import):
            self._whole.add(ast.unparse(statement))
        elif statement.module and not statement.module.startswith("gpu_worker"):
            self._names[statement.module].update(name.name for name in statement.names)

    def lines(self) -> Iterator[str]:
        named = [f"from {module} import {', '.join(sorted(names))}"
                 for module, names in self._names.items() if module != "pathlib"]  # fmt: skip
        yield from sorted(named, key=lambda line: (not line.startswith("from __future__"), line))
        yield ""
        yield from sorted(self._whole)


def _without_imports(text: str, imports: _Imports) -> str:
    """Return a module's text after its docstring; what it imports from others is added."""
    tree = ast.parse(text)
    gone: set[int] = set()
    for place, statement in enumerate(tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imports.add(statement)
        elif place or ast.get_docstring(tree) is None:
            continue
        gone.update(range(statement.lineno - 1, statement.end_lineno or statement.lineno))
    lines = text.splitlines()
    return "\n".join(line for number, line in enumerate(lines) if number not in gone).strip()


def programs() -> dict[Path, str]:
    """Return the stored files of all exercises that have fused references, with their text."""
    exercises = [get(slug) for slug in slugs() if (get(slug).folder / "fused_cupy.py").is_file()]
    return {
        one.folder / "submissions" / "cupy" / "correct" / NAME: one_file(one) for one in exercises
    }


if __name__ == "__main__":
    for path, text in programs().items():
        path.write_text(text, encoding="utf-8")
