"""Log lines of the site and of workers: the time, the level, and what the line is about.

A request has an id. The work done for it and the messages it queues carry that id, and the
submission or run concerned, in message headers, so that the worker's log lines and those of its
answer have them too. Headers are not signed, so they are used for nothing but logging.

Settings come from the environment:

    LEARNML_LOG_FORMAT   plain (default): for people; json: one object per line, for programs
    LEARNML_LOG_LEVEL    lowest level that is written, default INFO
"""

from __future__ import annotations

import logging.config
import os
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Final

import structlog
from celery import signals
from structlog.contextvars import bind_contextvars, get_contextvars, unbind_contextvars

REQUEST_ID: Final = "request_id"
SUBMISSION: Final = "submission"
RUN: Final = "run"
CARRIED: Final = (REQUEST_ID, SUBMISSION, RUN)
HEADER: Final = "learnml_{}"
"""The name of the message header that carries one of them."""

JSON: Final = "json"
PLAIN: Final = "plain"
FORMATS: Final = (PLAIN, JSON)
# Celery logs that a task ran; our own lines say what came of it.
QUIET: Final = ("celery", "kombu", "amqp")
_SOUND: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
# Except tabs, and line ends, after which text is indented.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

Event = MutableMapping[str, Any]


def is_sound(text: object) -> bool:
    """Return whether a text may be an id in the log: short, and nothing that could be a line."""
    return isinstance(text, str) and _SOUND.fullmatch(text) is not None


@contextmanager
def about(**ids: str | None) -> Iterator[None]:
    """Let lines say what they are about: `request_id`, `submission`, `run`; none where empty."""
    wanted = {name: value for name, value in ids.items() if is_sound(value)}
    with structlog.contextvars.bound_contextvars(**wanted):
        yield


def note(**ids: str) -> None:
    """Let the rest of the request's lines say what they are about; nothing outside a request."""
    if current(REQUEST_ID):
        bind_contextvars(**ids)


def current(name: str) -> str:
    """Return what is known of the work at hand by this name, "" where nothing is."""
    return str(get_contextvars().get(name, ""))


def in_this_context(function: Callable[[], None]) -> Callable[[], None]:
    """Return a function for a thread whose lines are about what the present ones are about."""
    context = copy_context()
    return lambda: context.run(function)


# --- over queues ---------------------------------------------------------------------------------
def follow_messages() -> None:
    """Have messages carry on what they are about, and tasks know it. Call it once for an app."""
    signals.before_task_publish.connect(_carry, dispatch_uid="learnml.carry")
    signals.task_prerun.connect(_take_up, dispatch_uid="learnml.take_up")
    signals.task_postrun.connect(_lay_down, dispatch_uid="learnml.lay_down")


def _carry(headers: dict[str, Any] | None = None, **_: Any) -> None:
    if headers is not None:
        known = get_contextvars()
        headers.update({HEADER.format(name): known[name] for name in CARRIED if name in known})


def _take_up(task: Any = None, **_: Any) -> None:
    _lay_down()
    headers = _headers_of(task)
    found = {name: headers.get(HEADER.format(name)) for name in CARRIED}
    bind_contextvars(**{name: value for name, value in found.items() if is_sound(value)})


def _lay_down(**_: Any) -> None:
    unbind_contextvars(*CARRIED)


def _headers_of(task: Any) -> Mapping[str, Any]:
    headers = getattr(getattr(task, "request", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


# --- lines ---------------------------------------------------------------------------------------
def configure(loglevel: int | str | None = None, **_: Any) -> None:
    """Set logging up for a process of Celery; a receiver of its signal `setup_logging`.

    `loglevel` is that of its command line, for Celery's own lines.
    """
    logging.config.dictConfig(configuration(quiet_level=loglevel or logging.WARNING))


def configuration(
    filters: Mapping[str, Any] | None = None,
    *,
    level: str | None = None,
    quiet_level: int | str = logging.WARNING,
) -> dict[str, Any]:
    """Return what `logging.config.dictConfig` takes. `filters` are the handler's, by name."""
    environ = os.environ
    is_json = environ.get("LEARNML_LOG_FORMAT", "").lower() == JSON
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": dict(filters or {}),
        "formatters": {"learnml": {"()": json_formatter if is_json else plain_formatter}},
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": "learnml",
                "filters": list(filters or ()),
            }
        },
        "root": {
            "handlers": ["stderr"],
            "level": level or environ.get("LEARNML_LOG_LEVEL", "").upper() or "INFO",
        },
        "loggers": {name: {"level": quiet_level} for name in QUIET},
    }


def json_formatter() -> logging.Formatter:
    """Return a formatter that writes one JSON object a line."""
    return _formatter(
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    )


def plain_formatter() -> logging.Formatter:
    """Return a formatter that writes lines for people."""
    return _formatter(structlog.processors.format_exc_info, _as_text)


def _formatter(*processors: Any) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _in_order,
            *processors,
        ],
    )


def _in_order(_: Any, __: str, event: Event) -> Event:
    """Return the parts of a line by our names, the same ones first in each."""
    event["message"] = event.pop("event", "")
    first = ("time", "level", "logger", "message", *CARRIED)
    return {name: event[name] for name in (*first, *event) if name in event}


def _as_text(_: Any, __: str, event: Event) -> str:
    words = [f"{name}={event[name]}" for name in CARRIED if name in event]
    about_it = f" [{' '.join(words)}]" if words else ""
    head = f"{event['time']} {event['level'].upper()} {event['logger']}: "
    text = "\n".join(str(event[name]) for name in ("message", "exception") if name in event)
    first, *rest = _CONTROL.sub(_escaped, text).split("\n")
    # Continuation lines are indented, so that no text can pass for a log line of ours.
    return "\n".join([f"{head}{first}{about_it}", *(f"    {line}" for line in rest)])


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
