"""The submissions kept beside each exercise, with what their header comments expect.

# outcome: wrong_answer            one or several, joined by "or"
# mistake: eps-outside-root        the known mistakes that must be named, and no other
# diagnosis: none                  instead: no mistake may be named ("any": not looked at)
# catalogue: 31 N2                 the cheats and numeric traps that it stands for
# limits: wall_seconds=1           replaced limits
# finding: missing-barrier         kinds of findings about kernels that the report must hold

Those of the NumPy track are in `submissions/correct` and `submissions/wrong`, those of the CuPy
track in `submissions/cupy/correct` and `submissions/cupy/wrong`. Those in `submissions/device` are
for a device: `outcome` is the one there, which only `bench/device.py` sees, and two more lines say

# functional: accepted            the outcome on a processor, where it may be another
# device: keeps the first answer  what the program does, for readers of the results
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from gpu_worker.exercises.registry import Exercise
from gpu_worker.messages.protocol import Outcome, Track

StoredKind = Literal["correct", "wrong"]
KINDS: Final[tuple[StoredKind, ...]] = ("correct", "wrong")
_HEADER: Final = re.compile(
    r"^# (outcome|mistake|diagnosis|catalogue|limits|finding|functional|device): (.+?)\r?$",
    re.MULTILINE,
)
_KERNEL: Final = re.compile(r"\b(RawKernel|RawModule|ElementwiseKernel|ReductionKernel)\b")


class HeaderError(ValueError):
    """A stored submission's header comment cannot be understood; the text names the file."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored submission, and what its header expects of its grading."""

    slug: str
    kind: StoredKind
    path: Path
    outcomes: tuple[Outcome, ...]
    mistakes: frozenset[str]
    diagnosis: str
    catalogue: tuple[str, ...]
    limits: dict[str, float]
    track: Track = Track.NUMPY
    findings: frozenset[str] = frozenset()
    functional: tuple[Outcome, ...] = ()
    device: str = ""

    @property
    def id(self) -> str:
        track = "" if self.track is Track.NUMPY else f"-{self.track}"
        if self.device:
            return f"{self.slug}-device-{self.path.stem}"
        return f"{self.slug}{track}-{self.kind}-{self.path.stem}"

    @property
    def has_kernels(self) -> bool:
        """True if it can be graded only where kernels can be built."""
        return bool(_KERNEL.search(self.source))

    @property
    def source(self) -> str:
        return self.path.read_bytes().decode("utf-8")

    def complaint(self, outcome: Outcome, named: Sequence[str], found: Sequence[str] = ()) -> str:
        """Return what is not as the header expects, as a sentence; empty if all is.

        `named` are the known mistakes, `found` the kinds of findings that the report holds.
        """
        if outcome not in self.outcomes:
            wanted = " or ".join(self.outcomes)
            return f"{self.id} must end as {wanted}, but ended as {outcome}."
        names = ", ".join(sorted(named)) or "no mistake"
        if self.mistakes and frozenset(named) != self.mistakes:
            return f"{self.id} must be named {', '.join(sorted(self.mistakes))}; it was: {names}."
        if self.diagnosis == "none" and named:
            return f"{self.id} has no known mistake, but was named: {names}."
        if missing := self.findings - set(found):
            return (
                f"{self.id} must have the finding {', '.join(sorted(missing))}; found was: "
                f"{', '.join(sorted(found)) or 'nothing'}."
            )
        return ""


def stored(exercise: Exercise, kind: StoredKind, track: Track = Track.NUMPY) -> list[Stored]:
    """Return an exercise's stored submissions of one kind, in the order of their names.

    Raises:
        HeaderError: a header is missing or wrong.
    """
    folder = exercise.folder / "submissions"
    if track is not Track.NUMPY:
        folder /= str(track)
    paths = sorted((folder / kind).glob("*.py"))
    return [_read(exercise.slug, kind, path, track) for path in paths]


def stored_for_device(exercise: Exercise) -> list[Stored]:
    """Return an exercise's stored submissions for a device, in the order of their names.

    Raises:
        HeaderError: a header is missing or wrong.
    """
    paths = sorted((exercise.folder / "submissions" / "device").glob("*.py"))
    return [_read(exercise.slug, "wrong", path, Track.CUPY) for path in paths]


def _read(slug: str, kind: StoredKind, path: Path, track: Track) -> Stored:
    header = dict(_HEADER.findall(path.read_bytes().decode("utf-8-sig")))
    try:
        limits = dict(item.split("=") for item in header.get("limits", "").split())
        return Stored(
            slug=slug,
            kind=kind,
            path=path,
            outcomes=tuple(Outcome(word) for word in header["outcome"].split(" or ")),
            mistakes=frozenset(header.get("mistake", "").split()),
            diagnosis=header.get("diagnosis", ""),
            catalogue=tuple(header.get("catalogue", "").split()),
            limits={name: float(value) for name, value in limits.items()},
            track=track,
            findings=frozenset(header.get("finding", "").split()),
            functional=tuple(
                Outcome(word) for word in header.get("functional", "").split(" or ") if word
            ),
            device=header.get("device", ""),
        )
    except (KeyError, ValueError) as error:
        raise HeaderError(
            f"{path.name} of {slug} needs a header comment such as '# outcome: wrong_answer' "
            f"({error})."
        ) from error
