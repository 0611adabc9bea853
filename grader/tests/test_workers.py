"""Trust: only registered workers, and only for their own jobs and nodes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from gpu_worker.messages import queues
from gpu_worker.messages.signing import WorkerKey
from grader import tasks
from grader.models import RefusalReason, RefusedMessage, Submission, Worker, WorkerNode
from grader.services import record, register_worker, renew_worker, revoke_worker
from grader.services.errors import Refused

from .messages import SigningWorker, attempt_of, in_envelope, progress, verdict, worker

Submit = Callable[..., Submission]
VERDICT = queues.TASK_RECORD_VERDICT
NODE: dict[str, Any] = {
    **{"version": 1, "node": "node-1", "queue": "cpu", "isolation": "A", "python": "3.11.2"},
    **{"numpy": "2.4.6", "platform": "Linux", "devices": [], "tracks": ["numpy"]},
}

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def outcome_of(submission: Submission) -> str | None:
    submission.refresh_from_db()
    return submission.outcome


def refused() -> dict[tuple[str, str], int]:
    rows = RefusedMessage.objects.all()
    return {(row.worker_name, row.reason): row.count for row in rows}


class TestVerdicts:
    def test_of_a_registered_worker_is_taken(self, submit: Submit) -> None:
        submission = submit()
        SigningWorker(register_worker("gpu-1")).record_verdict(verdict(submission))
        assert outcome_of(submission) == "accepted"
        assert attempt_of(submission).worker == Worker.objects.get(name="gpu-1")
        assert refused() == {}

    def test_without_a_signature_changes_nothing_and_is_counted(self, submit: Submit) -> None:
        submission = submit()
        for forged in (verdict(submission), [], None, "text", {"worker": "local"}):
            tasks.record_verdict(forged)
        assert outcome_of(submission) is None
        tasks.record_verdict()
        tasks.record_verdict(1, 2, key="value")
        assert refused() == {("", RefusalReason.NOT_SIGNED): 7}
        row = RefusedMessage.objects.get()
        assert row.last_task == VERDICT

    def test_of_a_worker_that_nobody_registered(self, submit: Submit) -> None:
        submission = submit()
        for number in range(3):
            key = WorkerKey(f"stranger-{number}", bytes(32))
            SigningWorker(key).record_verdict(verdict(submission))
        assert outcome_of(submission) is None
        # Names that anyone may invent fill no table.
        assert refused() == {("", RefusalReason.UNKNOWN_WORKER): 3}

    def test_with_another_key_or_changed_on_the_way(self, submit: Submit) -> None:
        submission = submit()
        key = register_worker("cpu-1")
        SigningWorker(WorkerKey("cpu-1", bytes(32))).record_verdict(verdict(submission))
        wrong = in_envelope(verdict(submission, "wrong_answer"), VERDICT, key)
        better = json.dumps({**json.loads(wrong["body"]), "outcome": "accepted", "score": 1.0})
        tasks.record_verdict({**wrong, "body": better})
        assert outcome_of(submission) is None
        assert refused() == {("cpu-1", RefusalReason.WRONG_SIGNATURE): 2}

    def test_signed_for_another_task(self, submit: Submit) -> None:
        submission = submit()
        message = in_envelope(verdict(submission), queues.TASK_RECORD_PROGRESS)
        tasks.record_verdict(message)
        assert outcome_of(submission) is None
        assert refused() == {("local", RefusalReason.WRONG_SIGNATURE): 1}

    def test_of_a_revoked_worker(self, submit: Submit) -> None:
        submission = submit()
        key = register_worker("cpu-1")
        revoke_worker("cpu-1")
        SigningWorker(key).record_verdict(verdict(submission))
        assert outcome_of(submission) is None
        assert refused() == {("cpu-1", RefusalReason.REVOKED_WORKER): 1}
        SigningWorker(renew_worker("cpu-1")).record_verdict(verdict(submission))
        assert outcome_of(submission) == "accepted"

    def test_with_a_key_that_was_renewed(self, submit: Submit) -> None:
        submission = submit()
        old = register_worker("cpu-1")
        assert renew_worker("cpu-1") != old
        SigningWorker(old).record_verdict(verdict(submission))
        assert outcome_of(submission) is None

    def test_a_key_needs_the_sites_secret(self, submit: Submit, settings: Settings) -> None:
        submission = submit()
        key = register_worker("cpu-1")
        settings.SECRET_KEY = "another"
        SigningWorker(key).record_verdict(verdict(submission))
        assert outcome_of(submission) is None

    def test_of_the_local_worker_where_there_is_none(
        self, submit: Submit, settings: Settings
    ) -> None:
        submission = submit()
        key = WorkerKey.parse(settings.LOCAL_WORKER_KEY)
        settings.LOCAL_WORKER_KEY = ""
        SigningWorker(key).record_verdict(verdict(submission))
        assert outcome_of(submission) is None

    def test_about_a_job_of_another_worker(self, submit: Submit) -> None:
        submission = submit()
        worker.record_progress(progress(submission, "claimed"))
        other = SigningWorker(register_worker("cpu-2"))
        other.record_progress(progress(submission, "running"))
        other.record_verdict(verdict(submission))
        other.record_verdict({**verdict(submission), "score": "not a number"})
        assert outcome_of(submission) is None
        assert attempt_of(submission).state == "claimed"
        assert refused() == {("cpu-2", RefusalReason.NOT_ITS_JOB): 3}
        worker.record_verdict(verdict(submission))
        assert outcome_of(submission) == "accepted"

    def test_unusable_ones_end_the_attempt_only_if_signed(self, submit: Submit) -> None:
        submission = submit()
        broken = {**verdict(submission), "score": "not a number"}
        tasks.record_verdict(broken)
        assert attempt_of(submission).number == 1
        worker.record_verdict(broken)
        assert attempt_of(submission).number == 2


class TestNodes:
    def test_a_node_is_its_first_workers(self) -> None:
        first, second = (SigningWorker(register_worker(name)) for name in ("one", "two"))
        first.record_node(NODE)
        second.record_node({**NODE, "isolation": "none"})
        node = WorkerNode.objects.get()
        assert (node.isolation, str(node.worker)) == ("A", "one")
        assert refused() == {("two", RefusalReason.NOT_ITS_NODE): 1}
        first.record_node({**NODE, "isolation": "A-"})
        node.refresh_from_db()
        assert node.isolation == "A-"

    @pytest.mark.parametrize("gone", ["silent", "revoked"])
    def test_a_machine_that_is_registered_anew_keeps_its_node(self, gone: str) -> None:
        first, second = (SigningWorker(register_worker(name)) for name in ("one", "two"))
        first.record_node(NODE)
        if gone == "revoked":
            revoke_worker("one")
        else:
            WorkerNode.objects.update(last_seen_at=timezone.now() - timedelta(minutes=10))
        second.record_node(NODE)
        assert str(WorkerNode.objects.get().worker) == "two"
        assert not refused()

    def test_nodes_of_a_worker_are_bounded_and_old_ones_forgotten(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(record, "NODES_PER_WORKER", 3)
        first, second = (SigningWorker(register_worker(name)) for name in ("one", "two"))
        first.record_node({**NODE, "node": "old"})
        WorkerNode.objects.update(last_seen_at=timezone.now() - timedelta(days=31))
        second.record_node({**NODE, "node": "other"})
        for number in range(5):
            first.record_node({**NODE, "node": f"node-{number}"})
        names = set(WorkerNode.objects.values_list("name", flat=True))
        assert names == {"other", "node-2", "node-3", "node-4"}


class TestRegistering:
    def run(self, *arguments: str) -> tuple[str, str]:
        out, err = StringIO(), StringIO()
        call_command("worker", *arguments, stdout=out, stderr=err)
        return out.getvalue(), err.getvalue()

    def test_a_key_is_printed_once_and_is_that_of_the_worker(self, submit: Submit) -> None:
        out, err = self.run("add", "gpu-1")
        name, _, text = out.strip().partition("=")
        assert name == "LEARNML_WORKER_KEY"
        assert "not shown again" in err
        submission = submit()
        SigningWorker(WorkerKey.parse(text)).record_verdict(verdict(submission))
        assert outcome_of(submission) == "accepted"
        with pytest.raises(CommandError, match="worker renew gpu-1"):
            self.run("add", "gpu-1")
        renewed, _ = self.run("renew", "gpu-1")
        assert renewed != out

    def test_the_list_shows_workers_and_what_was_refused(self, submit: Submit) -> None:
        self.run("add", "gpu-1")
        self.run("revoke", "gpu-1")
        tasks.record_verdict(verdict(submit()))
        out, _ = self.run("list")
        assert "gpu-1: since" in out
        assert "revoked" in out
        assert "Refused 1 in the name of nobody that is registered" in out

    @pytest.mark.parametrize("name", ["", "a b", "x" * 65, "ünique", "a.b", "local"])
    def test_what_cannot_be_a_name_is_refused(self, name: str) -> None:
        with pytest.raises(Refused):
            register_worker(name)

    @pytest.mark.parametrize("change", [register_worker, renew_worker])
    def test_the_worker_of_this_machine_has_its_key_elsewhere(
        self, change: Callable[[str], object]
    ) -> None:
        with pytest.raises(Refused, match="in the data folder"):
            change("local")

    @pytest.mark.parametrize("change", [renew_worker, revoke_worker])
    def test_who_is_not_there_is_said(self, change: Callable[[str], object]) -> None:
        with pytest.raises(Refused, match="worker list"):
            change("nobody")


class TestAdmin:
    def test_shows_workers_and_refusals_and_no_key(
        self, client: Client, submit: Submit, admin_user: User
    ) -> None:
        key = register_worker("gpu-1")
        tasks.record_verdict(verdict(submit()))
        client.force_login(admin_user)
        listed = client.get(reverse("admin:grader_refusedmessage_changelist")).content.decode()
        assert "carries no signature" in listed
        row = Worker.objects.get(name="gpu-1")
        for page in (
            reverse("admin:grader_worker_changelist"),
            reverse("admin:grader_worker_change", args=[row.pk]),
        ):
            text = client.get(page).content.decode()
            assert "gpu-1" in text
            assert row.salt not in text
            assert key.secret.hex() not in text

    def test_an_operator_revokes_and_others_do_not(
        self, client: Client, admin_user: User, grader: User
    ) -> None:
        row = Worker.objects.get(name=register_worker("gpu-1").name)
        act = {"action": "revoke", "_selected_action": [row.pk]}
        for user, is_revoked in ((grader, False), (admin_user, True)):
            client.force_login(user)
            client.post(reverse("admin:grader_worker_changelist"), act)
            row.refresh_from_db()
            assert (row.revoked_at is not None) == is_revoked
