"""Recognises what pasting left in a source: what it is, where it is, and what to do about it.

Pure functions of the text, used on every track and by the site: nothing is run or compiled, and
everything takes time linear in the text.
"""

from __future__ import annotations

from gpu_worker.pasted.characters import is_hidden
from gpu_worker.pasted.recognising import NO_CLASS, NOT_PYTHON, recognise
from gpu_worker.pasted.repairing import Repair, repaired
from gpu_worker.unicode_names import named

__all__ = ["NOT_PYTHON", "NO_CLASS", "Repair", "is_hidden", "named", "recognise", "repaired"]
