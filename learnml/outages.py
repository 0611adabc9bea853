"""Which errors are of a moment: nothing can be written, or the database is away, until it can."""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

from django.db import InterfaceError, OperationalError

RETRY_AFTER_SECONDS: Final = 30
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
# SQLite calls a missing table operational as well: that does not pass by itself.
_PASSING: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
    }
)


def is_outage(error: BaseException | None) -> bool:
    """Return whether an error says that the same request may well be answered soon."""
    if isinstance(error, InterfaceError | OperationalError):
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error):
            # An extended code has the primary one in its lowest byte.
            return getattr(cause, "sqlite_errorcode", 0) & 0xFF in _PASSING
        return True
    return isinstance(error, OSError) and error.errno in _NO_ROOM
