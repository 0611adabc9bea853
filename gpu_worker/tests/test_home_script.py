"""The script for home and the platform agree on a file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gpu_worker.exercises import get, on_track
from gpu_worker.home import home_script
from gpu_worker.messages.protocol import Track
from gpu_worker.messages.runs import RunCase
from gpu_worker.sandbox.client import Zygote
from gpu_worker.tests.worker_process import PATIENCE_SECONDS
from gpu_worker.worker.running import run_public_cases

# At home there is no sandbox: programs that do more than arithmetic are not run here.
NOT_ARITHMETIC = re.compile(
    r"\b(os|sys|gc|ctypes|inspect|signal|socket|subprocess|threading|multiprocessing|pickle|time"
    r"|exit|quit|open|while|asyncio|async|traceback|builtins|globals|setattr|__eq__|lru_cache"
    r"|testing|random|empty|empty_like|concurrent|futures|errstate|seterr|allclose|id)\b"
    r"|recursion|\* ?10|1 ?<< ?\d\d|__del__"
)


def stored(slug: str) -> list[Path]:
    """Some right programs and every second wrong one, as far as they only compute."""
    folder = get(slug).folder / "submissions"
    files = (
        sorted((folder / "correct").glob("*.py"))[::3]
        + sorted((folder / "wrong").glob("*.py"))[::2]
    )
    return [path for path in files if not NOT_ARITHMETIC.search(path.read_text("utf-8"))]


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    own = Zygote()
    yield own
    own.close()


def script(slug: str) -> Any:
    module = ModuleType("check_at_home")
    # Its dataclasses look their own module up.
    sys.modules[module.__name__] = module
    exec(compile(home_script(slug, "numpy"), "check.py", "exec"), module.__dict__)  # noqa: S102
    return module


def said_at_home(module: Any, path: Path) -> list[tuple[Any, ...]]:
    try:
        cls = module.load(str(path))
    except BaseException:  # noqa: BLE001  a stored file may raise anything
        return [(False, None)] * len(module.EXERCISE["cases"])
    finally:
        sys.modules.pop("submission", None)
    results = [module.check(cls, case) for case in module.EXERCISE["cases"]]
    return [
        (r.passed, r.worst and (r.worst.quantity, r.worst.index, r.worst.units)) for r in results
    ]


def said_here(case: RunCase) -> tuple[Any, ...]:
    worst = case.worst
    units = float("inf") if worst and worst.units is None else worst and worst.units
    return (bool(case.passed), worst and (worst.quantity, tuple(worst.index), units))


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_home_and_platform_agree_on_stored_submissions(slug: str, zygote: Zygote) -> None:
    exercise, module = get(slug), script(slug)
    outcomes = set()
    for path in stored(slug):
        _, report = run_public_cases(exercise, path.read_text("utf-8"), zygote)
        here = [said_here(case) for case in report.cases]
        assert said_at_home(module, path) == here, path.stem
        outcomes |= {passed for passed, _ in here}
    assert outcomes == {True, False}


def test_it_needs_only_numpy_and_reports_every_case(tmp_path: Path) -> None:
    check = tmp_path / "check_rmsnorm.py"
    check.write_text(home_script("rmsnorm", "numpy"), encoding="utf-8")
    submissions = get("rmsnorm").folder / "submissions"

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-I", str(check), *arguments],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    code, text = run(str(submissions / "correct" / "einsum.py"))
    assert code == 0
    assert "4 of 4 public cases passed" in text
    code, text = run(str(submissions / "wrong" / "eps_outside_root.py"))
    assert code == 1
    assert "1 of 4" in text
    assert "1.34e+09 units, allowed are 64" in text
    code, text = run(str(submissions / "wrong" / "not_python.py"))
    assert (code, "SyntaxError" in text) == (1, True)
    code, text = run()
    assert (code, "Give it your file" in text) == (2, True)
    assert run(str(tmp_path / "none.py")) == (2, f"{tmp_path / 'none.py'} does not exist.\n")
    assert run(str(tmp_path)) == (2, f"{tmp_path} is not a file.\n")
    device = tmp_path / "device.py"
    device.write_text("import cupy\n", encoding="utf-8")
    code, text = run(str(device))
    assert code == 1
    assert "this script is for that track alone" in text
    assert "not available on the platform" not in text


def test_it_contains_no_hidden_case_and_imports_nothing_of_ours() -> None:
    text = home_script("rmsnorm", "numpy")
    assert "gpu_worker" not in text
    assert "import numpy" in text
    for plan in {plan.family for plan in get("rmsnorm").plans}:
        assert f"'{plan}'" not in text


def test_a_track_without_a_script_has_none() -> None:
    with pytest.raises(LookupError):
        home_script("rmsnorm", "cupy")
