"""Signatures of workers' messages: write access to the queue is not enough to be believed.

A worker is registered with the site, which gives it a name and a key of its own. It sends each
message as text in an envelope, with an HMAC-SHA256 (RFC 2104) over the task that it is for, the
worker's name, and that text, which names the job and its lease. The text is signed exactly as it
is sent, so nothing depends on how JSON is serialised.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Self

from pydantic import Field

from gpu_worker.messages.protocol import Identifier, Message, ProtocolError

VARIABLE: Final = "LEARNML_WORKER_KEY"
# 256 bits as hexadecimal digits, after the worker's name.
_KEY: Final = re.compile(r"([A-Za-z0-9_-]{1,64})\.([0-9a-f]{64})")
_CONTEXT: Final = b"learnml message of a worker, version 1"
# More than the largest report that the protocol allows.
MAX_BODY_CHARACTERS: Final = 8 << 20


class KeyMissing(LookupError):
    """The worker has no usable key; the text says how to get one."""


@dataclass(frozen=True, slots=True)
class WorkerKey:
    """What one worker signs with. It is written and read as `NAME.SECRET`."""

    name: str
    secret: bytes = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `manage.py worker add` printed.

        Raises:
            ValueError: it is something else.
        """
        match = _KEY.fullmatch(text.strip())
        if match is None:
            raise ValueError("A worker's key is its name, a dot, and 64 hexadecimal digits.")
        return cls(match[1], bytes.fromhex(match[2]))

    def __str__(self) -> str:
        return f"{self.name}.{self.secret.hex()}"

    def mac(self, task: str, body: str) -> str:
        """Return the code of a message for a task, as 64 hexadecimal digits."""
        parts = (_CONTEXT, task.encode(), self.name.encode(), body.encode())
        # Neither a task nor a name contains a newline, so the parts are unambiguous.
        return hmac.digest(self.secret, b"\n".join(parts), "sha256").hex()


class SignedMessage(Message):
    """The envelope: the message as JSON text, and who vouches for it."""

    worker: Identifier
    body: Annotated[str, Field(max_length=MAX_BODY_CHARACTERS)]
    mac: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

    def is_signed_with(self, key: WorkerKey, task: str) -> bool:
        """Tell, in a time that gives nothing away, whether the code is the key's for this task."""
        return self.worker == key.name and hmac.compare_digest(self.mac, key.mac(task, self.body))

    def message(self) -> Any:
        """Return what is in the envelope, in plain JSON values.

        Raises:
            ProtocolError: it is no JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"A signed message is no JSON: {error}") from error


def signed(message: Message, task: str, key: WorkerKey) -> SignedMessage:
    """Return the message in its envelope, for the task that is to receive it."""
    body = json.dumps(message.to_message(), separators=(",", ":"))
    return SignedMessage(worker=key.name, body=body, mac=key.mac(task, body))


def key_from_environment() -> WorkerKey:
    """Return this worker's key.

    Raises:
        KeyMissing: `LEARNML_WORKER_KEY` is not set, or holds no key.
    """
    try:
        return WorkerKey.parse(os.environ.get(VARIABLE, ""))
    except ValueError as error:
        found = f"{VARIABLE} holds no key" if os.environ.get(VARIABLE) else f"No {VARIABLE} is set"
        raise KeyMissing(
            f"{found}: the site would believe nothing that this worker says. Register it, on the "
            f"site's machine, by `python manage.py worker add NAME`, and start it with what that "
            f"prints. {error}"
        ) from error
