"""The form sent with a failed request, to be given back on its error page.

A form that ends on an error page is lost unless that page shows it. Passwords and tokens are never
given back, nor are forms that a page of another site may have sent: their text was not typed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest

from courses.held_forms import is_secret
from learnml.middleware.same_origin import is_same_origin

SHOWN_FROM_CHARACTERS: Final = 20
ALWAYS_SHOWN: Final = ("source", "value")
"""Fields of learners' forms, shown however short they are."""
MAX_SHOWN: Final = 100

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sent:
    """The fields of a form: all of them by name, and the texts that somebody may want to copy.

    `again` is the address to send them to once more, empty where that would not be the same.
    """

    fields: list[tuple[str, str]]
    texts: list[tuple[str, str]]
    more_texts: int
    again: str


def what_was_sent(request: HttpRequest) -> Sent | None:
    """Return the request's form; None where there is none, or it must not be given back."""
    if request.method != "POST" or is_from_elsewhere(request):
        return None
    try:
        found = [(name, text) for name, texts in request.POST.lists() for text in texts]
    except Exception:
        # An error page must not fail itself: nothing is given back then.
        logger.exception("What was sent could not be read again.")
        return None
    fields = [(name, str(text)) for name, text in found if not is_secret(name)]
    texts = [field for field in fields if _is_typed(*field)]
    # Without its password a form is not the same; and unless the browser vouches for where it
    # stood, this page must not offer to send it on.
    is_whole = len(fields) == len([name for name, _ in found if name != "csrfmiddlewaretoken"])
    again = request.get_full_path() if is_whole and is_same_origin(request) else ""
    if not texts and not again:
        return None
    return Sent(fields, texts[:MAX_SHOWN], max(0, len(texts) - MAX_SHOWN), again)


def is_from_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser says that a page of another site sent the request."""
    says = "Sec-Fetch-Site" in request.headers or "Origin" in request.headers
    return says and not is_same_origin(request)


def _is_typed(name: str, text: str) -> bool:
    if name in ALWAYS_SHOWN:
        return bool(text.strip())
    words = text.split()
    return len(words) > 1 and (len(text) >= SHOWN_FROM_CHARACTERS or "\n" in text)
