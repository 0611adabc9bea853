"""Keep what a learner types, so that no text is lost between tabs, machines and accidents."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from grader.models import Draft, Exercise

from .sources import check_source
from .submit import check_track

UNSEEN = 0
"""The version that a page names which has seen no draft yet."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a text: `draft` is what the server holds now, the text itself or another.

    With `conflict` nothing was written: the draft holds a text that the sender has not seen.
    """

    draft: Draft
    conflict: bool = False


def keep_draft(
    user: User, exercise: Exercise, track: str, source: str, seen: int, *, replace: bool = False
) -> Kept:
    """Keep a text as the learner's draft.

    `seen` is the version that the text was made from. Where another tab kept another text since,
    that one stays, and the sender is told; with `replace` the text is kept all the same, and the
    one that it replaces is set aside.

    Raises:
        Refused: the text is too large, is no text, or there is no such track.
    """
    text = check_source(source) if source.strip() else ""
    check_track(exercise, track)
    try:
        with transaction.atomic():
            return _keep(user, exercise, track, text, seen, replace=replace)
    except IntegrityError:
        # Two tabs made the first draft at once: this one now finds the other's.
        with transaction.atomic():
            return _keep(user, exercise, track, text, seen, replace=replace)


def _keep(
    user: User, exercise: Exercise, track: str, text: str, seen: int, *, replace: bool
) -> Kept:
    place = {"user": user, "exercise": exercise, "track": track}
    draft = Draft.objects.select_for_update().filter(**place).first()
    if draft is None:
        return Kept(Draft.objects.create(**place, source=text))
    if draft.source == text:
        return Kept(draft)
    if draft.version != seen:
        if not replace:
            return Kept(draft, conflict=True)
        draft.replaced_source = draft.source
    draft.source = text
    draft.version += 1
    draft.save()
    return Kept(draft)
