"""The files under `grader/library`: one exercise each, in YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

LIBRARY = Path(__file__).resolve().parent / "library"
CHECKED = LIBRARY / "checked.json"
"""The exercises that come with LearnML and have passed their check: slug -> content digest."""

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+([_-][a-z0-9]+)*$", max_length=64)]


class ExerciseFileError(ValueError):
    """A file that is no exercise; the text says where and what to do."""


class ExerciseFile(BaseModel):
    """What a file says. Class, tracks, limits and weights come from the engine's registry."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slug: Slug
    title: Annotated[str, Field(min_length=1, max_length=200)]
    chapter: Annotated[str, Field(max_length=100)] = ""
    summary: Annotated[str, Field(min_length=1)]
    statement: Annotated[str, Field(min_length=1)]
    published: bool = True
    position: Annotated[int, Field(ge=0, le=30_000)] = 0
    due_at: AwareDatetime | None = None


def read(path: Path) -> ExerciseFile:
    """Read one file.

    Raises:
        ExerciseFileError: it is not UTF-8, not YAML, not named after its slug, or a key is
            missing, unknown or wrong.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        exercise = ExerciseFile.model_validate(data)
    except FileNotFoundError as error:
        raise ExerciseFileError(
            f"{path}: there is no such file. Name YAML files, or none to load all of {LIBRARY}."
        ) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ExerciseFileError(f"{path}: cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ExerciseFileError(f"{path}: {place}: {first['msg']}") from error
    if path.stem != exercise.slug:
        raise ExerciseFileError(
            f"{path}: the file must be named after its slug: {exercise.slug}.yaml"
        )
    return exercise


def files(paths: list[Path] | None = None) -> list[Path]:
    """Return the given files, or all of the library, sorted."""
    return sorted(paths) if paths else sorted(LIBRARY.glob("*.yaml"))


def checked() -> dict[str, str]:
    """Return for each exercise that comes checked the digest of what was checked."""
    known: dict[str, str] = json.loads(CHECKED.read_text(encoding="utf-8"))
    return known


def write_checked(known: Mapping[str, str]) -> None:
    """Write what `checked` returns."""
    CHECKED.write_text(f"{json.dumps(known, indent=2, sort_keys=True)}\n", encoding="utf-8")
