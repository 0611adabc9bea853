"""An exercise is published once its cases are shown to tell wrong from right.

That takes minutes of grading, so it is a job: workers take it a few steps at a time, behind the
gradings of learners, and nothing of it happens in a request or within a transaction. The row of
the check says how far it is; every answer moves it on by a comparison with where it stood, so that
an answer that comes twice, or late, changes nothing. One check runs at a time.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from gpu_worker.messages.checks import CheckJob, CheckUpdate
from gpu_worker.messages.queues import PRIORITY_REGRADE, QUEUE_CPU, TASK_CHECK
from grader import limits
from grader.models import AuditAction, CheckState, Exercise, ExerciseCheck
from grader.registry import find_spec

from .audit import record_act
from .broker import BrokerUnreachable
from .dispatch import transport

logger = logging.getLogger(__name__)

SHOWN_COMPLAINTS: Final = 5


def why_not_checked(slug: str) -> str:
    """Return why the check of an exercise cannot even begin, "" where it can."""
    spec = find_spec(slug)
    if spec is None:
        return (
            f"The grading engine has no exercise {slug}, so nobody could be graded. Publish it "
            "when the engine has it, or correct the slug."
        )
    if not any(spec.folder.glob("submissions/**/*.py")):
        return _nothing_stored(slug)
    return ""


def ask_to_publish(exercise: Exercise, by: User) -> ExerciseCheck:
    """Let an exercise be published once its check has passed; return the check.

    One that is open for the same exercise of the engine goes on. Call it inside the transaction
    that saves the exercise.
    """
    opened = open_check(exercise)
    if opened is not None and opened.slug == exercise.slug:
        return opened
    withdraw(exercise)
    check = ExerciseCheck.objects.create(exercise=exercise, slug=exercise.slug, asked_by=by)
    transaction.on_commit(advance_checks, robust=True)
    return check


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
    with transaction.atomic():
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
        if update.came_back:
            _try_again(check, "The worker that graded them ended over it.")
        elif update.failure:
            _end(check, update.failure)
        elif update.next <= update.first < update.steps:
            _end(check, "A worker answered without grading anything.")
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
        pk=check.pk, state=CheckState.RUNNING, next_step=check.next_step
    )
    if not mine.filter(sent_at=None).update(sent_at=now):
        return False
    job = CheckJob(
        check=check.public_id, lease=check.lease, exercise=check.slug, first=check.next_step
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
        _end(check, _reason(check))


def _try_again(check: ExerciseCheck, why: str) -> None:
    check.tries += 1
    check.sent_at = None
    if check.tries >= limits.max_grading_attempts():
        _end(
            check,
            f"The stored submissions could not be graded from the {check.next_step + 1}. on, in "
            f"{check.tries} tries. {why} See that a worker for the queue {QUEUE_CPU} runs, and "
            "publish once more.",
        )


def _end(check: ExerciseCheck, reason: str) -> None:
    """End the check, and publish the exercise where nothing speaks against it."""
    check.reason = reason
    check.finished_at = timezone.now()
    check.state = CheckState.FAILED if reason else CheckState.PASSED
    if reason:
        return
    exercise = check.exercise
    exercise.is_published = True
    exercise._history_user = check.asked_by  # type: ignore[attr-defined]
    exercise.save(update_fields=["is_published", "updated_at"])
    record_act(
        check.asked_by,
        AuditAction.EXERCISE_PUBLISHED,
        f"exercise:{exercise.slug}",
        before={"is_published": False},
        after={"is_published": True},
    )


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
    if not check.graded:
        if check.left_out:
            return f"None of the stored submissions could be graded. {check.left_out}"
        return _nothing_stored(slug)
    return ""


def _nothing_stored(slug: str) -> str:
    return f"{slug} has no stored submissions, so nothing shows that its cases work. Add some."
