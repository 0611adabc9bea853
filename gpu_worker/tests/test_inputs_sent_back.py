"""Inputs are only sent back if they were changed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.judge.cases.casegen import public_cases
from gpu_worker.judge.verdict.transcript import read_transcript
from gpu_worker.sandbox.inside import wire
from gpu_worker.sandbox.inside.channel import Channel
from gpu_worker.sandbox.inside.script import arrange, last_contents
from gpu_worker.sandbox.inside.wire import (
    ArrayValue,
    CaseScript,
    Frame,
    FrameKind,
    FrameParser,
    Operation,
)

LAYOUTS = ("contiguous", "fortran", "transposed", "strided", "reversed", "offset", "broadcast")


def sent_for(value: ArrayValue, array: Any) -> Frame:
    """Return the frame that is sent for an array that was made of a value."""
    case = CaseScript((), (value,))
    reading, writing = os.pipe()
    with open(reading, "rb") as frames:
        channel = Channel(writing)
        channel.begin_case(0, case)
        channel.send_input(0, array, *last_contents(case))
        channel.flush()
        os.close(writing)
        (frame,) = FrameParser(1 << 16).feed(frames.read())
    return frame


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_single_changed_bit_is_noticed(layout: str, dtype: type[np.generic]) -> None:
    values = np.array([[1.5, np.nan, -0.0], [np.inf, 2.0, 3.0]], dtype)
    value = (
        ArrayValue(values[:1], layout, (2, 3))
        if layout == "broadcast"
        else ArrayValue(values, layout, (2, 3))
    )
    array = arrange(value)
    frame = sent_for(value, array)
    assert (frame.kind, frame.payload) == (FrameKind.AS_GIVEN, b"")
    array = array.copy() if layout == "broadcast" else array
    array[0, 2] = 0.0  # Equal to what it was, -0.0, in all but its sign.
    frame = sent_for(value, array)
    assert frame.kind is FrameKind.ARRAY
    np.testing.assert_array_equal(wire.decode_array(frame.payload), array)


@pytest.mark.parametrize("change", ["shape", "dtype"])
def test_another_shape_or_dtype_over_the_same_bytes_is_a_change(change: str) -> None:
    value = ArrayValue(np.ones((2, 3), np.float32), "contiguous", (2, 3))
    array = arrange(value)
    if change == "shape":
        array.shape = (3, 2)
    else:
        array = array.view(np.int32)
    assert sent_for(value, array).kind is FrameKind.ARRAY


def test_an_array_refilled_by_the_case_counts_as_given() -> None:
    one, two = np.zeros(3, np.float32), np.ones(3, np.float32)
    given = (ArrayValue(one, "contiguous", (3,)), ArrayValue(two, "contiguous", (3,)))
    case = CaseScript((Operation("fill", 0, "x", 1),), given)
    assert [list(content) for content in last_contents(case)] == [[1, 1, 1], [1, 1, 1]]


def test_only_inputs_may_be_reported_as_unchanged() -> None:
    cases = public_cases(get("rmsnorm"))[:1]
    result = next(n for n, op in enumerate(cases[0].script.operations) if op.send)
    calls = [
        Frame(FrameKind.CALL, 0, n, b"")
        for n, op in enumerate(cases[0].script.operations[: result + 1])
        if op.kind in ("new", "forward", "backward")
    ]
    frames = [Frame(FrameKind.BEGIN, 0, 0, b""), *calls, Frame(FrameKind.AS_GIVEN, 0, result, b"")]
    assert read_transcript(frames, cases).forged == "a frame AS_GIVEN where ARRAY belongs"
