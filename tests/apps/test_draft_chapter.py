"""A chapter that was taken back, and the exercises that hang on it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client

from courses.models import Chapter
from grader.models import Exercise

pytestmark = pytest.mark.django_db


def test_the_exercise_of_a_draft_is_closed_to_learners_and_leads_its_authors_to_it(
    client: Client,
) -> None:
    call_command("load_course", verbosity=0)
    call_command("load_exercises", verbosity=0)
    author = User.objects.create_user("author")
    rights = ("change_chapter", "change_exercise")
    author.user_permissions.set(Permission.objects.filter(codename__in=rights))
    exercise = Exercise.objects.get(slug="rmsnorm")
    assert exercise.chapter is not None
    link = f'href="{exercise.chapter.get_absolute_url()}"'
    url = exercise.get_absolute_url()
    assert link in client.get(url).content.decode()
    Chapter.objects.update(published=False)
    assert client.get(url).status_code == 404
    client.force_login(author)
    assert link in client.get(url).content.decode()
