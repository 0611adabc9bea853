"""Recognises what a source holds because it was pasted: says what stands where, and what to do.

Plain functions of the text, the same on every track and in the site: nothing is run or compiled,
and all takes time in proportion to the text.
"""

from __future__ import annotations

from gpu_worker.pasted.characters import is_hidden
from gpu_worker.pasted.recognising import NO_CLASS, NOT_PYTHON, recognise
from gpu_worker.pasted.repairing import Repair, repaired
from gpu_worker.unicode_names import named

__all__ = ["NOT_PYTHON", "NO_CLASS", "Repair", "is_hidden", "named", "recognise", "repaired"]
