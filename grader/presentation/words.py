"""The judge's names of families, layouts and sequences in learners' words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

# Keyed by the engine's names of families, layouts and sequences: a new one needs its words here.
FAMILIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "normal": "normally distributed numbers",
        "uniform": "numbers between 0 and 1",
        "far-mean": "numbers far from zero, around 1000",
        "mean-three": "numbers around 3",
        "outlier": "one number per row near 1000, the others ordinary",
        "constant-rows": "rows that repeat one number",
        "zero-rows": "rows of zeros among others",
        "mixed-scales": "rows of very different size in one batch",
        "alternating": "numbers with alternating signs",
        "signs": "rows of plus and minus one",
        "steady": "numbers near plus and minus one by turns",
        "bad-rows": "rows with NaN and infinity among good ones; only the good ones are compared",
        "small": "small numbers, around 0.001",
        "micro": "tiny numbers, around 1e-6",
        "tiny": "numbers around 1e-20",
        "large": "large numbers: around 300 in float16, around 1000 otherwise",
        "huge": "large numbers: around 30,000 in float16, around 1000 otherwise",
        "enormous": "enormous numbers: around 30,000 in float16, around 1e15 otherwise",
        "subnormal": "the smallest numbers that the dtype has",
        "timed call": "random numbers, in one of the calls that are timed",
        "counted call": "random numbers, in the call whose memory traffic is counted",
        "many rows": "random numbers, in more rows than a grid has blocks along one axis",
    }
)
LAYOUTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "contiguous": "in one block of memory",
        "transposed": "a transposed view",
        "strided": "a view of every second number",
        "reversed": "a view with negative strides",
        "fortran": "stored column by column",
        "two-forwards": "forward on one batch after another, then backward, which belongs to the "
        "last",
        "two-backwards": "backward called twice after one forward",
        "new-parameters": "one instance, whose parameters are set anew between two passes over the "
        "same x",
        "interleaved": "two instances, called by turns",
        "small-large-small": "a small, a large and again a small batch",
        "three-times": "the same calls three times over",
        "refilled": "the same arrays, filled with new numbers between the passes",
        "near-copies": "inputs that equal an earlier one but for a few numbers",
        "many-calls": "three inputs by turns, many times over",
        "strangers": "two instances that share neither D nor rank nor dtype, called by turns",
        "ranks-in-turn": "one instance, given x of other ranks one after the other",
        "dtypes-in-turn": "one instance, given x of other dtypes one after the other",
        "same-dout": "one dout for two x, and once more after the parameters are set anew",
        "equal-parameters": "two instances that differ in eps alone, on the same x and dout",
        "same-bytes-reshaped": "the same numbers as a matrix and as a batch of matrices",
        "lengths-in-turn": "an instance for each of several lengths of a row",
    }
)


def inputs_text(worst: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    """Describe the inputs of a case; `titles` are those of the public cases, by id."""
    family = str(worst["family"])
    if worst["group"] == "public" and family in titles:
        return titles[family]
    return FAMILIES.get(family, family.replace("-", " "))


def about(seconds: float) -> str:
    """Write a duration roughly."""
    for length, name in ((3_600, "hour"), (60, "minute")):
        if seconds >= length:
            count = round(seconds / length)
            return f"about {count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def layout_text(layout: str) -> str:
    """Describe the memory layout of x, or the order of calls."""
    return LAYOUTS.get(layout, layout.replace("-", " "))


_DESCRIPTION: Final = re.compile(
    r"\((?P<family>[a-z][a-z -]*), shape (?P<shape>\([^)]*\)), (?P<dtype>\w+)"
    r"(?:, (?P<layout>(?!eps )[a-z-]+))?(?:, eps (?P<eps>[^)]+))?\)"
)


def in_words(message: str, titles: Mapping[str, str]) -> str:
    """Return a message of the judge with its short description of a case written out."""

    def written_out(match: re.Match[str]) -> str:
        family, layout = match["family"], match["layout"]
        inputs = titles.get(family) or FAMILIES.get(family, family.replace("-", " "))
        parts = [inputs, f"x of shape {match['shape']}, {match['dtype']}"]
        parts += [layout_text(layout)] if layout else []
        # Stored messages may say "the default" where the class is given no eps.
        parts += [f"eps {match['eps']}"] if match["eps"] not in (None, "the default") else []
        return f"({'; '.join(parts)})"

    return _DESCRIPTION.sub(written_out, message, count=1)
