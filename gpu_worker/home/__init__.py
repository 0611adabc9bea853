"""A script for learners that runs an exercise's public cases with nothing but Python and NumPy.

It reports the same as the platform: pass or fail for each case, and the same worst error in units.
It contains no hidden case and no code of the reference, only the numbers to compare with.
"""

from __future__ import annotations

import pprint
from functools import cache
from pathlib import Path
from typing import Any, Final

from gpu_worker.exercises import Exercise, get
from gpu_worker.exercises.spec import PublicCase
from gpu_worker.judge.cases import casegen, units
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.reference import expected_results
from gpu_worker.messages.protocol import Track

_TEMPLATE: Final = Path(__file__).with_name("template.py")
_PLACE: Final = "EXERCISE: dict[str, Any] = {}\n"


@cache
def home_script(slug: str, track: str) -> str:
    """Return the script for an exercise's public cases.

    Raises:
        UnknownExerciseError: there is no such exercise.
        LookupError: there is none for this track: it needs a device that homes rarely have.
    """
    exercise = get(slug)
    if track != Track.NUMPY or track not in exercise.tracks:
        raise LookupError(f"There is no script for the track {track} of {slug}.")
    literal = pprint.pformat(_facts(exercise), width=96, sort_dicts=False, compact=True)
    template = _TEMPLATE.read_text(encoding="utf-8")
    text = template.replace(_PLACE, f"EXERCISE: dict[str, Any] = {literal}\n", 1)
    return text.replace("CLASS_NAME", exercise.class_name).replace("EXERCISE_SLUG", slug)


def _facts(exercise: Exercise) -> dict[str, Any]:
    cases = casegen.public_cases(exercise)
    return {
        "title": exercise.title,
        "class_name": exercise.class_name,
        "takes_dim": "dim" in exercise.constructor,
        "gradients": list(exercise.gradients),
        "limits": {
            "float64": units.FLOAT64_LIMIT,
            "float32": units.FLOAT32_LIMIT,
            "float32_long_rows": units.FLOAT32_LONG_ROW_LIMIT,
            "long_row": units.LONG_ROW,
            "float16": units.HALF_LIMIT,
            "per_root_of_rows": units.PER_ROOT_OF_ROWS,
        },
        "cases": [
            _case(exercise, public, case)
            for public, case in zip(exercise.public_cases, cases, strict=True)
        ],
    }


def _case(exercise: Exercise, public: PublicCase, case: Case) -> dict[str, Any]:
    results = expected_results(exercise, case)
    return {
        "id": public.id,
        "title": public.title,
        "dtype": public.dtype,
        "eps": public.eps,
        "by_name": case.script.operations[0].by_name,
        "x": public.x,
        "dout": public.dout,
        "parameters": dict(public.parameters),
        "as_made": [name for name in exercise.parameters if name not in public.parameters],
        "expected": {
            result.quantity: {
                "values": result.value.tolist(),
                "term_sizes": [] if result.scale is None else result.scale.tolist(),
            }
            for result in results
        },
    }
