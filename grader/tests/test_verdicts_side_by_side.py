"""Pages and API show the verdicts of both kinds of node, and what is still open."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from grader.api.verdicts import ParitySerializer, SecondVerdictSerializer
from grader.models import Exercise, GradingAttempt, Submission, WorkerNode
from grader.waiting import Nodes, nodes_for, tracks_available

from .calls import ROOT, Api
from .messages import (
    attempt_of,
    cpu_node,
    from_a_gpu_node,
    full_report,
    gpu_node,
    grade_on_cpu,
    grade_on_gpu,
    progress,
    public_result,
    worker,
)

pytestmark = pytest.mark.django_db
Submit = Callable[..., Submission]
NO_GPU = "No GPU node is connected at the moment."


@pytest.fixture
def page(client: Client, learner: User) -> Callable[..., str]:
    client.force_login(learner)

    def show(submission: Submission) -> str:
        return client.get(submission.get_absolute_url()).content.decode()

    return show


def read(api: Api, submission: Submission) -> dict[str, Any]:
    response = api(submission.user).get(f"{ROOT}/submissions/{submission.public_id}/")
    body: dict[str, Any] = response.json()
    return body


class TestNodes:
    def test_a_gpu_node_grades_no_functional_verdict_and_no_cpu_node_a_devices(
        self, db: None, request: pytest.FixtureRequest
    ) -> None:
        worker.record_node(gpu_node("ready"))
        assert nodes_for("device", "cupy") is Nodes.CONNECTED
        assert nodes_for("functional", "cupy") is Nodes.NONE
        assert tracks_available() == set()
        WorkerNode.objects.all().delete()
        worker.record_node(cpu_node())
        assert nodes_for("device", "cupy") is Nodes.NONE
        assert tracks_available() == {"numpy", "cupy"}
        request.getfixturevalue("device_required")
        assert tracks_available() == {"numpy"}

    def test_a_node_whose_gpus_are_all_sick_is_said_to_be_there(
        self, kernels: Submit, page: Callable[..., str]
    ) -> None:
        worker.record_node(gpu_node("quarantined", tracks=[]))
        assert "no GPU of it can be used at the moment" in page(kernels())

    def test_a_silent_node_is_not_connected(self, kernels: Submit, page: Any) -> None:
        worker.record_node(gpu_node("ready"))
        submission = kernels()
        assert NO_GPU not in page(submission)
        WorkerNode.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
        assert NO_GPU in page(submission)


class TestPage:
    def test_without_a_gpu_node_the_functional_verdict_is_whole(
        self, kernels: Submit, page: Callable[..., str]
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        text = page(submission)
        assert NO_GPU in text
        assert "The verdict of a processor counts for the lesson." in text
        assert text.index('class="kind" aria-hidden="true">On a processor') < text.index(
            'class="kind" aria-hidden="true">On a GPU'
        )
        # Nothing is awaited, so the page does not ask for ever.
        assert 'data-final="true"' in text
        assert "http-equiv" not in text

    def test_with_a_gpu_node_it_goes_on_asking(self, kernels: Submit, page: Any) -> None:
        worker.record_node(gpu_node("ready"))
        submission = kernels()
        grade_on_cpu(submission)
        text = page(submission)
        assert 'data-final="false"' in text
        assert 'content="20"' in text
        assert "Position 1 in the queue." in text
        worker.record_progress(from_a_gpu_node(progress(submission, case=3, cases=9), submission))
        assert "Case 3 of 9" in page(submission)
        grade_on_gpu(submission)
        assert 'data-final="true"' in page(submission)

    def test_both_are_shown_with_their_own_reports_and_no_id_twice(
        self, kernels: Submit, page: Callable[..., str]
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        grade_on_gpu(submission, "wrong_answer")
        text = page(submission)
        assert 'id="verdict-title"><span class="sr-only">On a processor: </span>Accepted' in text
        assert 'id="second-verdict-title"><span class="sr-only">On a GPU: </span>Wrong' in text
        detail = text.index("What was found on a GPU, in detail")
        assert detail < text.index("eps is added outside the root.")
        assert 'id="second-groups-title"' in text
        ids = [part.split('"')[0] for part in text.split(' id="')[1:]]
        assert len(ids) == len(set(ids))

    @pytest.mark.usefixtures("device_required")
    def test_where_a_device_is_required_it_says_so(self, kernels: Submit, page: Any) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        text = page(submission)
        assert "The verdict of a GPU counts for the lesson: this site requires one." in text
        assert NO_GPU in text
        assert text.index('class="kind" aria-hidden="true">On a processor') < text.index(
            'class="kind" aria-hidden="true">On a GPU'
        )
        assert 'data-final="false"' in text

    def test_a_devices_report_has_its_times_under_their_roof_and_what_it_ran_on(
        self, kernels: Submit, page: Any
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        row = {"direction": "forward", "calls": 7, "megabytes": 537.0, "refused": ""}
        # Numbers of no device, for the drawing alone.
        row |= dict.fromkeys(("ms", "spread_ms", "reference_ms", "copy_ms"), 1.0)
        row |= {"copy_fraction": 0.5, "copy_fraction_spread": 0.1}
        row |= {"times_reference": 2.0, "times_reference_spread": 0.1}
        speed = {"shape": [16384, 4096], "dtype": "float32", "rows": [row]}
        speed["reference"] = "the fused reference kernels"
        report = full_report(True)
        report |= {"execution": "on a device: made up", "speed": speed}
        report["receipt"]["limits"] = {"device_megabytes": 4000.0}
        grade_on_gpu(submission, report=report)
        text = page(submission)
        assert 'id="second-speed-title"' in text
        assert 'id="speed-title"' not in text
        assert "2 times as long as the fused reference kernels" in text
        assert "On a device: made up" in text
        assert "4,000 MB of the device’s memory" in text

    def test_a_flagged_device_run_promises_no_decision(self, kernels: Submit, page: Any) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        grade_on_gpu(submission, "flagged", report={})
        text = page(submission)
        assert "A grader looks at it" not in text
        assert "The verdict that counts is another one, and stays as it is." in text

    def test_a_submission_that_a_gpu_node_could_not_grade_can_be_resubmitted(
        self, kernels: Submit, page: Callable[..., str]
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        assert "Ask for a GPU again" not in page(submission)
        grade_on_gpu(submission, "not_gradable", report={})
        text = page(submission)
        assert "Ask for a GPU again" in text
        assert "Send it again" not in text

    def test_being_replaced_by_a_newer_submission_is_no_failure(
        self, kernels: Submit, page: Callable[..., str], api: Api
    ) -> None:
        # Two are on the queue; the third waits for its turn until the fourth takes its place.
        replaced = [kernels(f"x = {number}") for number in range(4)][2]
        grade_on_cpu(replaced)
        text = page(replaced)
        assert "On a GPU: </span>Replaced by a newer submission" in text
        assert 'class="button quiet" type="submit">Ask for a GPU again' in text
        assert "The verdict that stands is not graded anew." in text
        for words in ("Could not be graded", "platform", "Send it again", "in detail", "is-warn"):
            assert words not in text
        second = read(api, replaced)["second_verdict"]
        assert (second["state"], second["outcome"], second["report"]) == ("replaced", None, None)
        assert second["message"].startswith("You sent a newer version while this one waited")

    def test_the_fragment_changes_with_the_second_verdict(
        self, kernels: Submit, client: Client, learner: User
    ) -> None:
        client.force_login(learner)
        submission = kernels()
        grade_on_cpu(submission)
        url = submission.get_absolute_url() + "?fragment=1"
        before = client.get(url)["ETag"]
        grade_on_gpu(submission)
        assert client.get(url, headers={"If-None-Match": before}).status_code == 200


class TestEstimate:
    def took(self, submission: Submission, kind: str, seconds: float) -> None:
        """Write down that the last grading of the kind took so long."""
        now = timezone.now()
        GradingAttempt.objects.filter(pk=attempt_of(submission, kind).pk).update(
            claimed_at=now - timedelta(seconds=seconds), finished_at=now
        )

    def test_it_is_the_median_of_the_latest_times_the_turns_to_wait(
        self, kernels: Submit, other: User, page: Callable[..., str], api: Api
    ) -> None:
        worker.record_node(gpu_node("ready", "busy", "quarantined"))
        for number, seconds in enumerate((100.0, 120.0, 9_000.0)):
            earlier = kernels(f"x = {number}")
            grade_on_cpu(earlier)
            grade_on_gpu(earlier)
            self.took(earlier, "device", seconds)
        for number in range(2):
            kernels(f"y = {number}", user=other)
        mine = kernels("z = 1")
        grade_on_cpu(mine)
        # Two GPUs grade at once: two jobs are ahead, so this one is in their second turn.
        assert "Position 3 in the queue. The verdict is expected in about 4 minutes." in page(mine)
        second = read(api, mine)["second_verdict"]
        assert (second["queue_position"], second["estimated_seconds"]) == (3, 240.0)

    def test_nothing_is_estimated_where_nothing_tells(self, kernels: Submit, api: Api) -> None:
        worker.record_node(gpu_node("ready"))
        assert read(api, kernels())["second_verdict"]["estimated_seconds"] is None

    def test_both_kinds_have_their_own(self, kernels: Submit, api: Api) -> None:
        worker.record_node(cpu_node())
        worker.record_node(cpu_node("another"))
        earlier = kernels("x = 0")
        grade_on_cpu(earlier)
        self.took(earlier, "functional", 3.0)
        body = read(api, kernels())
        assert (body["queue_position"], body["estimated_seconds"]) == (1, 3.0)
        assert body["second_verdict"]["estimated_seconds"] is None


class TestApi:
    def test_both_verdicts_are_side_by_side(self, kernels: Submit, api: Api) -> None:
        submission = kernels()
        waiting = read(api, submission)
        assert (waiting["kind"], waiting["outcome"]) == ("functional", None)
        assert waiting["second_verdict"]["kind"] == "device"
        assert NO_GPU in waiting["second_verdict"]["message"]
        assert waiting["second_verdict"]["report"] is None
        grade_on_cpu(submission)
        grade_on_gpu(submission, "wrong_answer")
        body = read(api, submission)
        second = body["second_verdict"]
        assert (body["outcome"], second["outcome"], second["score"]) == (
            "accepted",
            "wrong_answer",
            0.25,
        )
        assert set(second) == set(SecondVerdictSerializer().fields)
        assert "formula" in second["report"]["mistakes"][0]["links"]

    def test_a_persons_score_may_be_given_while_a_gpu_grades(
        self, kernels: Submit, api: Api, grader: User
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission, "wrong_answer")
        graders = api(grader, "read", "grade")
        url = f"{ROOT}/submissions/{submission.public_id}/"
        tag = graders.get(url)["ETag"]
        grade_on_gpu(submission)
        body = {"score": 0.5, "reason": "Half."}
        answer = graders.put(f"{url}override/", body, format="json", headers={"If-Match": tag})
        assert answer.status_code == 200
        other = {**body, "score": 0.75}
        late = graders.put(f"{url}override/", other, format="json", headers={"If-Match": tag})
        assert late.status_code == 412


class TestParity:
    def graded(self, submission: Submission, *values: float) -> Submission:
        public = [public_result(*values), public_result(1.0, quantity="dx")]
        grade_on_cpu(submission, report={**full_report(True), "public": public})
        return submission

    def test_two_tracks_are_compared_on_the_same_public_cases(
        self, kernels: Submit, submit: Submit, page: Callable[..., str], api: Api
    ) -> None:
        numpy = self.graded(submit(), 1.0, 2.0)
        assert "side by side" not in page(numpy)
        cupy = self.graded(kernels(), 1.0, 2.004)
        text = page(cupy)
        assert "CuPy and NumPy side by side" in text
        assert "none differs by more than a correct one may be off" in text
        assert "4 units, where 32 are allowed" in text
        assert '<code translate="no">y[1]</code>' in text
        assert numpy.get_absolute_url() in text
        assert "NumPy and CuPy side by side" in page(numpy)
        (parity,) = read(api, cupy)["parity"]
        assert set(parity) == set(ParitySerializer().fields)
        assert (parity["basis"], parity["left"], parity["right"]) == ("tracks", "CuPy", "NumPy")
        assert (parity["other"], parity["agrees"]) == (numpy.public_id, True)
        assert [row["agreement"] for row in parity["results"]] == ["within", "same"]
        assert parity["results"][0]["index"] == [1]

    def test_a_gpu_and_a_processor_are_compared(self, kernels: Submit, page: Any) -> None:
        submission = self.graded(kernels(), 1.0, 2.0)
        report = {**full_report(True), "public": [public_result(1.0, 2.5)]}
        grade_on_gpu(submission, report=report)
        text = page(submission)
        assert "Processor and GPU side by side" in text
        assert (
            "Of 2 results of the public cases, 1 can be compared. These do not all agree: "
            "1 of 1 differs by more than a correct one may be off. Missing, On a GPU: dx of"
        ) in text

    def test_a_side_without_results_is_not_compared(self, kernels: Submit, page: Any) -> None:
        submission = self.graded(kernels(), 1.0, 2.0)
        grade_on_gpu(submission, "runtime_error", report={"failure": {"message": "It stopped."}})
        assert "side by side" not in page(submission)

    def test_the_accepted_submission_is_compared_with_and_nobody_elses(
        self, kernels: Submit, submit: Submit, other: User, api: Api
    ) -> None:
        self.graded(submit("y = 1", user=other), 1.0, 2.0)
        cupy = self.graded(kernels(), 1.0, 2.0)
        assert read(api, cupy)["parity"] == []
        accepted = self.graded(submit("x = 1"), 1.0, 2.0)
        grade_on_cpu(submit("x = 2"), "wrong_answer")
        (parity,) = read(api, cupy)["parity"]
        assert parity["other"] == accepted.public_id


def test_the_exercises_page_says_which_verdicts_there_will_be(
    client: Client, exercise: Exercise
) -> None:
    url = f"{exercise.get_absolute_url()}?track=cupy"
    text = client.get(url).content.decode()
    assert "graded twice: at once on a processor, and on a GPU as soon as a GPU node" in text
    assert "20 s of time by the clock" in text
    assert "1,024 MB of memory" in text
    worker.record_node(gpu_node("quarantined", tracks=[]))
    text = client.get(url).content.decode()
    assert "a GPU node is connected, but no GPU of it can be used now" in text
    assert "which none is" not in text
    worker.record_node(gpu_node("busy"))
    assert "and on a GPU, later." in client.get(url).content.decode()
    assert "graded twice" not in client.get(exercise.get_absolute_url()).content.decode()
