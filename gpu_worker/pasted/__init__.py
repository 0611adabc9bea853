"""Recognises what pasting left in a source: says what it is, where, and what to do.

Pure functions of the text, used on every track and by the site: nothing is run or compiled, and
all of it takes time proportional to the text.
"""

from __future__ import annotations

from gpu_worker.pasted.characters import is_hidden
from gpu_worker.pasted.recognising import NO_CLASS, NOT_PYTHON, recognise
from gpu_worker.pasted.repairing import Repair, repaired
from gpu_worker.unicode_names import named

__all__ = ["NOT_PYTHON", "NO_CLASS", "Repair", "is_hidden", "named", "recognise", "repaired"]
