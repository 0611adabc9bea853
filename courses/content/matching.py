"""Match a file with its course or chapter in the database: by its id, not by its slug."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from courses.models import Chapter, Course

TAKEN = (
    "The id in this file is that of “{title}”, but its slug “{slug}” belongs to “{other}”. Nothing "
    "was imported. Give the file another slug, or the other one another address first."
)
LEADS_ELSEWHERE = (
    "The address “{slug}” leads to “{other}”, which had it before. Nothing was imported. Choose "
    "another slug; or delete that old address in the admin first; or, if this is the same "
    "{kind}, write its id into the file: id: {uid}"
)
OTHER_ID = (
    "The slug “{slug}” belongs to “{other}”, which has another id than this file says. Nothing was "
    "imported. If this is the same {kind}, write its id into the file: id: {uid}. If it is "
    "another one, give it another slug."
)


class MismatchError(Exception):
    """The id and the slug of a file belong to different rows; the text says what to do."""


def find(model: type[Course] | type[Chapter], uid: str | None, slug: str) -> Any:
    """Return the row of a file with this id and slug; None if it is new.

    Without an id the slug decides, including slugs that a row had before. An unknown id with a
    known slug is an error.

    Raises:
        MismatchError: the id and the slug belong to different rows.
    """
    named = model.objects.filter(slug=slug).first()
    led_to = None if named else model.find(slug)
    if uid is None:
        return named or led_to
    known = model.objects.filter(uid=uid).first()
    about = {"slug": slug, "kind": model._meta.verbose_name}
    if known is not None:
        if named is not None and named != known:
            raise MismatchError(TAKEN.format(title=known, other=named, **about))
        if led_to is not None and led_to != known:
            raise MismatchError(LEADS_ELSEWHERE.format(other=led_to, uid=led_to.uid, **about))
        return known
    if named is not None:
        raise MismatchError(OTHER_ID.format(other=named, uid=named.uid, **about))
    if led_to is not None:
        raise MismatchError(LEADS_ELSEWHERE.format(other=led_to, uid=led_to.uid, **about))
    return None


def repeated_ids(ids: Mapping[str, str | None]) -> dict[str, str]:
    """Return, by name, the errors for ids that several files share."""
    problems = {}
    for name, uid in ids.items():
        same = sorted(other for other, value in ids.items() if value == uid and other != name)
        if uid is not None and same:
            problems[name] = (
                f"The id is also that of {', '.join(same)}. What began as a copy needs an id of "
                "its own: delete the line in the copy; check_course --write gives it a new one."
            )
    return problems
