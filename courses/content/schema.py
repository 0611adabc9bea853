"""The course format: the fields of `course.yaml` and `chapter.yaml`, in file order.

Texts are Markdown with $TeX$ unless a comment says otherwise. `rules.py` has the rules across
fields, `yaml_format.py` the canonical way to write them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from courses.figures import in_order
from courses.models.validators import FILENAME_PATTERN, KEY_PATTERN, REQUIREMENT_PATTERN

# A UUID, as it is written everywhere.
ID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
CHAPTER_FILE = "chapter.yaml"
OUTPUT_SUFFIX = ".out"  # what a listing prints lies in a file of the listing's name and this
MAX_TEXT_CHARACTERS = 100_000
# Of a chapter: what can be rendered in a few seconds, and edited in one form.
MAX_CHAPTER_BYTES = 1024 * 1024  # all texts together, in UTF-8
MAX_PARTS = 1_000  # formulas, steps, listings, figures and questions together
MAX_ROWS_OF_A_PART = 100  # symbols of a formula, choices of a question

Key = Annotated[str, StringConstraints(pattern=KEY_PATTERN, max_length=80)]
ChoiceKey = Annotated[str, StringConstraints(pattern=KEY_PATTERN, max_length=40)]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Slug = Annotated[str, StringConstraints(pattern=KEY_PATTERN, max_length=100)]
Filename = Annotated[str, StringConstraints(pattern=FILENAME_PATTERN, max_length=100)]
Requirement = Annotated[str, StringConstraints(pattern=REQUIREMENT_PATTERN, max_length=100)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)]
RequiredText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT_CHARACTERS)]
Place = Annotated[str, StringConstraints(pattern=KEY_PATTERN, max_length=100)]
ParameterValue = (
    bool | int | float | str | None | list[bool | int | float | str | list[int | float | str]]
)
Number = Annotated[str, StringConstraints(min_length=1, max_length=100)]


# The texts of a chapter beside and between its parts, in the page's order.
PART_TEXTS = (
    *("prerequisites", "intuition", "formulas_intro", "derivation_intro", "mechanism_intro"),
    *("code_intro", "summary_text", "references"),
)


class Part(BaseModel):
    """Strict types, no unknown fields: a misspelt name is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CourseContent(Part):
    id: Id | None = None  # what an import knows the course by; not a part of its content
    slug: Slug
    title: Title  # plain text
    summary: Text = ""  # plain text
    chapters: list[Slug] = []


class SymbolContent(Part):
    tex: Annotated[str, StringConstraints(min_length=1, max_length=200)]  # bare TeX, inline
    name: Title  # plain text
    shape: Annotated[str, StringConstraints(max_length=100)] = ""  # plain text


class FormulaContent(Part):
    key: Key
    title: Title  # plain text
    tex: RequiredText  # bare TeX, display
    numpy: Text = ""  # plain text
    spoken: Text = ""  # plain text
    note: Text = ""
    symbols: list[SymbolContent] = []


class StepContent(Part):
    key: Key
    title: Title  # plain text
    tex: RequiredText  # bare TeX, display
    reason: Text = ""
    formula: Key | None = None  # key of a formula
    line: Key | None = None  # key of a named line of a listing


class MechanismContent(Part):
    key: Key
    title: Title  # plain text
    body: RequiredText


class LineContent(Part):
    key: Key
    line: Annotated[int, Field(ge=1)]


class ListingEntry(Part):
    """A listing as `chapter.yaml` names it; its code and output are in separate files."""

    filename: Filename
    language: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    title: Title  # plain text
    lines: list[LineContent] = []


class ListingContent(ListingEntry):
    code: RequiredText
    output: Text = ""


class FigureContent(Part):
    """A figure that its kind, one of `courses.figures`, computes and draws from `parameters`."""

    key: Key
    kind: Key
    title: Title  # plain text
    caption: Text = ""
    part: Place = "intuition"  # where it stands: a part, or a place such as formula-rmsnorm
    links: list[Place] = []  # places that light up with it
    parameters: dict[str, ParameterValue] = {}


class ChoiceContent(Part):
    key: ChoiceKey
    text: RequiredText
    correct: bool
    feedback: Text = ""


class ChoiceQuestionContent(Part):
    key: Key
    kind: Literal["single", "multiple"]
    prompt: RequiredText
    explanation: Text = ""
    choices: list[ChoiceContent]


class HintContent(Part):
    value: Number
    feedback: RequiredText


class NumericQuestionContent(Part):
    key: Key
    kind: Literal["numeric"]
    prompt: RequiredText
    explanation: Text = ""
    answer: Number
    tolerance: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    hints: list[HintContent] = []


class ItemContent(Part):
    key: ChoiceKey
    text: RequiredText
    feedback: Text = ""
    hint: Text = ""


class OrderingQuestionContent(Part):
    key: Key
    kind: Literal["ordering"]
    prompt: RequiredText
    explanation: Text = ""
    items: list[ItemContent]  # in the right order


class PairContent(Part):
    key: ChoiceKey
    left: Text = ""  # empty for a right side that belongs to nothing
    right: RequiredText
    feedback: Text = ""
    hint: Text = ""


class MatchingQuestionContent(Part):
    key: Key
    kind: Literal["matching"]
    prompt: RequiredText
    explanation: Text = ""
    pairs: list[PairContent]


class OutputHintContent(Part):
    value: Annotated[str, StringConstraints(min_length=1, max_length=500)]  # plain text
    feedback: RequiredText


class OutputQuestionContent(Part):
    key: Key
    kind: Literal["output"]
    prompt: RequiredText
    explanation: Text = ""
    language: Annotated[str, StringConstraints(min_length=1, max_length=40)]
    code: RequiredText  # plain text
    output: RequiredText  # plain text
    hints: list[OutputHintContent] = []


QuestionContent = Annotated[
    ChoiceQuestionContent
    | NumericQuestionContent
    | OrderingQuestionContent
    | MatchingQuestionContent
    | OutputQuestionContent,
    Field(discriminator="kind"),
]
QUESTION_MODELS: dict[str, type[Any]] = {
    "single": ChoiceQuestionContent,
    "multiple": ChoiceQuestionContent,
    "numeric": NumericQuestionContent,
    "ordering": OrderingQuestionContent,
    "matching": MatchingQuestionContent,
    "output": OutputQuestionContent,
}
# The lists that questions may have, each with the field that a row of it is known by.
QUESTION_ROWS = {"choices": "key", "hints": "value", "items": "key", "pairs": "key"}
AnyListing = TypeVar("AnyListing", bound=ListingEntry)


class ChapterFields(Part, Generic[AnyListing]):
    id: Id | None = None  # what an import knows the chapter by; not a part of its content
    slug: Slug
    title: Title  # plain text
    summary: Text = ""
    minutes: Annotated[int, Field(ge=1, le=32_767)]
    requirements: list[Requirement] = []
    prerequisites: Text = ""
    intuition: Text = ""
    formulas_intro: Text = ""
    formulas: list[FormulaContent] = []
    derivation_intro: Text = ""
    steps: list[StepContent] = []
    mechanism_intro: Text = ""
    mechanism: list[MechanismContent] = []
    code_intro: Text = ""
    listings: list[AnyListing] = []
    figures: list[FigureContent] = []
    questions: list[QuestionContent] = []
    summary_text: Text = ""
    references: Text = ""


class ChapterFile(ChapterFields[ListingEntry]):
    """`chapter.yaml` itself."""


class ChapterContent(ChapterFields[ListingContent]):
    """A whole chapter: `chapter.yaml` with the listings' code and output in their places."""


def to_data(content: Part) -> dict[str, Any]:
    """Return plain data in file order, without the id; what is optional and empty is left out."""
    data = content.model_dump(exclude={"id"})
    for question in data.get("questions", []):
        if question.get("hints") == []:
            del question["hints"]
    # Omitted while empty, so that chapters older than these fields keep their hash.
    for name in ("prerequisites", "figures"):
        if name in data and not data[name]:
            del data[name]
    for figure in data.get("figures", []):
        figure["parameters"] = in_order(figure["kind"], figure["parameters"])
    return data


def to_file_data(content: CourseContent | ChapterContent) -> dict[str, Any]:
    """Return what the file holds: the id first, and all but the listings' code and output."""
    data = to_data(content)
    for listing in data.get("listings", []):
        del listing["code"], listing["output"]
    return data if content.id is None else {"id": content.id, **data}


def content_hash(data: dict[str, Any]) -> str:
    """Return the SHA-256 of content as plain data, as 64 hexadecimal digits."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
