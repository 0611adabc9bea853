"""Builds of CUDA source for a runner, which asks with a frame; the worker answers with files.

The compiler never runs beside learners' code. The runner names source, options and kernels in a
BUILD frame; the worker builds elsewhere, and puts the result into a folder that the runner can
read but not write:

    <number>.so      the library, if there is one
    <number>.json    the answer, put there last and atomically, by renaming

    BUILD = options u32, then source, options and names: each length u32 and text
"""

from __future__ import annotations

import json
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .wire import WireError

MAX_SOURCE_BYTES: Final = 256 * 1024
MAX_WORDS: Final = 128
"""Options and names of one build together."""
MAX_BUILDS: Final = 64
"""In one run."""
_LENGTH: Final = struct.Struct("<I")
_PAUSE_SECONDS: Final = 0.001


@dataclass(frozen=True, slots=True)
class BuildRequest:
    source: str
    options: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildAnswer:
    """`library` is the file's path, empty where the build failed; then `error` says why.

    `missing` means that this worker cannot build at all.
    """

    library: str = ""
    error: str = ""
    missing: bool = False
    diagnostics: tuple[dict[str, Any], ...] = ()


def encode_build(request: BuildRequest) -> bytes:
    """Return the payload of a BUILD frame."""
    words = (request.source, *request.options, *request.names)
    data = [word.encode("utf-8", "backslashreplace") for word in words]
    head = _LENGTH.pack(len(request.options))
    return head + b"".join(_LENGTH.pack(len(word)) + word for word in data)


def decode_build(payload: bytes) -> BuildRequest:
    """Return what `encode_build` wrote.

    Raises:
        WireError: it is malformed, or more than a build may be.
    """
    if not _LENGTH.size < len(payload) <= 2 * MAX_SOURCE_BYTES:
        raise WireError("a build of a wrong length")
    (options,) = _LENGTH.unpack_from(payload)
    words: list[str] = []
    offset = _LENGTH.size
    while offset < len(payload):
        if offset + _LENGTH.size > len(payload) or len(words) > MAX_WORDS:
            raise WireError("a build with too many words, or a cut one")
        (size,) = _LENGTH.unpack_from(payload, offset)
        offset += _LENGTH.size
        if offset + size > len(payload):
            raise WireError("a build's word of a wrong length")
        words.append(payload[offset : offset + size].decode("utf-8", "replace"))
        offset += size
    if not words or options > len(words) - 1:
        raise WireError("a build with fewer options than it says")
    return BuildRequest(words[0], tuple(words[1 : 1 + options]), tuple(words[1 + options :]))


class Builder:
    """The runner's side: asks once for each different build, and waits for its answer."""

    def __init__(self, send: Callable[[int, bytes], None], folder: str) -> None:
        self._send = send
        self._folder = folder
        self._numbers: dict[BuildRequest, int] = {}

    def ask(self, source: str, options: tuple[str, ...], names: tuple[str, ...]) -> int:
        """Ask for a build and return its number at once.

        Raises:
            RuntimeError: it is too large, or there were too many.
        """
        request = BuildRequest(source, options, names)
        if request in self._numbers:
            return self._numbers[request]
        payload = encode_build(request)
        words = len(request.options) + len(request.names)
        if len(request.source.encode()) > MAX_SOURCE_BYTES or words >= MAX_WORDS:
            raise RuntimeError("The CUDA source, or its lists of options or names, is too long.")
        if len(self._numbers) >= MAX_BUILDS:
            raise RuntimeError(f"More than {MAX_BUILDS} different kernels are built in one run.")
        number = self._numbers[request] = len(self._numbers)
        self._send(number, payload)
        return number

    def wait(self, number: int) -> BuildAnswer:
        """Return a build's answer; the wall limit bounds how long that takes."""
        if not self._folder:
            return BuildAnswer(error="This worker has no folder for kernels.", missing=True)
        path = f"{self._folder}/{number}.json"
        while not os.path.exists(path):
            time.sleep(_PAUSE_SECONDS)
        with open(path, encoding="utf-8") as file:
            fields = json.load(file)
        library = f"{self._folder}/{number}.so" if fields.pop("built") else ""
        diagnostics = tuple(fields.pop("diagnostics"))
        return BuildAnswer(library, diagnostics=diagnostics, **fields)
