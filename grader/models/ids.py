"""Random public ids and lease tokens: none can be guessed from another."""

from __future__ import annotations

import secrets

from django.core.validators import RegexValidator

# Lower case without the look-alikes 0/o and 1/l/i, for reading aloud.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
PUBLIC_ID_LENGTH = 16
"""16 characters of 31 are 79 bits: not guessable at any rate a server answers."""

validate_public_id = RegexValidator(
    rf"^[{ALPHABET}]{{{PUBLIC_ID_LENGTH}}}$", "An id is 16 lower-case letters and digits."
)


def new_public_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(PUBLIC_ID_LENGTH))


def new_lease() -> str:
    """Return a token of 128 random bits, in the alphabet of `protocol.Identifier`."""
    return secrets.token_hex(16)


def new_salt() -> str:
    """Return 256 random bits as hexadecimal digits."""
    return secrets.token_hex(32)
