"""The interface of a kind of figure: parameters, controls, a model, and a drawing of its result.

The model is a pure function from parameters and the controls' values to a `View`: the geometry, the
numbers as text, and which goals are reached. It is implemented twice, here and in
`static/js/figures/kinds/`; a test compares the two over many states. Everything else is implemented
once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from .axes import Point
from .svg import Drawing

Value = float | str | bool
State = Mapping[str, Value]
STEP_DECIMALS = 9


class Parameters(BaseModel):
    """The author's parameters of a figure: strict types, no unknown names, finite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Range:
    """A slider. Its current value is shown as the view's text under its key.

    Browsers only allow whole steps from `low`: `start` is the one nearest to `value`.
    """

    key: str
    label: str  # HTML
    low: float
    high: float
    step: float
    value: float
    group: str = ""  # sliders of a named group stand under their name, folded away
    kind: ClassVar[str] = "range"

    @classmethod
    def of_powers(
        cls, key: str, label: str, low: float, high: float, step: float, value: float
    ) -> Range:
        """A slider of the decimal logarithm that can be at exactly `value`.

        `low`, `high` and `value` are the numbers themselves, `step` is one of the logarithm. The
        steps are counted from `value`, so the slider may end less than a step above `low`.
        """
        start, lowest = math.log10(value), math.log10(low)
        steps_below = math.floor((start - lowest) / step + 1e-9)
        lowest = round(start - steps_below * step, STEP_DECIMALS)
        return cls(key, label, lowest, math.log10(high), step, start)

    @property
    def start(self) -> float:
        steps = round((min(max(self.value, self.low), self.high) - self.low) / self.step)
        return round(self.low + steps * self.step, STEP_DECIMALS)


@dataclass(frozen=True, slots=True)
class Choice:
    """A drop-down list: pairs of a value and its label in plain text."""

    key: str
    label: str  # HTML
    options: Sequence[tuple[str, str]]
    value: str
    group: str = ""
    kind: ClassVar[str] = "choice"

    @property
    def start(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Switch:
    """A checkbox."""

    key: str
    label: str  # HTML
    value: bool = False
    group: str = ""
    kind: ClassVar[str] = "switch"

    @property
    def start(self) -> bool:
        return self.value


Control = Range | Choice | Switch


@dataclass(frozen=True, slots=True)
class Readout:
    """A number of the view in the table beside the picture; `mark` is its marker's class."""

    key: str
    label: str  # HTML
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """Something to find out by moving the controls; `found` says what it teaches."""

    key: str
    text: str  # HTML
    found: str  # HTML


@dataclass(slots=True)
class View:
    """The contents of a figure in one state. Lines and points are in the values of their planes."""

    lines: dict[str, list[Point]] = field(default_factory=dict)
    points: dict[str, Point] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    goals: dict[str, bool] = field(default_factory=dict)


AnyParameters = TypeVar("AnyParameters", bound=Parameters)


class FigureKind(ABC, Generic[AnyParameters]):
    """One kind of figure; its module in `courses.figures.kinds` registers it."""

    name: ClassVar[str]
    parameters: ClassVar[type[Parameters]]

    @abstractmethod
    def controls(self, given: AnyParameters) -> Sequence[Control]:
        """Return the controls; their initial values are the state that is drawn."""

    @abstractmethod
    def readouts(self, given: AnyParameters) -> Sequence[Readout]:
        """Return the numbers beside the picture."""

    @abstractmethod
    def goals(self, given: AnyParameters) -> Sequence[Goal]:
        """Return the goals: where the law shows, and where it breaks."""

    @abstractmethod
    def view(self, given: AnyParameters, state: State) -> View:
        """Return the contents of the figure in a state."""

    @abstractmethod
    def draw(self, given: AnyParameters, view: View, key: str) -> Drawing:
        """Return the picture of a view; `key` makes its ids unique."""

    @abstractmethod
    def describe(self, given: AnyParameters, view: View) -> str:
        """Return the picture in plain words, with its numbers."""

    def script_data(self, given: AnyParameters) -> dict[str, Any]:
        """Return the input of the script's model: the parameters, and data if there are any."""
        return given.model_dump()


def initial_state(controls: Sequence[Control]) -> dict[str, Value]:
    """Return the state of the figure on the page and in print."""
    return {control.key: control.start for control in controls}
