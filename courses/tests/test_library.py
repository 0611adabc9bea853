"""The library's chapters: symbols are explained, and programs print their stored output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from courses.content import files
from courses.content.schema import ChapterContent, OutputQuestionContent
from courses.management.commands.load_course import LIBRARY
from courses.quiz.output import printed_lines

CHAPTERS = sorted(path.parent for path in LIBRARY.glob("*/*/chapter.yaml"))
# Single letters that are no symbols of a formula's own: indices of sums, derivatives, and words.
NEEDS_NO_ROW = {"i", "j", "k", "n"}
NAMED = re.compile(
    r"\\(?:begin|end|text|mathbb|mathrm|operatorname)\{[^}]*\}|\\[a-zA-Z]+|\[[0-9]+pt\]"
)


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.name)
def chapter(request: pytest.FixtureRequest) -> ChapterContent:
    return files.read_chapter(files.read_folder(request.param))


def letters(tex: str) -> set[str]:
    return set(re.findall("[A-Za-z]", NAMED.sub(" ", tex)))


def test_every_letter_of_a_formula_is_in_its_table_of_symbols(chapter: ChapterContent) -> None:
    for formula in chapter.formulas:
        # C(K) is the set of continuous functions, in words in the note and in the spoken form.
        used = letters(formula.tex.replace("C(K)", "K")) - NEEDS_NO_ROW
        listed = set().union(*(letters(symbol.tex) for symbol in formula.symbols))
        assert used <= listed, f"{formula.key} does not explain {sorted(used - listed)}"


def test_a_proof_ends_with_its_qed(chapter: ChapterContent) -> None:
    endings = [step.tex for step in chapter.steps if "Q.E.D." in step.tex]
    assert endings
    for tex in endings:
        after = tex.split("Q.E.D.}", 1)[1]
        assert after.replace(r"\end{aligned}", "").strip() == ""


def run(code: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    command = [sys.executable, "-I", "-W", "error", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=180).stdout


def test_listings_print_their_stored_output(chapter: ChapterContent, tmp_path: Path) -> None:
    for listing in chapter.listings:
        if listing.language == "python":
            assert run(listing.code, tmp_path) == listing.output


def test_programs_in_questions_print_their_answers(chapter: ChapterContent, tmp_path: Path) -> None:
    questions = [one for one in chapter.questions if isinstance(one, OutputQuestionContent)]
    assert questions
    for question in questions:
        assert printed_lines(run(question.code, tmp_path)) == printed_lines(question.output)


def test_every_chapter_asks_in_many_ways(chapter: ChapterContent) -> None:
    kinds = {question.kind for question in chapter.questions}
    assert kinds >= {"single", "multiple", "numeric", "ordering", "matching", "output"}
    assert chapter.prerequisites
