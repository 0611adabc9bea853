"""The bank of known mistakes of an exercise: what is often got wrong, and how it shows.

Most mistakes are variants: the reference with one step replaced. A submission made the mistake
if the variant gives the submission's results, right and wrong ones alike. A few show by a sign
that the judge sees directly, for example a changed input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    # The site reads the registry without NumPy.
    import numpy as np

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """One mistake, with the ids of what it concerns in the chapter and in the test.

    `step`, `formula` and `line` are keys of the chapter's derivation steps, formulas and listing
    lines; `test` is the id of the group of cases that is there to catch it. `native` variants
    are played in the case's own dtype, because the mistake lies in its arithmetic;
    `wide_results` means that results may come out as float64. `exact_as` names the dtype that no
    result is more exact than; where that alone is the mistake, `loses_digits` is set too, the loss
    must be seen in many cases, and `made` is the class that loses them: the errors go both ways, or
    if `on_grid` is set the wrong results hold numbers of the narrower dtype alone. `noise` gives
    for a dtype the classes between whose results a submission's may lie, where the mistake is that
    large numbers cancel: y is then right up to a factor for each row. `covers` are the ids of
    others that this one says at once.
    """

    id: str
    explanation: str
    step: str | None = None
    formula: str | None = None
    line: str | None = None
    test: str | None = None
    variant: type | None = None
    sign: str = ""
    native: bool = False
    wide_results: bool = False
    exact_as: str = ""
    loses_digits: bool = False
    on_grid: bool = False
    made: type | None = None
    noise: Callable[[np.dtype[Any]], tuple[type, ...]] | None = None
    covers: tuple[str, ...] = ()

    @property
    def submission(self) -> type | None:
        """The class that makes the mistake, as a submission would."""
        return self.made or self.variant


class Bank:
    """Collects an exercise's mistakes in the order in which they are written."""

    def __init__(self) -> None:
        self._mistakes: list[KnownMistake] = []

    def __iter__(self) -> Iterator[KnownMistake]:
        return iter(self._mistakes)

    def variant(self, id: str, explanation: str, **fields: Any) -> Callable[[Class], Class]:
        """Register the decorated variant of the reference. One id may have several variants.

        A variant that keeps state on the class keeps it in a dict `shared`, which is replaced
        by an empty one before each use.
        """

        def register(cls: Class) -> Class:
            self._mistakes.append(KnownMistake(id, explanation, variant=cls, **fields))
            return cls

        return register

    def sign(self, id: str, explanation: str, sign: str, **fields: Any) -> None:
        """Register a mistake that shows by a sign of `gpu_worker.judge.verdict.compare`."""
        self._mistakes.append(KnownMistake(id, explanation, sign=sign, **fields))


def borrowed(
    mistakes: Iterable[KnownMistake], tests: Iterable[str], *, without: Iterable[str] = ()
) -> tuple[KnownMistake, ...]:
    """Return another exercise's mistakes for one of the same class in another chapter.

    Kept are those that one of the groups `tests` is there to catch, less those `without`. They
    point to the formula `rmsnorm` of the chapter; steps and lines of the other one are left out.
    """
    groups, left_out = frozenset(tests), frozenset(without)
    return tuple(
        replace(known, step=None, line=None, formula="rmsnorm")
        for known in mistakes
        if known.test in groups and known.id not in left_out
    )
