"""Form fields for what authors type: verbatim text, named lines, requirements."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminTextareaWidget

from courses.content.schema import MAX_TEXT_CHARACTERS
from courses.models.validators import KEY_PATTERN, REQUIREMENT_PATTERN
from courses.rendering import too_long


class ExactTextField(forms.CharField):
    """Verbatim text: nothing is stripped, and line ends are LF instead of the CR LF that forms
    send.

    There is no `maxlength` for the browser, which would silently cut off a pasted text.
    """

    def __init__(self, **kwargs: Any) -> None:
        most = kwargs.pop("max_length", None) or MAX_TEXT_CHARACTERS
        super().__init__(**{"strip": False, **kwargs})
        self._most = most

    def run_validators(self, value: Any) -> None:
        super().run_validators(value)
        if len(value) > self._most:
            raise forms.ValidationError(too_long(len(value), self._most))

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n").replace("\r", "\n")


class NamedLinesField(forms.CharField):
    """Named lines of a listing, one a row: `mean-square 21`."""

    widget = AdminTextareaWidget

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, list):
            return "\n".join(f"{line['key']} {line['line']}" for line in value)
        return value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        lines = []
        for row, text in enumerate(str(value or "").splitlines(), start=1):
            if text.strip():
                lines.append(self._line(row, text.split()))
        return lines

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != self.to_python(initial))
        except forms.ValidationError:
            return True

    def _line(self, row: int, words: list[str]) -> dict[str, Any]:
        if len(words) != 2 or not re.fullmatch("[1-9][0-9]{0,5}", words[1]):
            raise forms.ValidationError(
                f"Row {row}: write a name, a space and a line number, such as: mean-square 21."
            )
        if not re.fullmatch(KEY_PATTERN, words[0]):
            raise forms.ValidationError(
                f"Row {row}: the name “{words[0]}” becomes part of a link. Use lower-case letters, "
                "digits and single hyphens."
            )
        return {"key": words[0], "line": int(words[1])}


class RequirementsField(forms.CharField):
    """Names of requirements, separated by spaces or commas: `quiz exercise:rmsnorm`."""

    def prepare_value(self, value: Any) -> Any:
        return " ".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        names = str(value or "").replace(",", " ").split()
        for name in names:
            if not re.fullmatch(REQUIREMENT_PATTERN, name):
                raise forms.ValidationError(
                    f"“{name}” is no name of a requirement. "
                    "Write names such as quiz or exercise:rmsnorm, separated by spaces."
                )
        return names

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != self.to_python(initial))
        except forms.ValidationError:
            return True
