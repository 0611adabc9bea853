"""What an exercise is made of: plain data, without NumPy, so that the site can read it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Dtype = Literal["bfloat16", "float16", "float32", "float64"]
Direction = Literal["forward", "backward"]
Nested = float | list["Nested"]

DEFAULT_LIMITS: Final[Mapping[str, float]] = {
    "wall_seconds": 10.0,
    "cpu_seconds": 10.0,
    "memory_megabytes": 512.0,
    "output_kilobytes": 64.0,
    "source_kilobytes": 64.0,
    "scratch_megabytes": 16.0,
    "threads": 1.0,
}
KERNEL_LIMITS: Final[Mapping[str, float]] = {
    "wall_seconds": 20.0,
    "memory_megabytes": 1024.0,
    "builds": 64.0,
    "build_seconds": 40.0,
}
"""What differs on the CuPy track: waiting for the compiler takes time, if not the program's, and
each thread of a block has a stack. `build_seconds` is processor time, of all builds together."""

CODE_LIMITS: Final[Mapping[str, float]] = {
    **DEFAULT_LIMITS,
    "wall_seconds": 5.0,
    "cpu_seconds": 5.0,
}
"""Limits of a program that is run for its output, without an exercise."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that are passed or failed together; the score is the weight of the groups passed."""

    id: str
    title: str
    weight: float


@dataclass(frozen=True, slots=True)
class PublicCase:
    """A fixed, documented case, whose output and tracebacks are shown to the learner.

    `eps` None means that the class is made without it, so with its default. `parameters` holds
    the values set on the instance, for example gamma; those that are missing keep what the class
    gave them. `dout` None is for exercises without backward.
    """

    id: str
    title: str
    dtype: Dtype
    x: Nested
    dout: Nested | None = None
    parameters: Mapping[str, Nested] = field(default_factory=dict)
    eps: float | None = None


@dataclass(frozen=True, slots=True)
class CasePlan:
    """How one hidden case is drawn; every word names an entry of `gpu_worker.judge.cases.casegen`.

    `shape` names a set of shapes, or is the shape (..., D) itself.
    `family` "drawn" or "drawn-long" and `layout` "drawn" stand for one that each grading draws.
    `eps` is a number or the name of a set of numbers. `checks` names the results compared: "y",
    "dx" and the gradients of the parameters; "all" means every one. dout is laid out as x is,
    unless `dout_layout` names another layout.
    """

    group: str
    family: str
    shape: str | tuple[int, ...]
    dtype: Dtype | Literal["any", "any-kernel", "wide"] = "any"
    layout: str = "contiguous"
    parameters: str = "random"
    dout: str = "random"
    dout_layout: str = ""
    eps: float | str = "any"
    sequence: str = "once"
    checks: tuple[str, ...] = ("all",)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one call may move and launch at most, on the CuPy track; a test of its own.

    Counted, not timed: one call of `direction` on a contiguous float32 x of `shape` (N, D) may read
    and write `moved` times the bytes of x together, in `launches` launches, any number for None.
    Small arrays that a kernel reads again, such as gamma, count once a launch. `at_once` is how
    many bytes each kernel must move with one load or store of a thread, on average, at least, of
    each array that is a row long or longer.
    `group` is the id of a group without cases; several budgets may share it. `explanation` tells a
    learner who went over what to look for.
    """

    group: str
    direction: Direction
    shape: tuple[int, int]
    moved: float
    explanation: str
    launches: int | None = None
    at_once: float | None = None


@dataclass(frozen=True, slots=True)
class Specification:
    """What a folder under `gpu_worker/exercises` says of itself in its `__init__.py`.

    `parameters` are the attributes that the grader sets, each with a gradient of its own name
    after a "d". `constructor` names what the class is made with: "dim", "eps", both or nothing.
    `longest_row` is the largest D that the statement promises, None where it names none: each
    grading tries rows of that length. `timed_shape` is that of the float32 x with which accepted
    submissions are timed, if they are: with a prime number of rows, equal pieces leave a rest.
    `counted_shape` is that with which the CuPy track counts what kernels move and do. `directions`
    without "backward" asks for forward alone: then there are no gradients. `budgets` bound what
    calls move, where kernels run on a processor: a device counts nothing. The submission is
    counted for them once every result is right.
    """

    title: str
    class_name: str
    parameters: tuple[str, ...] = ()
    constructor: tuple[str, ...] = ("dim", "eps")
    default_eps: float = 1e-6
    longest_row: int | None = None
    timed_shape: tuple[int, int] | None = None
    counted_shape: tuple[int, int] | None = None
    directions: tuple[Direction, ...] = ("forward", "backward")
    budgets: tuple[Budget, ...] = ()
    limits: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_LIMITS))

    @property
    def gradients(self) -> tuple[str, ...]:
        """The attributes that hold the parameters' gradients after backward."""
        named = self.parameters if "backward" in self.directions else ()
        return tuple(f"d{name}" for name in named)
