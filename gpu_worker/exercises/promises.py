"""Mistakes that an exercise's mathematics says nothing of: state kept wrongly, arrays that change.

Each function registers one in a bank. `place` is where it stands in the chapter: `step`, `formula`,
`line` and `test` of a `KnownMistake`. `kept` names what the reference's forward keeps for backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank


def shared_state(bank: Bank, reference: Any, kept: Sequence[str], **place: str) -> None:
    """Register that all instances share what the last forward of any of them kept."""

    class SharedState(reference):
        shared: dict[str, Any] = {}

        def forward(self, x: Array) -> Array:
            y = super().forward(x)
            self.shared.update({name: getattr(self, name) for name in kept})
            return y

        def backward(self, dout: Array) -> Array:
            self.__dict__.update(self.shared)
            return super().backward(dout)

    explanation = (
        "Instances share what forward keeps, for example in a class attribute or a global. Keep it "
        "on self."
    )
    bank.variant("shared-state", explanation, **place)(SharedState)


def shared_rstd(bank: Bank, reference: Any, centred: str, **place: str) -> None:
    """Register that instances share 1/rms or 1/deviation, in backward's last step or in all of it.

    `centred` names what the reference multiplies by rstd to normalize.
    """

    class SharedRstd(reference):
        shared: dict[str, Any] = {}

        def forward(self, x: Array) -> Array:
            y = super().forward(x)
            self.shared["rstd"] = self.rstd
            return y

        def backward(self, dout: Array) -> Array:
            self.rstd = self.shared["rstd"]
            return super().backward(dout)

    class SharedRstdForXhat(SharedRstd):
        def backward(self, dout: Array) -> Array:
            self.xhat = getattr(self, centred) * self.shared["rstd"]
            return super().backward(dout)

    explanation = (
        "Instances share rstd, for example as an attribute of the class, so backward may {} by "
        "another instance's. Keep it on self."
    )
    bank.variant("shared-state", explanation.format("divide"), **place)(SharedRstd)
    both = explanation.format("normalize and divide")
    bank.variant("shared-state", both, **place)(SharedRstdForXhat)


def first_forward_kept(bank: Bank, reference: Any, kept: Sequence[str], **place: str) -> None:
    """Register that backward belongs to the first forward of its instance."""

    class FirstForwardKept(reference):
        first: dict[str, Any] | None = None

        def forward(self, x: Array) -> Array:
            y = super().forward(x)
            if self.first is None:
                self.first = {name: getattr(self, name) for name in kept}
            return y

        def backward(self, dout: Array) -> Array:
            self.__dict__.update(self.first or {})
            return super().backward(dout)

    explanation = (
        "backward uses what the first forward kept. It belongs to the most recent forward."
    )
    bank.variant("first-forward-kept", explanation, **place)(FirstForwardKept)


def x_modified(bank: Bank, example: str, **place: str) -> None:
    """Register that x is changed, for example by the statement `example`."""
    explanation = (
        f"x is changed in place, for example by {example}. The caller still needs it: work on a "
        "copy."
    )
    bank.sign("x-modified", explanation, sign="x-modified", **place)


def dout_modified(bank: Bank, example: str, instead: str, **place: str) -> None:
    """Register that dout is changed by `example`; `instead` says what to do."""
    explanation = (
        f"dout is changed in place, for example by {example}. The caller still needs it, and a "
        f"broadcast dout is read-only: {instead}."
    )
    bank.sign("dout-modified", explanation, sign="dout-modified", **place)


def parameter_modified(bank: Bank, name: str, **place: str) -> None:
    """Register that the array which the parameter `name` was set to is changed."""
    explanation = (
        f"The array that {name} was set to is changed in place. It belongs to whoever set it: make "
        "a new array."
    )
    bank.sign(f"{name}-modified", explanation, sign=f"{name}-modified", **place)


def output_reused(bank: Bank, **place: str) -> None:
    """Register that a result changes after it was handed out."""
    explanation = (
        "An array that was returned, or set as a gradient, changes later: several calls return the "
        "same array, or a later forward or backward writes into it. Make a new array each time, "
        "and write to none that was handed out."
    )
    bank.sign("output-reused", explanation, sign="output-reused", **place)


def not_repeatable(bank: Bank, **place: str) -> None:
    """Register that the same input gives other results when it comes again."""
    explanation = (
        "The same input gives different results when it is given again: they depend on chance or "
        "on earlier calls. Draw no random numbers, and keep nothing from one forward to the next."
    )
    bank.sign("not-repeatable", explanation, sign="not-repeatable", **place)
