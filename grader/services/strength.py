"""What an exercise must show before it is published: that its cases tell wrong from right."""

from __future__ import annotations

from typing import Final

from grader.registry import find_spec

_SHOWN: Final = 5
_SEED: Final = 1
_MUTANTS: Final = 2
"""Of each correct solution; `manage.py check_exercises` takes more."""


def why_not_publishable(slug: str) -> str:
    """Grade the exercise's stored submissions and a few mutants; return what speaks against it.

    That is nothing where its cases tell wrong from right. On the same cases each time, so that
    trying again changes nothing. Takes minutes: all of them run in the sandbox of this machine.
    """
    # The judge needs NumPy, which the site loads for nothing else.
    from gpu_worker.checking import (
        Fate,
        HeaderError,
        SandboxError,
        Zygote,
        check_mutants,
        check_stored,
    )

    spec = find_spec(slug)
    if spec is None:
        return (
            f"The grading engine has no exercise {slug}, so nobody could be graded. Publish it "
            "when the engine has it, or correct the slug."
        )
    try:
        with Zygote() as zygote:
            checked = list(check_stored(spec, zygote, first_seed=_SEED, quick=True))
            mutants = check_mutants(spec, zygote, per_solution=_MUTANTS, first_seed=_SEED)
            survived = [result for result in mutants if result.fate is Fate.SURVIVED]
    except HeaderError as error:
        return f"A stored submission cannot be used: {error}"
    except SandboxError as error:
        return (
            f"The stored submissions could not be run here: {error} Run manage.py "
            f"check_exercises {slug} where a worker runs, and publish from there."
        )
    if not checked:
        return f"{slug} has no stored submissions, so nothing shows that its cases work. Add some."
    complaints = [complaint for _, complaint in checked if complaint]
    if survived and not complaints:
        first = survived[0]
        return (
            f"The cases miss a mistake: {first.submission} with line {first.mutant.line} changed "
            f"({first.mutant.change}) is accepted once and refused another time. Add a case that "
            f"shows it every time, and run manage.py check_exercises {slug}."
        )
    if not complaints:
        return ""
    more = len(complaints) - _SHOWN
    rest = f" And {more} more." if more > 0 else ""
    return (
        f"{len(complaints)} of {len(checked)} stored submissions are not graded as they should "
        f"be: {' '.join(complaints[:_SHOWN])}{rest} Correct the cases or the submissions, and run "
        f"manage.py check_exercises {slug}."
    )
