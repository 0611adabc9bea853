"""No text is lost: what is typed is kept, and two tabs never overwrite each other unseen."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from grader.models import Draft, Exercise
from grader.services import keep_draft
from grader.services.drafts import UNSEEN
from grader.services.errors import Refused, TrackUnknown

pytestmark = pytest.mark.postgres

FETCH = {"X-Requested-With": "fetch"}


def keep(user: User, exercise: Exercise, text: str, seen: int = UNSEEN, **more: Any) -> Any:
    return keep_draft(user, exercise, "numpy", text, seen, **more)


def test_texts_follow_each_other_by_version(learner: User, exercise: Exercise) -> None:
    first = keep(learner, exercise, "one")
    second = keep(learner, exercise, "two", first.draft.version)
    assert not first.conflict
    assert not second.conflict
    assert (second.draft.source, second.draft.version) == ("two", 2)
    assert Draft.objects.count() == 1


def test_the_same_text_again_changes_nothing(learner: User, exercise: Exercise) -> None:
    keep(learner, exercise, "one")
    again = keep(learner, exercise, "one")
    assert (again.conflict, again.draft.version) == (False, 1)


def test_another_tabs_text_is_not_overwritten_but_handed_back(
    learner: User, exercise: Exercise
) -> None:
    keep(learner, exercise, "start")
    keep(learner, exercise, "from tab one", 1)
    late = keep(learner, exercise, "from tab two", 1)
    assert late.conflict
    assert late.draft.source == "from tab one"
    assert Draft.objects.get().source == "from tab one"


def test_replacing_knowingly_sets_the_other_text_aside(learner: User, exercise: Exercise) -> None:
    keep(learner, exercise, "theirs")
    kept = keep(learner, exercise, "mine", UNSEEN, replace=True)
    assert (kept.draft.source, kept.draft.replaced_source) == ("mine", "theirs")
    keep(learner, exercise, "mine too", kept.draft.version, replace=True)
    assert Draft.objects.get().replaced_source == "theirs"


def test_drafts_are_apart_by_learner_and_exercise(
    learner: User, other: User, exercise: Exercise
) -> None:
    keep(learner, exercise, "mine")
    keep(other, exercise, "hers")
    assert sorted(Draft.objects.values_list("source", flat=True)) == ["hers", "mine"]


@pytest.mark.parametrize("text", ["#" * 70_000, "x = '\0'"])
def test_an_invalid_source_is_no_draft(learner: User, exercise: Exercise, text: str) -> None:
    with pytest.raises(Refused):
        keep(learner, exercise, text)
    with pytest.raises(TrackUnknown):
        keep_draft(learner, exercise, "fortran", "x", UNSEEN)
    assert not Draft.objects.exists()


class TestPage:
    @pytest.fixture
    def signed_in(self, client: Client, learner: User) -> Client:
        client.force_login(learner)
        return client

    def post(self, client: Client, exercise: Exercise, text: str, seen: int, **more: str) -> Any:
        url = reverse("grader:draft", args=[exercise.slug])
        data = {"source": text, "track": "numpy", "seen": seen, **more}
        return client.post(url, data, headers=FETCH)

    def test_the_editor_saves_and_the_page_begins_with_it(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        response = self.post(signed_in, exercise, "\r\n\r\nx = 1\r\n", 0)
        assert response.json()["version"] == 1
        page = signed_in.get(exercise.get_absolute_url())
        assert page.context["text"] == "\n\nx = 1\n"
        # The first line end after the tag is the tag's own.
        assert ">\n\n\nx = 1\n</textarea>" in page.content.decode()

    def test_a_conflict_hands_back_the_other_text(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        self.post(signed_in, exercise, "one", 0)
        response = self.post(signed_in, exercise, "two", 0)
        assert response.status_code == 409
        assert response.json()["source"] == "one"
        assert self.post(signed_in, exercise, "two", 0, replace="1").status_code == 200
        page = signed_in.get(exercise.get_absolute_url())
        assert page.context["text"] == "two"
        assert "show that one" in page.content.decode()
        shown = signed_in.get(exercise.get_absolute_url() + "?replaced=1")
        assert shown.context["text"] == "one"

    def test_without_script_it_goes_back_to_the_page(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        url = reverse("grader:draft", args=[exercise.slug])
        response = signed_in.post(url, {"source": "x = 1", "track": "numpy", "seen": "junk"})
        assert response.status_code == 303
        assert "saved" in signed_in.get(response["Location"]).content.decode()

    def test_visitors_keep_theirs_in_the_browser(self, client: Client, exercise: Exercise) -> None:
        assert self.post(client, exercise, "x = 1", 0).status_code == 401
        assert not Draft.objects.exists()

    def test_an_unstorable_draft_is_refused_with_a_reason(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        response = self.post(signed_in, exercise, "#" * 70_000, 0)
        assert response.status_code == 413
        assert "65,536" in response.json()["message"]

    def test_a_submitted_text_becomes_the_draft(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        self.post(signed_in, exercise, "draft", 0)
        data = {"track": "numpy", "source": "sent", "key": "k", "seen": "1"}
        signed_in.post(reverse("grader:submit", args=[exercise.slug]), data)
        draft = Draft.objects.get()
        assert (draft.source, draft.replaced_source) == ("sent", "")
