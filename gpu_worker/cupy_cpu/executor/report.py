"""What a launch did, and why it was refused or did not finish."""

from __future__ import annotations

from collections.abc import Sequence
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


class LaunchError(RuntimeError):
    """A launch that a device would refuse, or that it could not go on with.

    `report` is what the launch did until then, None where it did not begin.
    """

    def __init__(
        self, diagnostics: Sequence[Diagnostic], report: LaunchReport | None = None
    ) -> None:
        super().__init__("\n".join(str(item) for item in diagnostics))
        self.diagnostics = tuple(diagnostics)
        self.report = report
