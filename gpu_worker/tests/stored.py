"""The submissions kept beside each exercise, with what their header comments expect.

# outcome: wrong_answer            one or several, joined by "or"
# mistake: eps-outside-root        the one known mistake that must be named
# diagnosis: none                  instead: no mistake may be named ("any": not looked at)
# limits: wall_seconds=1           replaced limits
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gpu_worker.exercises import get, slugs

HEADER = re.compile(r"^# (outcome|mistake|diagnosis|limits): (.+?)\r?$", re.MULTILINE)


@dataclass(frozen=True)
class Stored:
    slug: str
    path: Path
    outcomes: tuple[str, ...]
    mistake: str | None
    diagnosis: str | None
    limits: dict[str, float]

    @property
    def id(self) -> str:
        return f"{self.slug}-{self.path.parent.name}-{self.path.stem}"

    @property
    def source(self) -> str:
        return self.path.read_bytes().decode("utf-8")


def stored(kind: str) -> list[Stored]:
    """Return the submissions of all exercises in `correct` or `wrong`."""
    paths = [
        (slug, path)
        for slug in slugs()
        for path in sorted((get(slug).folder / "submissions" / kind).glob("*.py"))
    ]
    return [_read(slug, path) for slug, path in paths]


def _read(slug: str, path: Path) -> Stored:
    header = dict(HEADER.findall(path.read_bytes().decode("utf-8-sig")))
    limits = dict(item.split("=") for item in header.get("limits", "").split())
    return Stored(
        slug=slug,
        path=path,
        outcomes=tuple(header["outcome"].split(" or ")),
        mistake=header.get("mistake"),
        diagnosis=header.get("diagnosis"),
        limits={name: float(value) for name, value in limits.items()},
    )
