"""The form of the exercise page. It accepts any text, so that a refused one can be shown again."""

from __future__ import annotations

import hashlib

from django import forms

from grader.limits import MAX_SOURCE_BYTES
from grader.services.errors import Refused, SourceTooLarge


class AnyTextField(forms.CharField):
    """Text exactly as posted: the service decides what a source may contain."""

    def __init__(self) -> None:
        super().__init__(required=False, strip=False)
        self.validators = []


class SubmitForm(forms.Form):
    source = AnyTextField()
    file = forms.FileField(required=False, allow_empty_file=True)
    track = AnyTextField()
    key = AnyTextField()

    def content(self) -> str | bytes:
        """Return the chosen file's bytes, otherwise the text with normalised line ends.

        Raises:
            SourceTooLarge: the file is above the limit; it is not read.
        """
        upload = self.cleaned_data.get("file")
        if upload is None:
            # Browsers send every line end as CR LF.
            return str(self.cleaned_data["source"]).replace("\r\n", "\n")
        if upload.size > MAX_SOURCE_BYTES:
            raise SourceTooLarge(
                f"The file {upload.name} has {upload.size:,} bytes; the limit is "
                f"{MAX_SOURCE_BYTES:,} (64 KB). Send the class alone, without data in it."
            )
        return bytes(upload.read())

    def idempotency_key(self, content: str | bytes) -> str | None:
        """Return a key that is equal for a double click, and different for an edited text.

        A browser's Back button restores the form with its old key, so the content is part of it.
        """
        key = self.cleaned_data["key"]
        if not key:
            return None
        data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        parts = (key.encode("utf-8", "replace"), self.cleaned_data["track"].encode(), data)
        return "form-" + hashlib.sha256(b"\0".join(parts)).hexdigest()

    def refuse(self, refusal: Refused) -> None:
        """Show the refusal at its field, with the learner's text kept."""
        field = refusal.field if refusal.field in ("source",) else None
        if field == "source" and self.cleaned_data.get("file") is not None:
            field = "file"
        self.add_error(field, refusal.message)
