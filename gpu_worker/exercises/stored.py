"""The submissions kept beside each exercise, with what their header comments expect.

# outcome: wrong_answer            one or several, joined by "or"
# mistake: eps-outside-root        the known mistakes that must be named, and no other
# diagnosis: none                  instead: no mistake may be named ("any": not looked at)
# catalogue: 31 N2                 the cheats and numeric traps that it stands for
# limits: wall_seconds=1           replaced limits
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from gpu_worker.exercises.registry import Exercise
from gpu_worker.protocol import Outcome

Kind = Literal["correct", "wrong"]
KINDS: Final[tuple[Kind, ...]] = ("correct", "wrong")
_HEADER: Final = re.compile(
    r"^# (outcome|mistake|diagnosis|catalogue|limits): (.+?)\r?$", re.MULTILINE
)


class HeaderError(ValueError):
    """A stored submission's header comment cannot be understood; the text names the file."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored submission, and what its header expects of its grading."""

    slug: str
    kind: Kind
    path: Path
    outcomes: tuple[Outcome, ...]
    mistakes: frozenset[str]
    diagnosis: str
    catalogue: tuple[str, ...]
    limits: dict[str, float]

    @property
    def id(self) -> str:
        return f"{self.slug}-{self.kind}-{self.path.stem}"

    @property
    def source(self) -> str:
        return self.path.read_bytes().decode("utf-8")

    def complaint(self, outcome: Outcome, named: Sequence[str]) -> str:
        """Return what is not as the header expects, as a sentence; empty if all is."""
        if outcome not in self.outcomes:
            wanted = " or ".join(self.outcomes)
            return f"{self.id} must end as {wanted}, but ended as {outcome}."
        names = ", ".join(sorted(named)) or "no mistake"
        if self.mistakes and frozenset(named) != self.mistakes:
            return f"{self.id} must be named {', '.join(sorted(self.mistakes))}; it was: {names}."
        if self.diagnosis == "none" and named:
            return f"{self.id} has no known mistake, but was named: {names}."
        return ""


def stored(exercise: Exercise, kind: Kind) -> list[Stored]:
    """Return an exercise's stored submissions of one kind, in the order of their names.

    Raises:
        HeaderError: a header is missing or wrong.
    """
    paths = sorted((exercise.folder / "submissions" / kind).glob("*.py"))
    return [_read(exercise.slug, kind, path) for path in paths]


def _read(slug: str, kind: Kind, path: Path) -> Stored:
    header = dict(_HEADER.findall(path.read_bytes().decode("utf-8-sig")))
    limits = dict(item.split("=") for item in header.get("limits", "").split())
    try:
        return Stored(
            slug=slug,
            kind=kind,
            path=path,
            outcomes=tuple(Outcome(word) for word in header["outcome"].split(" or ")),
            mistakes=frozenset(header.get("mistake", "").split()),
            diagnosis=header.get("diagnosis", ""),
            catalogue=tuple(header.get("catalogue", "").split()),
            limits={name: float(value) for name, value in limits.items()},
        )
    except (KeyError, ValueError) as error:
        raise HeaderError(
            f"{path.name} of {slug} needs a header comment such as '# outcome: wrong_answer' "
            f"({error})."
        ) from error
