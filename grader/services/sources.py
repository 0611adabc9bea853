"""Validation of sources: UTF-8 text of limited size without NUL."""

from __future__ import annotations

from grader.limits import MAX_SOURCE_BYTES

from .errors import SourceRefused, SourceTooLarge


def check_source(source: str | bytes) -> str:
    """Return the source as text with a leading byte order mark removed.

    Raises:
        SourceTooLarge: more than `MAX_SOURCE_BYTES` bytes in UTF-8.
        SourceRefused: it is empty, not UTF-8, or contains a NUL byte.
    """
    data = source if isinstance(source, bytes) else _encode(source)
    if len(data) > MAX_SOURCE_BYTES:
        raise SourceTooLarge(
            f"The source has {len(data):,} bytes in UTF-8; the limit is {MAX_SOURCE_BYTES:,} "
            "(64 KB). Send the class alone, without data or output in it."
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceRefused(
            f"The source is not UTF-8 text: byte {error.start + 1} cannot be read. "
            "Save the file as UTF-8 and send it again."
        ) from error
    if (position := text.find("\0")) >= 0:
        line = text.count("\n", 0, position) + 1
        raise SourceRefused(
            f"The source contains a NUL byte in line {line}, which Python does not allow. "
            "Remove it and send the source again."
        )
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise SourceRefused("The source is empty. Paste your class, or choose a file.")
    return text


def _encode(source: str) -> bytes:
    try:
        return source.encode("utf-8")
    except UnicodeEncodeError as error:
        line = source.count("\n", 0, error.start) + 1
        raise SourceRefused(
            f"The source contains half of a surrogate pair in line {line}, which is no character. "
            "Remove it and send the source again."
        ) from error
