"""Logging for operators: a line for visitors' mistakes, a traceback for defects."""

from __future__ import annotations

import logging

SERVER_ERROR = 500
ABOUT_REQUESTS = ("django.request", "django.security")


class NoTracebackOfVisitors(logging.Filter):
    """Drop the traceback of responses below 500: a refused page or host is no defect."""

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", SERVER_ERROR)
        if record.name.startswith(ABOUT_REQUESTS) and status < SERVER_ERROR:
            record.exc_info = None
            record.exc_text = None
        return True
