"""Reading and writing a course's folder: YAML, with the listings beside it as real files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from courses.rendering import too_long

from . import yaml_format
from .errors import FileError
from .schema import (
    CHAPTER_FILE,
    MAX_CHAPTER_BYTES,
    OUTPUT_SUFFIX,
    QUESTION_MODELS,
    ChapterContent,
    ChapterFile,
    CourseContent,
    to_data,
    to_file_data,
)

COURSE_FILE = "course.yaml"
# More than any chapter has that keeps to MAX_CHAPTER_BYTES: YAML indents each line.
MAX_FILE_BYTES = 4 * MAX_CHAPTER_BYTES

AnyModel = TypeVar("AnyModel", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one folder as bytes, by name; read once, so that hash and content agree."""

    path: Path
    files: Mapping[str, bytes]

    @property
    def hash(self) -> str:
        """SHA-256 over names and contents, as 64 hexadecimal digits."""
        digest = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            digest.update(f"{len(name)}:{name}{len(data)}:".encode())
            digest.update(data)
        return digest.hexdigest()


def read_folder(path: Path) -> Folder:
    """Read a folder's own files (not its subfolders'); hidden files and caches do not count."""
    if not path.is_dir():
        raise FileError([f"{path}: there is no such folder."])
    files: dict[str, bytes] = {}
    for entry in sorted(path.iterdir()):
        if entry.name.startswith(".") or not entry.is_file() or entry.suffix == ".pyc":
            continue
        if entry.stat().st_size > MAX_FILE_BYTES:
            raise FileError([f"{entry}: larger than {MAX_FILE_BYTES} bytes."])
        files[entry.name] = entry.read_bytes()
    return Folder(path, files)


def read_course(folder: Folder) -> CourseContent:
    """Return the content of `course.yaml`; `FileError` with every problem found in it."""
    course = _parse(folder, COURSE_FILE, CourseContent)
    if course.slug != folder.path.name:
        raise FileError([_other_name(folder, COURSE_FILE, course.slug)])
    repeated = {slug for slug in course.chapters if course.chapters.count(slug) > 1}
    if repeated:
        names = ", ".join(sorted(repeated))
        raise FileError([f"{folder.path / COURSE_FILE}: chapters: listed twice: {names}."])
    return course


def read_chapter(folder: Folder) -> ChapterContent:
    """Return a whole chapter; `FileError` with every problem found in its files."""
    chapter = _parse(folder, CHAPTER_FILE, ChapterFile)
    problems: list[str] = []
    if chapter.slug != folder.path.name:
        problems.append(_other_name(folder, CHAPTER_FILE, chapter.slug))
    data = {"id": chapter.id, **to_data(chapter)}
    used = {CHAPTER_FILE}
    for listing in data["listings"]:
        name = listing["filename"]
        listing["code"] = _listing_text(folder, name, problems, needed=True)
        listing["output"] = _listing_text(folder, name + OUTPUT_SUFFIX, problems, needed=False)
        used |= {name, name + OUTPUT_SUFFIX}
    problems += [
        f"{folder.path / name}: no listing in {CHAPTER_FILE} names this file. "
        "Add it to listings, or remove it."
        for name in sorted(set(folder.files) - used)
    ]
    if problems:
        raise FileError(problems)
    return _validate(ChapterContent, data, folder.path / CHAPTER_FILE)


def course_files(course: CourseContent) -> dict[str, bytes]:
    """Return the files of the course's folder itself, by name."""
    return {COURSE_FILE: yaml_format.dump(to_file_data(course)).encode()}


def chapter_files(chapter: ChapterContent) -> dict[str, bytes]:
    """Return the files of a chapter's folder, by name."""
    files = {CHAPTER_FILE: yaml_format.dump(to_file_data(chapter)).encode()}
    for listing in chapter.listings:
        files[listing.filename] = listing.code.encode()
        if listing.output:
            files[listing.filename + OUTPUT_SUFFIX] = listing.output.encode()
    return files


def _other_name(folder: Folder, name: str, slug: str) -> str:
    return (
        f"{folder.path / name}: slug: “{slug}” differs from the folder's name "
        f"“{folder.path.name}”. Give both the same name."
    )


def _listing_text(folder: Folder, name: str, problems: list[str], needed: bool) -> str:
    path = folder.path / name
    if name not in folder.files:
        if needed:
            problems.append(
                f"{path}: this listing's file is missing. Put it beside {CHAPTER_FILE}."
            )
        return ""
    if not folder.files[name]:
        problems.append(f"{path}: the file is empty. Fill it, or remove it.")
    return _text(folder.files[name], path, problems)


def _text(data: bytes, path: Path, problems: list[str]) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.append(f"{path}: byte {error.start + 1} is not UTF-8. Save the file as UTF-8.")
        return ""
    if "\r" in text or "\0" in text:
        problems.append(
            f"{path}: holds a carriage return or a NUL. Save it with plain line feeds (LF)."
        )
    return text


def _parse(folder: Folder, name: str, model: type[AnyModel]) -> AnyModel:
    path = folder.path / name
    if name not in folder.files:
        raise FileError([f"{path}: the file is missing."])
    problems: list[str] = []
    text = _text(folder.files[name], path, problems)
    if problems:
        raise FileError(problems)
    try:
        data = yaml_format.load(text)
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        where = f"line {place.line + 1}, column {place.column + 1}: " if place else ""
        raise FileError([f"{path}: {where}not valid YAML: {error.problem}."]) from error
    except yaml.YAMLError as error:
        raise FileError([f"{path}: not valid YAML: {error}."]) from error
    return _validate(model, data, path)


def _validate(model: type[AnyModel], data: Any, path: Path) -> AnyModel:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise FileError(
            [
                f"{path}: {_field(problem['loc'], data)}: {_sentence(problem)}"
                for problem in error.errors()
            ]
        ) from error


def _field(location: tuple[int | str, ...], data: Any) -> str:
    """Return `formulas[2] (rmsnorm) → tex` for ("formulas", 1, "tex")."""
    names: list[str] = []
    for part in location:
        if isinstance(part, int) and names and isinstance(data, list) and part < len(data):
            data = data[part]
            key = data.get("key") or data.get("filename") if isinstance(data, dict) else None
            names[-1] += f"[{part + 1}]" + (f" ({key})" if key else "")
        elif isinstance(data, dict) and part in data:
            data = data[part]
            names.append(str(part))
        elif part not in QUESTION_MODELS:
            names.append(str(part))
    return " → ".join(names) or "the whole file"


_SENTENCES = {
    "missing": "is missing. Add it.",
    "extra_forbidden": "is not a field of the course format. Check its spelling, or remove it.",
    "string_type": "must be text. Put quotes around it, or use a block (|).",
    "int_type": "must be a whole number, without quotes.",
    "bool_type": "must be true or false, without quotes.",
    "list_type": "must be a list: lines that begin with a hyphen.",
    "model_type": "must be a mapping of field names to values.",
    "string_too_short": "must not be empty.",
    "string_pattern_mismatch": (
        "may hold lower-case letters, digits and single hyphens only "
        "(a filename: letters, digits, dots, hyphens and underscores; "
        "an id: what check_course --write gives)."
    ),
    "union_tag_invalid": f"kind must be one of {', '.join(QUESTION_MODELS)}.",
    "union_tag_not_found": f"kind is missing: one of {', '.join(QUESTION_MODELS)}.",
}


def _sentence(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "string_too_long":
        return too_long(len(problem["input"]), problem["ctx"]["max_length"])
    return _SENTENCES.get(problem["type"], f"{problem['msg']}.")
