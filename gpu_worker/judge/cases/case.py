"""A concrete case: its operations and arrays, the results to compare, and its description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.sandbox.inside.wire import ArrayValue, CaseScript, Operation

_PREPARING: Final = ("new", "set", "cast")
"""The kinds of operation that make instances ready for the first call."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case with its inputs.

    `bad_rows` (leading shape of x, bool) marks rows that hold NaN or inf: they are not compared,
    the others are. `repeats` is the number of times that the same calls are made, whose results
    must agree bit for bit.
    """

    group: str
    family: str
    dtype: np.dtype[Any]
    layout: str
    eps: float | None
    shape: tuple[int, ...]
    checks: frozenset[str]
    script: CaseScript
    public: bool = False
    bad_rows: NDArray[np.bool_] | None = None
    repeats: int = 1

    def compared(self) -> list[tuple[int, Operation]]:
        """Return the operations whose results are sent, with their positions."""
        return [(i, op) for i, op in enumerate(self.script.operations) if op.send]

    def first_round(self) -> tuple[Operation, ...]:
        """Return the operations to the end of the first of the `repeats`; all, where it is one."""
        operations = self.script.operations
        before = sum(1 for _ in takewhile(lambda op: op.kind in _PREPARING, operations))
        return operations[: before + (len(operations) - before) // self.repeats]


def describe(case: Case) -> str:
    """Return a case in words: family, shape, dtype, layout, eps if the class is given one."""
    eps = "" if case.eps is None else f", eps {case.eps:g}"
    layout = "" if case.layout == "contiguous" else f", {case.layout}"
    return f"{case.family}, shape {case.shape}, {case.dtype.name}{layout}{eps}"


def method_at(case: Case, called: int) -> str:
    """Return the method that was called last, by the position of that call; empty for none."""
    operations = case.script.operations
    kind = operations[called].kind if 0 <= called < len(operations) else ""
    return "__init__" if kind == "new" else kind


def place_of(case: Case, titles: Mapping[str, str]) -> str:
    """Return the case's place in words; `titles` are those of the groups by their ids."""
    kind = "public" if case.public else "hidden"
    title = titles.get(case.group, case.group)
    return f"a {kind} case of the group “{title}” ({describe(case)})"


def quantity_of(operation: Operation) -> str:
    """Return the name of an operation's result: "y", "dx", or the attribute's name."""
    return {"forward": "y", "backward": "dx"}.get(operation.kind, operation.name)


class ScriptBuilder:
    """Collects a case's operations and arrays.

    A parameter that is never set stays as the class made it, but for its dtype: before forward it
    is brought to that of x, which parameters have in every case.
    """

    def __init__(self, exercise: Exercise, checks: frozenset[str]) -> None:
        self._checks = checks
        self._parameters = exercise.parameters
        self._gradients = exercise.gradients
        self._operations: list[Operation] = []
        self._arrays: list[ArrayValue] = []
        self._as_made: dict[int, tuple[str, ...]] = {}
        """The parameters that each instance has from its class."""
        self._cast_to: dict[int, str] = {}
        """The dtype that those were brought to last."""

    def new(
        self,
        instance: int,
        dim: int,
        eps: float | None,
        parameters: dict[str, NDArray[Any]],
        *,
        by_name: bool = False,
    ) -> None:
        """Make an instance and set its parameters."""
        self._operations.append(Operation("new", instance, dim=dim, eps=eps, by_name=by_name))
        self._as_made[instance] = self._parameters
        self._cast_to.pop(instance, None)
        self.set(instance, parameters)

    def set(self, instance: int, parameters: dict[str, NDArray[Any]]) -> None:
        """Set the instance's parameters."""
        for name, values in parameters.items():
            index = self.add(ArrayValue(values, "contiguous", values.shape))
            self._operations.append(Operation("set", instance, name, index))
        kept = self._as_made[instance]
        self._as_made[instance] = tuple(name for name in kept if name not in parameters)

    def forward(self, instance: int, x: ArrayValue | int) -> int:
        """Call forward on an array, or on one that was given before; return its index."""
        index = x if isinstance(x, int) else self.add(x)
        self._cast(instance, index)
        send = "y" in self._checks
        self._operations.append(Operation("forward", instance, array=index, send=send))
        return index

    def backward(self, instance: int, dout: ArrayValue | int) -> int:
        """Call backward and read the gradients, as far as the case checks any of them."""
        if self._checks <= {"y"}:
            return -1
        index = dout if isinstance(dout, int) else self.add(dout)
        send = "dx" in self._checks
        self._operations.append(Operation("backward", instance, array=index, send=send))
        self._operations.extend(
            Operation("get", instance, name, send=True)
            for name in self._gradients
            if name in self._checks
        )
        return index

    def _cast(self, instance: int, x: int) -> None:
        """Bring what the class made to the dtype of an x, unless it has it already."""
        dtype = self._arrays[x].values.dtype.name
        if self._cast_to.get(instance) == dtype:
            return
        self._cast_to[instance] = dtype
        self._operations.extend(
            Operation("cast", instance, name, x) for name in self._as_made[instance]
        )

    def fill(self, index: int, values: NDArray[Any], name: str) -> None:
        """Put new values into the memory of an array that was given before; none has index -1."""
        if index < 0:
            return
        source = self.add(ArrayValue(values, "contiguous", values.shape))
        self._operations.append(Operation("fill", index, name, source))

    def build(self, *, resend: bool) -> CaseScript:
        return CaseScript(tuple(self._operations), tuple(self._arrays), resend)

    def add(self, value: ArrayValue) -> int:
        """Take an array along; return its index."""
        self._arrays.append(value)
        return len(self._arrays) - 1
