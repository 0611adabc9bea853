"""What a launch did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from .counters import Counters
from .diagnostics import Diagnostic
from .limits import Dimensions

Order = Literal["forward", "reverse", "random"]
ORDERS: Final[tuple[Order, ...]] = ("forward", "reverse", "random")


@dataclass(slots=True)
class LaunchReport:
    """What a launch did. `output` is what the kernel printed, `build` the number that the launching
    side has for the source.
    """

    kernel: str
    grid: Dimensions
    block: Dimensions
    shared_mem: int
    counters: Counters = field(default_factory=Counters)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    output: str = ""
    build: int = 0
