"""Runs the public cases of the exercise EXERCISE_SLUG on your file, without the platform.

    python check_EXERCISE_SLUG.py my_file.py

Needs Python 3.10 or newer and NumPy. Your file runs as it is, without a sandbox and without limits
on time or memory. The exit code is 0 if every case passed, 1 if not, 2 if there is no such file.

An error is measured in units: the distance from the right value, as a multiple of
(spacing of the dtype at 1) * (size of the terms added up) + (smallest number of the dtype).
"""

from __future__ import annotations

import linecache
import math
import os
import sys
import traceback
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

EXERCISE: dict[str, Any] = {}


@dataclass
class Result:
    """What became of one case: `message` says what is wrong, `worst` is the largest error."""

    case: dict[str, Any]
    passed: bool
    message: str = ""
    worst: Worst | None = None
    trace: str = ""


@dataclass
class Worst:
    quantity: str
    index: tuple[int, ...]
    expected: float
    got: float
    units: float
    limit: float

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"{self.quantity}{place}: {self.units:.3g} units, allowed are {self.limit:.4g}"


class Refusal(Exception):
    """The class does not follow the contract; nothing was raised by it."""


class NotOffered(ImportError):
    """A package that the platform does not offer on the NumPy track."""


class ImportGuard:
    """Refuses what the NumPy track refuses: all packages but NumPy and the standard library."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        package = name.partition(".")[0]
        known = package.startswith("_") or package in sys.stdlib_module_names
        if not known and package not in ("numpy", "submission"):
            raise NotOffered(
                f"The package {package} is not there for programs of the NumPy track, and this "
                "script is for that track alone."
            )


def load(path: str) -> Any:
    """Return the class that the file defines."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        source = file.read()
    module = ModuleType("submission")
    module.__file__ = path
    sys.modules["submission"] = module
    linecache.cache[path] = (len(source), None, source.splitlines(True), path)
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    cls = module.__dict__.get(EXERCISE["class_name"])
    if not callable(cls):
        raise Refusal(f"Your file defines no class {EXERCISE['class_name']}.")
    return cls


def check(cls: Any, case: dict[str, Any]) -> Result:
    """Run one case on the class, and judge it."""
    dtype = np.dtype(case["dtype"])
    arrays = {"x": np.array(case["x"], dtype), "dout": np.array(case["dout"], dtype)}
    arrays |= {name: np.array(values, dtype) for name, values in case["parameters"].items()}
    before = {name: array.copy() for name, array in arrays.items()}
    results: list[tuple[str, Any, Any]] = []
    problem, trace = "", ""
    try:
        play(cls, case, arrays, results)
    except Refusal as refusal:
        problem = str(refusal)
    except BaseException as error:  # noqa: BLE001  your class may raise anything
        problem, trace = f"Your code raised {type(error).__name__}.", own_trace(error)
    if not problem:
        for name, array in arrays.items():
            if array.tobytes() != before[name].tobytes():
                return Result(case, False, f"Your code changed its input {name}. Work on a copy.")
    worst: Worst | None = None
    for name, got, _ in results:
        if breach := contract_breach(case, name, got):
            return Result(case, False, breach)
        found = measure(case, name, got)
        if found.units > found.limit:
            return Result(case, False, f"{name} is outside the tolerance.", found)
        if worst is None or found.units / found.limit > worst.units / worst.limit:
            worst = found
    if problem:
        return Result(case, False, problem, trace=trace)
    for name, first, later in results:
        if first.tobytes() != np.asarray(later).tobytes():
            return Result(case, False, f"{name} changed after it was returned: make a new array.")
    return Result(case, True, worst=worst)


def play(cls: Any, case: dict[str, Any], arrays: dict[str, Any], results: list[Any]) -> None:
    """Make an instance, set its parameters, call forward and backward, read the gradients.

    `results` gets (name, copy, the array itself) of each, as far as it comes.
    """
    arguments = {"dim": arrays["x"].shape[-1]} if EXERCISE["takes_dim"] else {}
    arguments |= {} if case["eps"] is None else {"eps": case["eps"]}
    layer = cls(**arguments) if case["by_name"] else cls(*arguments.values())
    for name in case["parameters"]:
        if not hasattr(layer, name):
            raise Refusal(f"Your class has no attribute {name}. Make it in __init__.")
        setattr(layer, name, arrays[name])
    for name in case["as_made"]:
        if not hasattr(layer, name):
            raise Refusal(f"Your class has no attribute {name}. Make it in __init__.")
        # Parameters that your class created are cast to the dtype of x, as on the platform.
        convert = getattr(getattr(layer, name), "astype", None)
        if callable(convert):
            setattr(layer, name, convert(arrays["x"].dtype))
    keep(results, "y", method(layer, "forward")(arrays["x"]))
    keep(results, "dx", method(layer, "backward")(arrays["dout"]))
    for name in EXERCISE["gradients"]:
        if not hasattr(layer, name):
            raise Refusal(f"After backward, your class has no attribute {name}. Set it there.")
        keep(results, name, getattr(layer, name))


def method(layer: Any, name: str) -> Any:
    found = getattr(layer, name, None)
    if not callable(found):
        raise Refusal(f"Your class has no method {name}.")
    return found


def keep(results: list[Any], name: str, value: Any) -> None:
    if type(value) is not np.ndarray and not issubclass(type(value), np.generic):
        raise Refusal(f"{name} is of type {type(value).__name__}; it must be a numpy.ndarray.")
    array = np.asarray(value)
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > (
        16 if array.dtype.kind == "c" else 8
    ):
        raise Refusal(f"{name} has dtype {array.dtype}, which cannot be compared.")
    results.append((name, array.copy(), array))


def contract_breach(case: dict[str, Any], name: str, got: Any) -> str:
    """Say what is wrong with a result's shape or dtype; nothing if they are right."""
    wanted = np.shape(case["expected"][name]["values"])
    if got.shape != wanted:
        return f"{name} has shape {got.shape}, but it must be {wanted}."
    if got.dtype != case["dtype"]:
        return f"{name} has dtype {got.dtype}, but it must be {case['dtype']}."
    return ""


def measure(case: dict[str, Any], name: str, got: Any) -> Worst:
    """Return the largest error of a result, in units."""
    dtype = min(np.dtype(case["dtype"]), got.dtype, key=lambda each: each.itemsize)
    expected = np.array(case["expected"][name]["values"])
    sizes = np.array(case["expected"][name]["term_sizes"])
    info = np.finfo(dtype)
    unit, largest = float(info.eps), float(info.max)
    with np.errstate(invalid="ignore", over="ignore"):
        wide = got.astype(np.float64)
        errors = np.abs(wide - expected) / (unit * sizes + float(info.smallest_subnormal))
        overflows = np.abs(expected) >= largest * (1 - unit)
        errors[overflows & (wide * np.sign(expected) >= largest * (1 - unit))] = 0.0
    errors[np.isnan(errors)] = np.inf
    index = tuple(int(part) for part in np.unravel_index(int(np.argmax(errors)), errors.shape))
    return Worst(
        quantity=name,
        index=index,
        expected=float(expected[index]),
        got=float(got[index]),
        units=float(errors[index]),
        limit=allowed(dtype, np.shape(case["x"]), name in EXERCISE["gradients"]),
    )


def allowed(dtype: Any, shape: tuple[int, ...], summed_over_rows: bool) -> float:
    """Return how many units a result of this dtype may be off."""
    limits = EXERCISE["limits"]
    if dtype != np.float32:
        return float(limits[dtype.name])
    limit = limits["float32_long_rows" if shape[-1] > limits["long_row"] else "float32"]
    more = limits["per_root_of_rows"] * math.sqrt(math.prod(shape[:-1]))
    return float(limit + more if summed_over_rows else limit)


def own_trace(error: BaseException) -> str:
    """Return the traceback without this script's part; "" where the error cannot be written."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_globals is globals():
        step = step.tb_next
    try:
        return "".join(traceback.format_exception(type(error), error, step, limit=12))
    except BaseException:  # noqa: BLE001  a class of yours may refuse to be shown
        return ""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def show(result: Result) -> None:
    case, worst = result.case, result.worst
    say(f"{'pass' if result.passed else 'FAIL'}  {case['id']}: {case['title']}")
    if not result.passed:
        say(f"      {result.message}")
    if worst:
        say(f"      {worst}")
    if worst and not result.passed:
        say(f"      expected {worst.expected!r}, got {worst.got!r}")
    if result.trace:
        say(result.trace.rstrip())


def main(arguments: list[str]) -> int:
    if len(arguments) == 1 and not os.path.isfile(arguments[0]):
        what = "is not a file" if os.path.exists(arguments[0]) else "does not exist"
        say(f"{arguments[0]} {what}.")
        return 2
    if len(arguments) != 1:
        say("Give it your file: python check_EXERCISE_SLUG.py my_file.py")
        return 2
    say(f"{EXERCISE['title']}: {len(EXERCISE['cases'])} public cases, NumPy {np.__version__}\n")
    guard: Any = ImportGuard()
    sys.meta_path.insert(0, guard)
    try:
        cls = load(arguments[0])
    except Refusal as refusal:
        say(f"FAIL  {refusal} Name the class exactly so.")
        return 1
    except BaseException as error:  # noqa: BLE001  your file may raise anything
        say(f"FAIL  Loading your file raised {type(error).__name__}.\n{own_trace(error).rstrip()}")
        return 1
    results = [check(cls, case) for case in EXERCISE["cases"]]
    for result in results:
        show(result)
    passed = sum(result.passed for result in results)
    say(f"\n{passed} of {len(results)} public cases passed.")
    if passed == len(results):
        say("The platform runs many more, which it draws anew each time: submit your file there.")
    return 0 if passed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
