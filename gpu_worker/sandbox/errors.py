"""What can go wrong with the sandbox itself."""

from __future__ import annotations


class SandboxError(RuntimeError):
    """The sandbox itself failed; the submission is not to blame."""


class RefusedError(SandboxError):
    """Submissions cannot be isolated here; the text says what is missing and how to get it."""
