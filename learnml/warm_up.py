"""Warm-up: request the first pages of a visit before the web server accepts connections.

The first response of a process takes half a second: modules are imported, templates compiled, a
chapter's text loaded. Before the server forks, it happens once for all processes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.db import Error, connections
from django.urls import reverse

from courses.pages import queries
from grader.queries import published_exercises

WsgiApplication: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
logger = logging.getLogger(__name__)


def warm_up(application: WsgiApplication) -> None:
    """Request the pages. A database that does not answer yet does not prevent the start."""
    try:
        for path in _paths():
            _ask(application, path)
    except Error as error:
        logger.warning("The first pages are not prepared, they will take longer: %s", error)
    finally:
        # A connection cannot be shared with forked processes.
        connections.close_all()


def _paths() -> list[str]:
    """Return the addresses of the home page, and of one page of each kind that it links to.

    A search is among them, because the first one reads every chapter.
    """
    paths = [reverse("courses:home"), reverse("account_login")]
    paths.append(f"{reverse('courses:search')}?q=a")
    entries = queries.course_entries(None)
    paths += [reverse("courses:course", args=[entry.course.slug]) for entry in entries[:1]]
    featured = queries.featured_chapter(entries)
    if featured:
        paths.append(featured.get_absolute_url())
    exercise = published_exercises().first()
    if exercise:
        paths.append(reverse("grader:exercise", args=[exercise.slug]))
    return paths


def _host() -> str:
    """Return a host name that the site accepts."""
    names = (host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*")
    return next(names, "localhost")


def _ask(application: WsgiApplication, path: str) -> None:
    place, _, query = path.partition("?")
    environ: dict[str, Any] = {
        "PATH_INFO": place,
        "QUERY_STRING": query,
        "HTTP_HOST": _host(),
        "HTTP_ACCEPT_ENCODING": "gzip, br",
        "HTTP_X_FORWARDED_PROTO": "https",
        "HTTP_X_FORWARDED_FOR": "127.0.0.1",
        "REMOTE_ADDR": "127.0.0.1",
    }
    setup_testing_defaults(environ)
    answer = application(environ, lambda *_: None)
    for _ in answer:
        pass
    close = getattr(answer, "close", None)
    if close:
        close()
