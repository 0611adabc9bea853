"""Frames may be hostile: whatever the bytes, the parser yields frames or raises WireError."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_worker.exercises import get
from gpu_worker.judge.cases.casegen import public_cases
from gpu_worker.judge.verdict.transcript import read_transcript
from gpu_worker.sandbox.inside import wire
from gpu_worker.sandbox.inside.wire import Frame, FrameKind, FrameParser, WireError
from tests.tiers import examples

LIMIT = 1 << 16


def parse(data: bytes, pieces: int = 1) -> list[Frame]:
    parser = FrameParser(LIMIT)
    size = max(1, len(data) // pieces)
    frames: list[Frame] = []
    for start in range(0, len(data), size):
        frames.extend(parser.feed(data[start : start + size]))
    return frames


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_never_raise_anything_else(data: bytes) -> None:
    try:
        frames = parse(data, 3)
    except WireError:
        return
    read_transcript(frames, public_cases(get("rmsnorm")))


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(FrameKind), st.integers(0, 4), st.integers(0, 4), st.binary(max_size=60)
        ),
        max_size=8,
    )
)
def test_well_formed_frames_with_random_contents_never_raise(
    items: list[tuple[FrameKind, int, int, bytes]],
) -> None:
    frames = [Frame(*item) for item in items]
    transcript = read_transcript(frames, public_cases(get("rmsnorm")))
    assert not transcript.ended or transcript.loading or not items


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=120))
def test_random_payloads_are_arrays_or_wire_errors(payload: bytes) -> None:
    try:
        array = wire.decode_array(payload)
    except WireError:
        return
    assert array.nbytes < len(payload)


@pytest.mark.parametrize("dtype", wire.DTYPES)
def test_arrays_survive_the_round_trip(dtype: str) -> None:
    for shape in [(), (0, 3), (0, 1 << 20), (2, 3), (1, 2, 3, 4)]:
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        array = array.astype(wire.dtype_named(dtype))
        back = wire.decode_array(b"".join(wire.encode_array(array)))
        assert back.dtype == array.dtype
        assert back.shape == shape
        assert back.tobytes() == array.tobytes()


def test_a_forged_shape_cannot_overflow() -> None:
    huge = struct.pack("<BB3Q", 11, 3, 1 << 63, 1 << 63, 0)
    with pytest.raises(WireError):
        wire.decode_array(huge)
    with pytest.raises(WireError):
        wire.decode_array(struct.pack("<BB2Q", 11, 2, 1 << 32, 1 << 32))


def test_a_length_beyond_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError, match="longer"):
        parse(struct.pack("<BHHQ", FrameKind.ARRAY, 0, 0, LIMIT + 1))


def test_nothing_may_follow_the_end_frame() -> None:
    end = wire.encode_frame(FrameKind.END, 0)
    assert [frame.kind for frame in parse(end)] == [FrameKind.END]
    with pytest.raises(WireError, match="after the end"):
        parse(end + end)
    with pytest.raises(WireError, match="after the end"):
        parse(end + b"\x01")


def test_frames_do_not_depend_on_how_the_stream_is_cut() -> None:
    draw = random.Random(3)
    data = b"".join(
        wire.encode_frame(FrameKind.ARRAY, case, 1, draw.randbytes(draw.randrange(50)))
        for case in range(40)
    )
    assert parse(data) == parse(data, 7) == parse(data, len(data))


def test_a_job_survives_the_round_trip() -> None:
    cases = tuple(case.script for case in public_cases(get("layernorm")))
    job = wire.decode_job(wire.encode_job(wire.Job("# \u03b3\n", "LayerNormScratch", cases)))
    assert job.source == "# \u03b3\n"
    assert [case.operations for case in job.cases] == [case.operations for case in cases]
    for sent, received in zip(cases, job.cases, strict=True):
        for a, b in zip(sent.arrays, received.arrays, strict=True):
            assert (a.layout, tuple(a.shape)) == (b.layout, b.shape)
            assert a.values.tobytes() == b.values.tobytes()
