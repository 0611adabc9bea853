"""Pasted text in sources is marked wherever they are shown, and repairs are offered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe

from grader.models import CodeRun, Draft, Exercise, Submission
from grader.presentation.hidden_characters import with_hidden_marked

from .messages import verdict, worker

pytestmark = pytest.mark.django_db
Submit = Callable[..., Submission]
FETCH = {"X-Requested-With": "fetch"}
BIDI = "x = 1\n# access \u202e# reversed\n"
MARKED = (
    '<bdi class="hidden-character" data-code="U+202E" title="right-to-left override (U+202E)">'
    "\u202e</bdi>"
)
PROMPTS = ">>> x = 1\n>>> y = 2\n"
PROGRAM = "x = 1\ny = 2\n"
FINDING = {
    "kind": "prompt",
    "severity": "error",
    "line": 1,
    "column": 1,
    "count": 2,
    "message": "Line 1 begins with >>>.",
}


@pytest.fixture
def signed_in(client: Client, learner: User) -> Client:
    client.force_login(learner)
    return client


def test_hidden_characters_are_marked_and_the_text_stays_as_it_is() -> None:
    assert with_hidden_marked("<a> \u202e") == f"&lt;a&gt; {MARKED}"
    assert with_hidden_marked(mark_safe("<i>\u202e</i>")) == f"<i>{MARKED}</i>"
    for character in "\u061c\u200b\u200f\u2066\u2069\u00a0\u3000\ufeff\u3164\x07":
        assert f'data-code="U+{ord(character):04X}"' in with_hidden_marked(f"x{character}")
    # Letters of every script, and the joiners that belong to them and to pictures, are their own.
    for text in (
        "na\u00efve \u2013 \u201cq\u201d",
        "\u0645\u06cc\u200c\u062e",
        "\U0001f469\u200d\U0001f4bb",
    ):
        assert with_hidden_marked(text) == text


def test_a_submissions_source_and_a_comparison_show_them_marked(
    signed_in: Client, submit: Submit, grader: User
) -> None:
    first, second = submit(source="x = 1\n"), submit(source=BIDI)
    page = signed_in.get(second.get_absolute_url()).content.decode()
    assert MARKED in page
    url = reverse("grader:compare", args=[second.exercise.slug])
    compared = signed_in.get(url, {"old": first.public_id, "new": second.public_id})
    assert MARKED in compared.content.decode()
    form = signed_in.get(second.exercise.get_absolute_url(), {"from": second.public_id})
    assert "A right-to-left override (U+202E) in line 2, column 10" in form.content.decode()

    signed_in.force_login(grader)
    admin = signed_in.get(reverse("admin:grader_submission_change", args=[second.pk]))
    assert MARKED in admin.content.decode()


def test_a_runs_source_and_output_show_them_marked(signed_in: Client, learner: User) -> None:
    run = CodeRun.objects.create(
        user=learner,
        kind="code",
        source=BIDI,
        state="finished",
        outcome="completed",
        finished_at=timezone.now(),
        report={"output": "\u202e", "pasted": [{**FINDING, "severity": "warning"}]},
    )
    page = signed_in.get(run.get_absolute_url()).content.decode()
    assert page.count(MARKED) == 2
    # A warning keeps nothing from running: there is nothing to repair.
    assert "data-repair-take" not in page


def test_a_refused_paste_is_told_and_opens_repaired_in_the_editor(
    signed_in: Client, submit: Submit
) -> None:
    submission = submit(source=PROMPTS)
    report = {"failure": {"message": "no", "line": 1}, "pasted": [FINDING]}
    worker.record_verdict(verdict(submission, "runtime_error", report=report))
    page = signed_in.get(submission.get_absolute_url())
    assert "Line 1 begins with &gt;&gt;&gt;." in page.content.decode()
    url = page.context["view"].repair_url
    assert url.replace("&", "&amp;") in page.content.decode()
    editor = signed_in.get(url)
    assert editor.context["text"] == PROGRAM
    assert "Your submission is repaired below: the prompts are removed." in editor.content.decode()
    assert "data-mark-line" not in editor.content.decode()


def test_a_run_offers_the_repaired_text_to_the_editor(signed_in: Client, learner: User) -> None:
    run = CodeRun.objects.create(
        user=learner,
        kind="code",
        source=PROMPTS,
        state="finished",
        outcome="runtime_error",
        finished_at=timezone.now(),
        report={"failure": {"message": "no", "line": 1}, "pasted": [FINDING]},
    )
    fragment = signed_in.get(run.get_absolute_url(), {"fragment": "1"}).content.decode()
    assert f"<template data-repaired>{PROGRAM}</template>" in fragment


def save(client: Client, exercise: Exercise, text: str) -> Any:
    data = {"source": text, "track": "numpy", "seen": "0", "replace": "1"}
    return client.post(reverse("grader:draft", args=[exercise.slug]), data, headers=FETCH)


def test_a_pasted_draft_is_kept_as_it_is_and_its_repair_offered(
    signed_in: Client, exercise: Exercise
) -> None:
    offer = save(signed_in, exercise, PROMPTS).json()["repair"]
    assert offer["text"] == PROGRAM
    assert offer["message"].endswith("In the repaired text the prompts are removed.")
    assert Draft.objects.get().source == PROMPTS
    assert save(signed_in, exercise, PROGRAM).json()["repair"] == {}


def test_a_notebook_that_is_too_large_for_a_source_is_offered_without_its_outputs(
    signed_in: Client, exercise: Exercise
) -> None:
    output = "#" * 70_000
    notebook = f'{{"cells": [{{"cell_type": "code", "outputs": ["{output}"], "source": "x = 1"}}]}}'
    response = save(signed_in, exercise, notebook)
    assert (response.status_code, response.json()["repair"]["text"]) == (413, "x = 1\n")
