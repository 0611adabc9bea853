"""Draws the concrete cases of one grading from an exercise's plans."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.spec import PublicCase
from gpu_worker.judge.cases import dtypes, families
from gpu_worker.judge.cases.case import Case, ScriptBuilder
from gpu_worker.judge.cases.drawing import NumberDrawer
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.inside.wire import ArrayValue

Array = NDArray[Any]

_REPEATS = 3
_MANY_ROUNDS = (14, 20)
_NEAR_COPIES = 5
MIXED: Final = ("ranks-in-turn", "dtypes-in-turn", "same-bytes-reshaped")
"""Sequences that give one instance x of several ranks, or of several dtypes."""
_LEADING = (2, 3)
"""The leading axes of a second x, which the first does not have."""
_LONGER = 3
_AT_A_TIME = 8


def new_seed() -> int:
    """Return 128 bits from the operating system; nothing about a submission enters."""
    return secrets.randbits(128)


def public_cases(exercise: Exercise) -> list[Case]:
    """Return the exercise's fixed, documented cases."""
    return [_public_case(exercise, *item) for item in enumerate(exercise.public_cases)]


def hidden_cases(exercise: Exercise, seed: int, track: Track = Track.NUMPY) -> list[Case]:
    """Return one case per plan of the track, all numbers drawn from `seed`."""
    draw = np.random.default_rng(seed)
    return [
        CaseDrawer(exercise, plan, draw, by_name=_by_name(number)).draw()
        for number, plan in enumerate(exercise.plans_for(track))
    ]


def _by_name(number: int) -> bool:
    """Tell how a case makes its instances: by turns, so that every group has both ways."""
    return number % 2 == 0


def _public_case(exercise: Exercise, number: int, public: PublicCase) -> Case:
    dtype = np.dtype(public.dtype)
    x = np.array(public.x, dtype)
    parameters = {name: np.array(values, dtype) for name, values in public.parameters.items()}
    checks = frozenset(exercise.results)
    script = ScriptBuilder(exercise, checks)
    dim = x.shape[-1] if "dim" in exercise.constructor else 0
    script.new(0, dim, public.eps, parameters, by_name=_by_name(number))
    script.forward(0, _contiguous(x))
    if public.dout is not None:
        script.backward(0, _contiguous(np.array(public.dout, dtype)))
    return Case(
        group="public",
        family=public.id,
        dtype=dtype,
        layout="contiguous",
        eps=public.eps,
        shape=x.shape,
        checks=checks,
        script=script.build(resend=True),
        public=True,
    )


class CaseDrawer(NumberDrawer):
    """Draws one case of a plan."""

    repeats = 1
    bad_rows: NDArray[np.bool_]

    def draw(self) -> Case:
        """Return the case."""
        x = self.x(self.shape)
        self.bad_rows = _bad_rows(x)
        SEQUENCES[self.plan.sequence](self, x)
        return Case(
            group=self.plan.group,
            family=self.plan.family,
            dtype=self.dtype,
            layout=self.plan.layout if self.plan.sequence == "once" else self.plan.sequence,
            eps=self.eps,
            shape=self.shape,
            checks=self.checks,
            script=self.script.build(resend=self.plan.group == "state"),
            bad_rows=self.bad_rows if self.bad_rows.any() else None,
            repeats=self.repeats,
        )

    # --- sequences of calls -------------------------------------------------------------------
    def once(self, x: Array) -> None:
        """forward, backward."""
        self.new(0)
        self.script.forward(0, ArrayValue(x, self.plan.layout, x.shape))
        dout = self.dout(x)
        if dout.layout != "broadcast":
            self.bad_rows = self.bad_rows | _bad_rows(dout.values)
        self.script.backward(0, dout)

    def two_forwards(self, x: Array) -> None:
        """forward(a), forward(b), forward(c), backward: the gradient belongs to c, as long as b."""
        self.new(0)
        for shape in ((self.shape[0] + 2, *self.shape[1:]), self.shape):
            self.script.forward(0, _contiguous(self.x(shape)))
        self.script.forward(0, _contiguous(x))
        self.script.backward(0, self.dout(x))

    def two_backwards(self, x: Array) -> None:
        """forward, backward, backward: what forward kept still serves the second."""
        self.new(0)
        self.script.forward(0, _contiguous(x))
        self.script.backward(0, self.dout(x))
        self.script.backward(0, self.dout(x))

    def new_parameters(self, x: Array) -> None:
        """One instance whose parameters are set anew between two passes over the same x."""
        self.new(0)
        place = self.script.forward(0, _contiguous(x))
        self.script.backward(0, self.dout(x))
        self.script.set(0, self.parameters())
        self.script.forward(0, place)
        self.script.backward(0, self.dout(x))

    def interleaved(self, x: Array) -> None:
        """Two instances with an eps and parameters of their own, their calls in turn.

        Each on an x of its own, then both on the same one.
        """
        other = self.x(self.shape)
        self.new(0)
        self.new(1, None if self.eps is None else families.other_eps(self.plan.eps, self.eps))
        first = self.script.forward(0, _contiguous(x))
        self.script.forward(1, _contiguous(other))
        self.script.backward(0, self.dout(x))
        self.script.backward(1, self.dout(other))
        self.script.forward(1, first)
        self.script.backward(1, self.dout(x))

    def strangers(self, x: Array) -> None:
        """Two instances that share nothing, neither D nor rank nor dtype, their calls in turn."""
        other = self.x((*_LEADING, self.shape[-1] + _LONGER), self.other_dtype())
        self.new(0)
        self.new(1, like=other)
        self.script.forward(0, _contiguous(x))
        self.script.forward(1, _contiguous(other))
        self.script.backward(0, self.dout(x))
        self.script.backward(1, self.dout(other))

    def ranks_in_turn(self, x: Array) -> None:
        """One instance, x of one to four dimensions and an empty one, of one D."""
        dim = self.shape[-1]
        self.new(0)
        for leading in (self.shape[:-1], (), _LEADING, (0,), (1, *_LEADING)):
            batch = self.x((*leading, dim))
            self.script.forward(0, _contiguous(batch))
            self.script.backward(0, self.dout(batch))

    def dtypes_in_turn(self, x: Array) -> None:
        """One instance whose parameters and x come in one dtype after the other, and the first."""
        self.new(0)
        for dtype in map(dtypes.named, (*self.dtypes, self.dtypes[0])):
            batch = self.x(self.shape, dtype)
            self.script.set(0, self.parameters(batch))
            self.script.forward(0, _contiguous(batch))
            self.script.backward(0, self.dout(batch))

    def small_large_small(self, x: Array) -> None:
        """One instance, batches of different sizes."""
        self.new(0)
        for rows in (3, 40, 2):
            batch = self.x((rows, *self.shape[1:]))
            self.script.forward(0, _contiguous(batch))
            self.script.backward(0, self.dout(batch))

    def three_times(self, x: Array) -> None:
        """The same calls three times: the results must agree bit for bit."""
        dout = self.dout(x)
        self.new(0)
        self.repeats = _REPEATS
        for _ in range(_REPEATS):
            self.script.forward(0, _contiguous(x))
            self.script.backward(0, dout)

    def refilled(self, x: Array) -> None:
        """The same two arrays, filled anew for each pass: an address says nothing of content."""
        self.new(0)
        place = self.script.forward(0, _contiguous(x))
        gradient = self.script.backward(0, self.dout(x))
        for _ in range(2):
            fresh = self.x(self.shape)
            self.script.fill(place, fresh, "x")
            self.script.fill(gradient, self.dout(fresh).values, "dout")
            self.script.forward(0, place)
            self.script.backward(0, gradient)
        # Results that share memory with their inputs change with them.
        self.script.fill(place, self.x(self.shape), "x")
        self.script.fill(gradient, self.dout(x).values, "dout")

    def near_copies(self, x: Array) -> None:
        """Inputs that equal an earlier one but for a few elements, by turns in its own memory."""
        dout = self.dout(x).values
        self.new(0)
        place = self.script.forward(0, _contiguous(x))
        gradient = self.script.backward(0, _contiguous(dout))
        for _ in range(_NEAR_COPIES):
            # The same x, so anything cached about it is valid; only dout differs.
            self.script.forward(0, place)
            self.script.backward(0, _contiguous(self.nearly(dout)))
        for turn in range(_NEAR_COPIES):
            near, near_dout = self.nearly(x), self.nearly(dout)
            if turn % 2:
                self.script.fill(place, near, "x")
                self.script.fill(gradient, near_dout, "dout")
                self.script.forward(0, place)
                self.script.backward(0, gradient)
            else:
                self.script.forward(0, _contiguous(near))
                self.script.backward(0, _contiguous(near_dout))

    def many_calls(self, x: Array) -> None:
        """Three inputs in turn, over and over: nothing may drift."""
        self.new(0)
        inputs = [x, self.x(self.shape), self.x(self.shape)]
        places = [(self.script.add(_contiguous(a)), self.gradient(a)) for a in inputs]
        self.repeats = int(self.rng.integers(*_MANY_ROUNDS))
        for _ in range(self.repeats):
            for place, gradient in places:
                self.script.forward(0, place)
                self.script.backward(0, gradient)

    def same_dout(self, x: Array) -> None:
        """One dout for two x, then for the second x again after its parameters were set anew."""
        self.new(0)
        self.script.forward(0, _contiguous(x))
        gradient = self.script.backward(0, self.dout(x))
        place = self.script.forward(0, _contiguous(self.x(self.shape)))
        self.script.backward(0, gradient)
        self.script.set(0, self.parameters())
        self.script.forward(0, place)
        self.script.backward(0, gradient)

    def equal_parameters(self, x: Array) -> None:
        """Two instances that differ in eps alone, on the same x and the same dout."""
        shared = self.parameters()
        self.new(0, parameters=shared)
        other = None if self.eps is None else families.other_eps(self.plan.eps, self.eps)
        self.new(1, other, parameters=shared)
        place = self.script.forward(0, _contiguous(x))
        self.script.forward(1, place)
        gradient = self.script.backward(1, self.dout(x))
        self.script.backward(0, gradient)

    def same_bytes_reshaped(self, x: Array) -> None:
        """One instance, the same numbers as a matrix and as a batch of matrices."""
        self.new(0)
        batch = self.x((2, 2, self.shape[-1]))
        dout = self.dout(batch).values
        for shape in ((4, self.shape[-1]), batch.shape):
            self.script.forward(0, _contiguous(batch.reshape(shape)))
            self.script.backward(0, _contiguous(dout.reshape(shape)))

    def lengths_in_turn(self, x: Array) -> None:
        """An instance for each rest that D leaves when a row is taken eight numbers at a time."""
        for instance, rest in enumerate(self.rng.permutation(_AT_A_TIME)):
            dim = _AT_A_TIME * int(self.rng.integers(2, _AT_A_TIME + 1)) + int(rest)
            batch = self.x((int(self.rng.integers(2, 4)), dim))
            self.new(instance, like=batch)
            self.script.forward(instance, _contiguous(batch))
            self.script.backward(instance, self.dout(batch))

    def gradient(self, x: Array) -> int:
        """Take a dout for x along; return its index, or -1 where the case does not go back."""
        return -1 if self.checks <= {"y"} else self.script.add(self.dout(x))


SEQUENCES: Final[dict[str, Callable[[CaseDrawer, Array], None]]] = {
    "once": CaseDrawer.once,
    "two-forwards": CaseDrawer.two_forwards,
    "two-backwards": CaseDrawer.two_backwards,
    "new-parameters": CaseDrawer.new_parameters,
    "interleaved": CaseDrawer.interleaved,
    "strangers": CaseDrawer.strangers,
    "ranks-in-turn": CaseDrawer.ranks_in_turn,
    "dtypes-in-turn": CaseDrawer.dtypes_in_turn,
    "small-large-small": CaseDrawer.small_large_small,
    "three-times": CaseDrawer.three_times,
    "refilled": CaseDrawer.refilled,
    "near-copies": CaseDrawer.near_copies,
    "many-calls": CaseDrawer.many_calls,
    "same-dout": CaseDrawer.same_dout,
    "equal-parameters": CaseDrawer.equal_parameters,
    "same-bytes-reshaped": CaseDrawer.same_bytes_reshaped,
    "lengths-in-turn": CaseDrawer.lengths_in_turn,
}
"""The orders of calls that a plan may name. The site has words for each, in
`grader/presentation/words.py`.
"""


def _bad_rows(values: Array) -> NDArray[np.bool_]:
    """Mark the rows (leading shape) that hold NaN or inf."""
    return np.array(~np.isfinite(values).all(axis=-1))


def _contiguous(values: Array) -> ArrayValue:
    return ArrayValue(values, "contiguous", values.shape)
