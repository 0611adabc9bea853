"""Descriptions of what a launch passes and what its kernel takes, in a closed form.

They come from the learner's process. Types are no secret, but any other text could carry a hidden
input, so code that shows them for hidden cases must ask `is_known_form` first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .arguments import Parameter

_DTYPE: Final = r"(?:bool|u?int(?:8|16|32|64)|b?float16|float(?:32|64)|complex(?:64|128))"
_C_TYPE: Final = (
    r"(?:half|float|double|__nv_bfloat16|bool|(?:unsigned )?(?:char|short|int|long long)"
    r"|a type of \d{1,4} bytes)"
)
_HOST_TYPES: Final = ("list", "tuple", "str", "dict", "range", "NoneType")
_FORM: Final = re.compile(
    rf"(?:an|a NumPy) array(?: of {_DTYPE})?|an address|a number"
    rf"|a structure(?: of \d{{1,4}} bytes)?|an? {_DTYPE}"
    rf"|Python's (?:int|float|bool|complex)(?:, passed as {_C_TYPE})?"
    rf"|Python's (?:{'|'.join(_HOST_TYPES)})|an object that is no array"
    rf"|(?:a pointer, |a number, )?{_C_TYPE}\*?"
)


def is_known_form(words: str) -> bool:
    """True for all that this module says of what is passed or taken, and for nothing else."""
    return bool(_FORM.fullmatch(words))


def about_argument(number: int, name: str, passed: str, taken: str) -> str:
    """Return the sentence without its end; `number` counts from 1, `name` is the parameter's."""
    which = f"argument {number}, {name}," if name else f"argument {number}"
    return f"For {which} the launch passes {passed}, but the kernel takes {taken}"


def about_count(given: int, taken: int, listed: str) -> str:
    """Return the sentence without its end; `listed` are the parameters as the source has them."""
    all_of_them = f": ({listed})" if listed else ""
    some = f"{given} argument{'s' * (given != 1)}"
    return f"The launch passes {some}, but the kernel takes {taken}{all_of_them}"


def array_of(dtype: Any) -> str:
    """Return words for an array on the device."""
    return f"an array of {np.dtype(dtype).name}"


def refused(value: object) -> str:
    """Return words for what no kernel can be given."""
    if isinstance(value, np.ndarray):
        return f"a NumPy array of {value.dtype.name}"
    kind = type(value).__name__
    return f"Python's {kind}" if kind in _HOST_TYPES else "an object that is no array"


def detail(number: int, name: str, passed: str, taken: str) -> dict[str, object]:
    """Return what a diagnostic keeps of a wrong argument beside its message."""
    return {"argument": number, "name": name, "passed": passed, "taken": taken}


def listed(parameters: Sequence[Parameter]) -> str:
    """Return a kernel's parameters as its source has them."""
    return ", ".join(parameter.text or parameter.type_name for parameter in parameters)
