"""The parameters of ElementwiseKernel and ReductionKernel, parsed from their text."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from .dtypes import C_NAMES


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `type` is a single letter, to be found out, or the name of a dtype."""

    name: str
    type: str
    raw: bool

    @property
    def is_generic(self) -> bool:
        return len(self.type) == 1


@functools.cache
def parse(text: str) -> tuple[Parameter, ...]:
    """Return the parameters of a list such as "T x, raw T w, float32 eps".

    Raises:
        ValueError, TypeError: it cannot be understood.
    """
    found = []
    for item in text.split(",") if text.strip() else ():
        *keywords, kind, name = item.split() if len(item.split()) > 1 else ("", "", "")
        if not name:
            raise ValueError(f"Syntax error: {item.strip()!r} is not 'type name'.")
        if keywords not in ([], ["raw"]):
            raise ValueError(f'Unknown keyword "{keywords[0]}"')
        if len(kind) > 1 and np.dtype(kind) not in C_NAMES:
            raise TypeError(f"The CPU stand-in has no kernels of dtype {kind}.")
        found.append(Parameter(name, kind, bool(keywords)))
    return tuple(found)
