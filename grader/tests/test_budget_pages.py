"""Pages and responses for a CuPy exercise with a forward pass only and a budget."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client

from grader.models import Exercise

BUDGET = (
    'Budget: for x of shape 16 × 1024, <code translate="no">forward</code> moves at most '
    "2.25 times the bytes of x"
)


@pytest.fixture
def fused(exercise: Exercise) -> Exercise:
    Exercise.objects.filter(pk=exercise.pk).update(slug="rmsnorm_fused_forward")
    exercise.refresh_from_db()
    return exercise


@pytest.mark.django_db
class TestExercise:
    def test_the_page_says_the_budget_and_nothing_of_backward(
        self, client: Client, fused: Exercise, learner: User
    ) -> None:
        client.force_login(learner)
        page = client.get(fused.get_absolute_url()).content.decode()
        assert "Run does not count what is moved; Submit does" in page
        assert f"{BUDGET}, in 1 launch." in page
        assert "shape 8 × 4096" in page
        assert "At most 2.25 times the bytes of x moved, in one launch" in page
        assert "what your class made is converted.</li>" in page
        aside = page.partition("<aside")[2]
        assert "backward" not in aside
        assert "dout" not in aside
        assert 'name="track" value="cupy"' in page
        assert "20 s of time by the clock" in aside
        assert "64 sources of kernels built" in aside

    def test_the_page_says_how_wide_loads_must_be(self, client: Client, fused: Exercise) -> None:
        Exercise.objects.filter(pk=fused.pk).update(slug="rmsnorm_sixteen_bytes")
        page = client.get("/exercises/rmsnorm_sixteen_bytes/").content.decode()
        width = "with loads and stores of at least 12 bytes on average for each array."
        assert f"{BUDGET}, in 1 launch, {width}" in page

    def test_another_exercises_page_has_no_budget(
        self, client: Client, exercise: Exercise, learner: User
    ) -> None:
        client.force_login(learner)
        page = client.get(exercise.get_absolute_url()).content.decode()
        assert "Budget" not in page
        assert "what is moved" not in page
        assert '<code translate="no">backward(dout)</code> returns dx' in page
        assert "10 s of time by the clock" in page

    def test_the_answer_over_rest_has_no_dout(self, client: Client, fused: Exercise) -> None:
        answer = client.get(f"/api/v1/exercises/{fused.slug}/").json()
        assert answer["gradients"] == []
        assert [case["dout"] for case in answer["public_cases"]] == [None] * 3
        assert list(answer["starters"]) == ["cupy"]


def test_a_report_says_what_rests_on_the_counts() -> None:
    row = {"direction": "forward", "bytes_read": 69632, "bytes_written": 65536, "launches": 1}
    counted = {"shape": [16, 1024], "dtype": "float32", "rows": [{**row, "bytes_least": 135168}]}
    template = "grader/_report_counted.html"
    without = render_to_string(template, {"counted": counted, "has_budget": ()})
    assert "and do not count for the score." in without
    assert "69,632" in without
    with_budget = render_to_string(template, {"counted": counted, "has_budget": (1,)})
    assert "the exercise’s budget rests on them, and nothing else." in with_budget
