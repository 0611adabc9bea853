"""The one way to publish an exercise: once its cases are shown to tell wrong from right.

The admin, the loader of files and `manage.py publish_exercise` come here. The check takes minutes
of grading, so it is a job: workers take it a few steps at a time, behind the gradings of learners,
and nothing of it happens in a request or within a transaction. The row of the check says how far it
is; every answer moves it on by a comparison with where it stood, so that an answer that comes
twice, or late, changes nothing. One check runs at a time.

What a check found out holds while the exercise and the engine have the same digest: publishing what
has passed asks nobody. The exercises that come with LearnML come with what their checks found.

Whoever changes an exercise and its checks takes the exercise's row first.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from gpu_worker.exercises.digests import check_digest, content_digest
from gpu_worker.messages.checks import CheckJob, CheckUpdate
from gpu_worker.messages.queues import PRIORITY_REGRADE, QUEUE_CPU, TASK_CHECK
from grader import limits
from grader.content import checked
from grader.models import AuditAction, CheckState, Exercise, ExerciseCheck
from grader.models.ids import new_lease
from grader.registry import find_spec

from .audit import record_act
from .broker import BrokerUnreachable
from .dispatch import transport

logger = logging.getLogger(__name__)

SHOWN_COMPLAINTS: Final = 5


class Answer(StrEnum):
    """What became of the wish to publish an exercise."""

    PUBLISHED = "published"
    CHECKING = "is being checked"
    REFUSED = "not published"


@dataclass(frozen=True, slots=True)
class Standing:
    """What can be said of an exercise without a worker.

    `problem` says why no check can even begin, "" where one can. `digest` is that of the exercise
    and the engine; `came_checked` says that it is as it was when it passed for this release.
    """

    problem: str
    digest: str = ""
    came_checked: bool = False


def standing_of(slug: str) -> Standing:
    """Read an exercise's files. Call it before a transaction, so that nobody waits for a disk."""
    spec = find_spec(slug)
    if spec is None:
        return Standing(
            f"The grading engine has no exercise {slug}, so nobody could be graded. Publish it "
            "when the engine has it, or correct the slug."
        )
    if not any(spec.folder.glob("submissions/**/*.py")):
        return Standing(_nothing_stored(slug))
    came_checked = checked().get(slug) == content_digest(spec.folder)
    return Standing("", check_digest(spec.folder), came_checked)


def publish_exercise(
    exercise: Exercise,
    standing: Standing,
    by: User | None = None,
    *,
    anew: bool = True,
    send: bool = True,
) -> Answer:
    """Publish an exercise that has passed its check as it stands; otherwise ask for the check.

    A check that found something is made once more if `anew`: how fast a machine was may have
    decided. Without `send` the scheduler sends the job, for processes that may have no queue.
    Call it inside a transaction that has saved or locked the exercise.
    """
    if exercise.is_published:
        return Answer.PUBLISHED
    if standing.problem:
        _refuse(exercise, by, standing.problem)
        return Answer.REFUSED
    if standing.came_checked or _has_passed(exercise.slug, standing.digest):
        withdraw(exercise)
        _note(exercise, by, CheckState.PASSED)
        _publish(exercise, by)
        return Answer.PUBLISHED
    newest = newest_check(exercise)
    if newest is not None and (newest.slug, newest.digest) == (exercise.slug, standing.digest):
        if newest.is_open:
            return Answer.CHECKING
        if newest.state == CheckState.FAILED and not anew:
            return Answer.REFUSED
    withdraw(exercise)
    try:
        with transaction.atomic():
            ExerciseCheck.objects.create(
                exercise=exercise, slug=exercise.slug, digest=standing.digest, asked_by=by
            )
    except IntegrityError:
        # Somebody else asked in between.
        return Answer.CHECKING
    if send:
        transaction.on_commit(advance_checks, robust=True)
    return Answer.CHECKING


def newest_check(exercise: Exercise) -> ExerciseCheck | None:
    return exercise.checks.order_by("-id").first()


def withdraw(exercise: Exercise) -> bool:
    """End the exercise's open check without an outcome. Return whether there was one."""
    withdrawn = ExerciseCheck.objects.filter(exercise=exercise, state__in=CheckState.open()).update(
        state=CheckState.WITHDRAWN, finished_at=timezone.now()
    )
    if withdrawn:
        transaction.on_commit(advance_checks, robust=True)
    return bool(withdrawn)


def open_check(exercise: Exercise) -> ExerciseCheck | None:
    return exercise.checks.filter(state__in=CheckState.open()).first()


def advance_checks(now: datetime | None = None) -> int:
    """Begin the oldest check that waits, where none runs, and ask again where nobody answers.

    Return how many messages the broker took: 0 or 1.
    """
    moment = now or timezone.now()
    running = ExerciseCheck.objects.filter(state=CheckState.RUNNING).first()
    if running is None:
        running = _begin_next()
    if running is None or not _may_send(running, moment):
        return 0
    return int(_send(running, moment))


def record_check(update: CheckUpdate) -> bool:
    """Write what a worker found. Return False where the check stands elsewhere by now."""
    asked = ExerciseCheck.objects.filter(public_id=update.check).first()
    if asked is None:
        return False
    standing = standing_of(asked.slug)
    with transaction.atomic():
        Exercise.objects.select_for_update().filter(pk=asked.exercise_id).first()
        check = (
            ExerciseCheck.objects.select_for_update(of=("self",))
            .select_related("exercise", "asked_by")
            .filter(
                public_id=update.check,
                lease=update.lease,
                state=CheckState.RUNNING,
                next_step=update.first,
            )
            .first()
        )
        if check is None:
            logger.info("An answer for check %s from %s changes nothing.", *_named(update))
            return False
        check.node = update.node
        if check.digest != standing.digest:
            _begin_anew(check, standing)
        elif update.came_back:
            _try_again(check, "The worker that graded them ended over it.")
        elif update.failure:
            _give_up(check, update.failure)
        elif update.digest != check.digest:
            _try_again(check, _worker_has_other_files(update.node))
        elif update.next <= update.first < update.steps:
            _give_up(check, "A worker answered without grading anything.")
        else:
            _take_in(check, update)
        check.save()
        transaction.on_commit(advance_checks, robust=True)
    return True


def _named(update: CheckUpdate) -> tuple[str, str]:
    return update.check, update.node


def _begin_next() -> ExerciseCheck | None:
    waiting = ExerciseCheck.objects.filter(state=CheckState.WAITING).order_by("id").first()
    if waiting is None:
        return None
    try:
        with transaction.atomic():
            begun = ExerciseCheck.objects.filter(pk=waiting.pk, state=CheckState.WAITING).update(
                state=CheckState.RUNNING
            )
    except IntegrityError:
        # Another process began one in between.
        return None
    if not begun:
        return None
    waiting.state = CheckState.RUNNING
    return waiting


def _may_send(check: ExerciseCheck, now: datetime) -> bool:
    """Return whether to ask for the next steps: not asked yet, or the message has vanished."""
    if check.sent_at is None:
        return True
    if check.sent_at > now - limits.resend_after():
        return False
    try:
        if transport().waiting(QUEUE_CPU):
            return False
    except BrokerUnreachable as error:
        logger.warning("The queue %s cannot be asked: %s", QUEUE_CPU, error)
        return False
    with transaction.atomic():
        late = ExerciseCheck.objects.select_for_update().filter(
            pk=check.pk, state=CheckState.RUNNING, sent_at=check.sent_at
        )
        stands = late.first()
        if stands is None:
            return False
        _try_again(stands, "No worker answered.")
        stands.save()
        if not stands.is_open:
            transaction.on_commit(advance_checks, robust=True)
            return False
    check.sent_at, check.tries = None, stands.tries
    return True


def _send(check: ExerciseCheck, now: datetime) -> bool:
    """Ask a worker for the next steps, unless somebody else just did."""
    mine = ExerciseCheck.objects.filter(
        pk=check.pk, lease=check.lease, state=CheckState.RUNNING, next_step=check.next_step
    )
    if not mine.filter(sent_at=None).update(sent_at=now):
        return False
    job = CheckJob(
        check=check.public_id,
        lease=check.lease,
        exercise=check.slug,
        digest=check.digest,
        first=check.next_step,
    )
    try:
        transport().send(TASK_CHECK, [job.to_message()], QUEUE_CPU, PRIORITY_REGRADE)
    except BrokerUnreachable as error:
        logger.warning("The queue is not reachable, check %s waits: %s", check.public_id, error)
        mine.filter(sent_at=now).update(sent_at=None)
        return False
    return True


def _take_in(check: ExerciseCheck, update: CheckUpdate) -> None:
    """Add what the steps showed; end the check where they were the last that matter."""
    check.next_step, check.steps = update.next, update.steps
    check.graded += update.graded
    check.complaints = [*check.complaints, *update.complaints]
    check.survived = check.survived or update.survived
    check.left_out = check.left_out or update.left_out
    check.sent_at, check.tries = None, 0
    # Where a stored submission is not graded as it should be, no mutant needs to be looked at.
    if check.next_step >= (update.stored if check.complaints else update.steps):
        if check.graded:
            _end(check, _reason(check))
        else:
            _give_up(check, _why_nothing_was_graded(check))


def _worker_has_other_files(node: str) -> str:
    return (
        f"The worker {node} has another release than the site, or was started before files of "
        "the exercise or the engine changed: start it anew."
    )


def _try_again(check: ExerciseCheck, why: str) -> None:
    check.tries += 1
    check.sent_at = None
    if check.tries >= limits.max_grading_attempts():
        _give_up(
            check,
            f"The stored submissions could not be graded from the {check.next_step + 1}. on, in "
            f"{check.tries} tries. {why} See that a worker for the queue {QUEUE_CPU} runs, and "
            "publish once more.",
        )


def _begin_anew(check: ExerciseCheck, standing: Standing) -> None:
    """Check an exercise from its first step that changed while it was checked."""
    if standing.problem:
        _give_up(check, standing.problem)
        return
    # What is still on its way about the former state is no answer any more.
    check.lease, check.digest = new_lease(), standing.digest
    check.next_step = check.steps = check.graded = check.tries = 0
    check.complaints, check.survived, check.left_out = [], "", ""
    check.sent_at = None


def _give_up(check: ExerciseCheck, reason: str) -> None:
    """End a check that found nothing out, so that the next wish to publish asks again."""
    check.digest = ""
    _end(check, reason)


def _end(check: ExerciseCheck, reason: str) -> None:
    """End the check, and publish the exercise where nothing speaks against it."""
    check.reason = reason
    check.finished_at = timezone.now()
    check.state = CheckState.FAILED if reason else CheckState.PASSED
    if reason:
        # Whoever asked through a file reads the log, not the admin.
        logger.warning("The exercise %s was not published. %s", check.slug, reason)
    else:
        _publish(check.exercise, check.asked_by)


def _publish(exercise: Exercise, by: User | None) -> None:
    exercise.is_published = True
    exercise._history_user = by  # type: ignore[attr-defined]
    exercise.save(update_fields=["is_published", "updated_at"])
    record_act(
        by,
        AuditAction.EXERCISE_PUBLISHED,
        f"exercise:{exercise.slug}",
        before={"is_published": False},
        after={"is_published": True},
    )


def _refuse(exercise: Exercise, by: User | None, reason: str) -> None:
    """Note why no check can even begin, unless that is what the newest one says."""
    withdraw(exercise)
    newest = newest_check(exercise)
    if newest is None or (newest.state, newest.reason) != (CheckState.FAILED, reason):
        _note(exercise, by, CheckState.FAILED, reason)


def _note(exercise: Exercise, by: User | None, state: CheckState, reason: str = "") -> None:
    """Note an outcome that no worker was asked for; whoever asked is told at once."""
    now = timezone.now()
    ExerciseCheck.objects.create(
        exercise=exercise,
        slug=exercise.slug,
        asked_by=by,
        state=state,
        reason=reason,
        finished_at=now,
        told_at=now,
    )


def _has_passed(slug: str, digest: str) -> bool:
    passed = ExerciseCheck.objects.filter(slug=slug, state=CheckState.PASSED)
    return passed.filter(digest=digest).exists()


def _reason(check: ExerciseCheck) -> str:
    """Return what speaks against publishing, "" where the cases tell wrong from right."""
    slug = check.slug
    if check.complaints:
        more = len(check.complaints) - SHOWN_COMPLAINTS
        rest = f" And {more} more." if more > 0 else ""
        found = (
            "One stored submission is not graded as it should be"
            if len(check.complaints) == 1
            else f"{len(check.complaints)} stored submissions are not graded as they should be"
        )
        return (
            f"{found}: {' '.join(check.complaints[:SHOWN_COMPLAINTS])}{rest} Correct the cases "
            f"or the submissions, and run manage.py check_exercises {slug}."
        )
    if check.survived:
        return (
            f"The cases miss a mistake: {check.survived} is accepted once and refused another "
            "time. Add a case that shows it every time, and run manage.py check_exercises "
            f"{slug}."
        )
    return ""


def _why_nothing_was_graded(check: ExerciseCheck) -> str:
    if check.left_out:
        return f"None of the stored submissions could be graded. {check.left_out}"
    return _nothing_stored(check.slug)


def _nothing_stored(slug: str) -> str:
    return f"{slug} has no stored submissions, so nothing shows that its cases work. Add some."
