"""The messages of an exercise's check before it is published, a few steps at a time.

A check grades the programs stored beside an exercise, which takes minutes. A worker runs the steps
that fit between two gradings, reports the results and where it stopped, and the site asks for the
next steps: learners wait for the steps of one message at most. See `protocol`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from gpu_worker.messages.protocol import PROTOCOL_VERSION, Identifier, Message, Short, Text

MAX_STEPS_AT_ONCE: Final = 16

Count = Annotated[int, Field(ge=0, le=100_000)]


class CheckJob(Message):
    """Steps of one exercise's check, from the place `first` on, as put on the queue `cpu`.

    `digest` is that of the exercise and the engine as the site has them.
    """

    version: Literal[1] = PROTOCOL_VERSION
    check: Identifier
    lease: Identifier
    exercise: Identifier
    digest: Short
    first: Count


class CheckUpdate(Message):
    """What the steps from `first` up to, without, `next` showed; `steps` is how many there are.

    Stored submissions come first, `stored` of them; the rest are mutants. `graded` counts those of
    the present steps that were graded at all. `left_out` says why a machine grades no kernels.
    `digest` is that of the exercise and the engine as the worker has them; where the job has
    another, no step is taken. `failure` says why the check cannot be done, and `came_back` that the
    job was handed out a second time and not begun, since it may be what ended the first worker.
    """

    version: Literal[1] = PROTOCOL_VERSION
    check: Identifier
    lease: Identifier
    node: Short
    digest: Short = ""
    first: Count
    next: Count = 0
    steps: Count = 0
    stored: Count = 0
    graded: Count = 0
    complaints: Annotated[list[Text], Field(max_length=MAX_STEPS_AT_ONCE)] = []
    survived: Text = ""
    left_out: Text = ""
    failure: Text = ""
    came_back: bool = False
