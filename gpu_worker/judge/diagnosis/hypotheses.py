"""Hypotheses about a submission: the reference with one known mistake, or with two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.reference import reference_class

_CONSTRUCTOR = frozenset({"__init__"})


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What a submission may be: the reference with some mistakes made."""

    mistakes: tuple[KnownMistake, ...]
    variant: type
    one_of_many: bool = False
    """True if there are so many of its kind that each is only examined briefly."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(known.id for known in self.mistakes)

    @property
    def variants(self) -> tuple[type | None, ...]:
        """The variants of its mistakes, each by itself: what tells it from any other."""
        return tuple(known.variant for known in self.mistakes)

    @property
    def native(self) -> bool:
        """True if it is played in the case's own dtype."""
        return any(known.native for known in self.mistakes)

    @property
    def wide_results(self) -> bool:
        """True if results may come out as float64."""
        return any(known.wide_results for known in self.mistakes)

    @property
    def exact_as(self) -> np.dtype[Any] | None:
        """The dtype that no result is more exact than, if there is one."""
        named = [np.dtype(known.exact_as) for known in self.mistakes if known.exact_as]
        return min(named, key=lambda dtype: dtype.itemsize, default=None)

    @property
    def loses_digits(self) -> bool:
        """True if the mistake is that digits are lost, so that they must be seen to be."""
        return any(known.loses_digits for known in self.mistakes)

    @property
    def keeps_state(self) -> bool:
        """True if what it gives may depend on the cases before: see `bank.Bank.variant`."""
        return any(keeps_state(known.variant) for known in self.mistakes if known.variant)

    @property
    def noise(self) -> Callable[[np.dtype[Any]], tuple[type, ...]] | None:
        """What gives the classes between whose results a submission's may lie, see `bank`."""
        return next((known.noise for known in self.mistakes if known.noise), None)

    @property
    def on_grid(self) -> bool:
        """True if the wrong results hold numbers of `exact_as` alone."""
        return any(known.on_grid for known in self.mistakes)


def singles(bank: Sequence[KnownMistake], *, many: bool = False) -> Iterator[Hypothesis]:
    """Yield each mistake by itself; `many` for a bank of forms by the hundred."""
    for known in bank:
        if known.variant:
            yield Hypothesis((known,), known.variant, many)


def pairs(
    exercise: Exercise, bank: Sequence[KnownMistake]
) -> Iterator[tuple[KnownMistake, KnownMistake]]:
    """Yield each two mistakes that can be made together and played exactly.

    One that lies in its arithmetic goes together with one in the constructor only: nothing that
    the other changes is computed there.
    """
    reference = reference_class(exercise)
    variants = [known for known in bank if known.variant and not known.noise]
    steps = {id(known): _steps(known.variant, reference) for known in variants if known.variant}
    in_constructor = {key for key, replaced in steps.items() if replaced == _CONSTRUCTOR}
    for one, other in combinations(variants, 2):
        native = [known for known in (one, other) if known.native]
        if one.id == other.id or len(native) == 2:
            continue
        if native and not {id(one), id(other)} & in_constructor:
            continue
        if not steps[id(one)] & steps[id(other)]:
            yield one, other


@cache
def keeps_state(variant: type) -> bool:
    """True if what a variant gives may depend on the cases before: see `bank.Bank.variant`."""
    functions = (value for cls in variant.__mro__ for value in vars(cls).values())
    return any("shared" in _names_in(f.__code__) for f in functions if isinstance(f, FunctionType))


def _names_in(code: CodeType) -> set[str]:
    inner = [_names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inner)


def fresh(variant: type) -> type:
    """Return the variant anew: what it keeps on its class must not outlive a run."""
    return type(variant.__name__, (variant,), {"shared": {}})


def compose(
    exercise: Exercise, mistakes: Sequence[KnownMistake], *, submitted: bool = False
) -> type | None:
    """Return the reference with several mistakes made; None if they replace a common step.

    `submitted` puts together the classes that make the mistakes, not those that explain them.
    """
    reference = reference_class(exercise)
    classes = [known.submission if submitted else known.variant for known in mistakes]
    variants = [cls for cls in classes if cls]
    replaced = [_steps(variant, reference) for variant in variants]
    if any(one & other for one, other in combinations(replaced, 2)):
        return None
    name = "And".join(variant.__name__ for variant in variants)
    # A base class may not precede a class that derives from it.
    variants = [v for v in variants if not any(v in w.__mro__[1:] for w in variants)]
    return type(name, tuple(variants), {"shared": {}})


def _steps(variant: type, reference: type) -> set[str]:
    own = [cls for cls in variant.__mro__ if issubclass(cls, reference) and cls is not reference]
    return {name for cls in own for name, value in vars(cls).items() if callable(value)}
