"""Steps of a derivation link to the group that tests them, by the known mistakes."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.test import Client, RequestFactory

from courses.content import files
from courses.management.commands.load_course import LIBRARY
from grader.models import Exercise
from grader.registry import find_spec, groups_of_steps
from grader.web.panels import exercises_panel

CHAPTERS = {
    "rmsnorm": "deep-neural-representations",
    "layernorm": "deep-neural-representations",
    "softmax_cross_entropy": "softmax-and-cross-entropy",
}


@pytest.mark.parametrize("slug", CHAPTERS)
def test_every_step_that_a_known_mistake_names_is_one_of_the_chapter(slug: str) -> None:
    (folder,) = LIBRARY.glob(f"*/{CHAPTERS[slug]}")
    steps = {step.key for step in files.read_chapter(files.read_folder(folder)).steps}
    assert groups_of_steps(slug).keys() <= steps
    # All but a step or two, which no mistake was found for.
    assert len(groups_of_steps(slug)) >= len(steps) - 2


def test_a_step_leads_to_the_group_that_catches_most_of_its_mistakes() -> None:
    groups = {step: group.id for step, group in groups_of_steps("rmsnorm").items()}
    assert groups["definition"] == "forward"
    assert groups["dgamma"] == "gradient-gamma"
    assert groups["jacobian"] == groups["result"] == "gradient-x"


def test_an_exercise_that_the_engine_lacks_has_none() -> None:
    assert groups_of_steps("unheard-of") == {}


def test_the_links_of_a_chapter_lead_to_places_of_the_exercises_page(
    client: Client, exercise: Exercise
) -> None:
    request = RequestFactory().get("/")
    request.user = client.get(exercise.get_absolute_url()).wsgi_request.user
    panel = exercises_panel(request, exercise.chapter)
    assert panel is not None
    assert {check.step for check in panel.checks} == groups_of_steps(exercise.slug).keys()
    spec = find_spec(exercise.slug)
    assert spec is not None
    titles = {group.id: group.title for group in spec.groups}
    for check in panel.checks:
        url = urlsplit(check.url)
        page = client.get(url.path).content.decode()
        assert f'id="{url.fragment}"' in page
        assert titles[url.fragment.removeprefix("group-")] in check.text
