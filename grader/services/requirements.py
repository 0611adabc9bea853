"""An accepted submission meets the chapter's requirement of its exercise."""

from __future__ import annotations

from grader.models import Submission


def mark_exercise_met(submission: Submission) -> None:
    """Mark `exercise:<slug>` met for the learner in the exercise's chapter, if it has one."""
    from courses.learners import learner_of
    from courses.progress.requirements import mark_met

    exercise = submission.exercise
    if exercise.chapter is not None:
        mark_met(learner_of(submission.user), exercise.chapter, exercise.requirement)
