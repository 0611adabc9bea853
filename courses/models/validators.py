"""Validators shared by the models: keys become anchors, filenames become download names."""

from __future__ import annotations

from django.core.validators import RegexValidator

KEY_PATTERN = r"^[a-z0-9]+(?:-[a-z0-9]+)*$"
FILENAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$"
REQUIREMENT_PATTERN = r"^[a-z0-9]+(?:[:_-][a-z0-9]+)*$"

validate_key = RegexValidator(
    KEY_PATTERN,
    "Use lower-case letters and digits, with single hyphens between words, such as mean-square: "
    "the key becomes part of a link.",
)
validate_filename = RegexValidator(
    FILENAME_PATTERN,
    "Use letters, digits, dots, hyphens and underscores, such as math_neural_norm.py: "
    "the name becomes part of a link and of a file's path.",
)
