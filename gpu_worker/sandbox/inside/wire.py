"""The two byte formats between judge and runner: the job, and the frames that come back.

A job is written by the judge and trusted: a length, a JSON header, the source, the cases as JSON,
raw arrays.
Frames come from the learner's process and are not trusted. They are fixed binary records, parsed
strictly: never pickle, never anything that is evaluated.

    frame   = kind u8, case u16, position u16, length u64, payload (little endian)
    BEGIN   payload empty: the case starts
    CALL    payload empty: the class is about to be called for the operation at this position
    ARRAY   dtype code u8, ndim u8, shape u64 * ndim, raw bytes in C order
    REFUSED reason u8, text
    RAISED  line u32 (0 unknown), then type name, message, traceback: each length u32 and text
    END     payload empty: every case was played
    BUILD   a build of CUDA source that is asked for, see `building`; position says which
    NOTES   JSON: what was counted and found while kernels ran; for information only
    AS_GIVEN  payload empty: the input at this position is unchanged, bit for bit
"""

from __future__ import annotations

import importlib
import json
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from enum import IntEnum
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

DTYPES: Final = (
    *("|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"),
    *("<f2", "<f4", "<f8", "<c8", "<c16", "bfloat16"),
)
"""A dtype's code is its index here. NumPy knows bfloat16 only once ml_dtypes is imported."""
MAX_DIMENSIONS: Final = 8
MAX_ELEMENTS: Final = 1 << 40
MAX_TEXT_BYTES: Final = 8_000
LOADING: Final = 0xFFFF
"""The case number of frames about the file itself, before any case."""

_SMALL_RESULT_BYTES: Final = 4_096

_FRAME: Final = struct.Struct("<BHHQ")
_LENGTH: Final = struct.Struct("<I")


class WireError(ValueError):
    """Bytes that are no frames; the text says what is wrong."""


class FrameKind(IntEnum):
    BEGIN = 1
    ARRAY = 2
    REFUSED = 3
    RAISED = 4
    END = 5
    CALL = 6
    BUILD = 7
    NOTES = 8
    AS_GIVEN = 9


class Reason(IntEnum):
    """Why the harness could not go on without anything being raised."""

    CLASS_MISSING = 1
    METHOD_MISSING = 2
    ATTRIBUTE_MISSING = 3
    NOT_AN_ARRAY = 4
    DTYPE_UNSUPPORTED = 5
    PARAMETER_MISSING = 6
    PARAMETER_FIXED = 7
    CALL_REFUSED = 8
    KERNEL_FAULT = 9
    RESULT_TOO_LARGE = 10
    TOO_MANY_DIMENSIONS = 11


@dataclass(frozen=True, slots=True)
class Frame:
    kind: FrameKind
    case: int
    position: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a case: `new`, `set`, `cast`, `forward`, `backward`, `get` or `fill`.

    `cast` brings an attribute to the dtype of an array.
    `array` is an index into the case's arrays. `send` asks for the result. `eps` None leaves it
    to the class; `by_name` passes dim and eps as keywords.
    """

    kind: str
    instance: int = 0
    name: str = ""
    array: int = -1
    send: bool = False
    dim: int = 0
    eps: float | None = None
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An input: values in C order, and the layout in which the learner's code receives them."""

    values: NDArray[Any]
    layout: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CaseScript:
    """What the runner does in one case. `resend`: all results once more at the end."""

    operations: tuple[Operation, ...]
    arrays: tuple[ArrayValue, ...]
    resend: bool = False


@dataclass(frozen=True, slots=True)
class TimedCalls:
    """The job's one case, played `count` times with arrays that the judge writes before each.

    `offset` is where the judge's mark (u64) lies in the job's memory, `places` are the offsets
    of the arrays' bytes, -1 for those that the job itself holds. On a device, the results of a call
    are written from `results` on, and the arrays that the judge writes have no values in the job.
    """

    count: int
    offset: int
    places: tuple[int, ...]
    results: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """`library` is the module of arrays: "numpy", "cupy" for its stand-in, "device" for CuPy.

    `counted`: say what each call moved. `launches_only`: launches are checked, no kernel is run.
    """

    source: str
    class_name: str
    cases: tuple[CaseScript, ...]
    timed: TimedCalls | None = None
    library: str = "numpy"
    counted: bool = False
    launches_only: bool = False


# --- the job: judge -> runner -------------------------------------------------------------------
# A job has thousands of them, and `astuple` would copy each of their fields deeply.
_OPERATION = attrgetter(*(field.name for field in fields(Operation)))


def encode_job(job: Job) -> bytes:
    """Return the job's bytes."""
    source = job.source.encode("utf-8")
    described = [
        {
            "operations": [_OPERATION(operation) for operation in case.operations],
            "arrays": [
                (dtype_name(a.values.dtype), a.values.shape, a.layout, a.shape) for a in case.arrays
            ],
            "resend": case.resend,
        }
        for case in job.cases
    ]
    cases = json.dumps(described).encode("ascii")
    header = {
        "class_name": job.class_name,
        "source_bytes": len(source),
        "cases_bytes": len(cases),
        "timed": astuple(job.timed) if job.timed else None,
        "library": job.library,
        "counted": job.counted,
        "launches_only": job.launches_only,
    }
    head = json.dumps(header).encode("ascii")
    raw = [raw_bytes(a.values) for case in job.cases for a in case.arrays]
    return b"".join([_LENGTH.pack(len(head)), head, source, cases, *raw])


def cases_part(job: bytes) -> memoryview:
    """Return of a job's bytes those of its cases: the same whatever source they are run on."""
    (size,) = _LENGTH.unpack_from(job)
    start = _LENGTH.size + size
    return memoryview(job)[start + int(json.loads(job[_LENGTH.size : start])["source_bytes"]) :]


def decode_job(data: bytes) -> Job:
    """Return the job that `encode_job` wrote; arrays are copies of their own."""
    (size,) = _LENGTH.unpack_from(data)
    offset = _LENGTH.size + size
    header = json.loads(data[_LENGTH.size : offset])
    source = data[offset : offset + header["source_bytes"]].decode("utf-8")
    offset += header["source_bytes"]
    described = json.loads(data[offset : offset + header["cases_bytes"]])
    offset += header["cases_bytes"]
    cases = []
    for item in described:
        arrays = []
        for dtype, values_shape, layout, shape in item["arrays"]:
            count = math.prod(values_shape)
            raw = np.frombuffer(data, dtype_named(dtype), count, offset)
            values = raw.reshape(values_shape).copy()
            offset += values.nbytes
            arrays.append(ArrayValue(values, layout, tuple(shape)))
        operations = tuple(Operation(*fields) for fields in item["operations"])
        cases.append(CaseScript(operations, tuple(arrays), item["resend"]))
    timed = header["timed"]
    calls = TimedCalls(timed[0], timed[1], tuple(timed[2]), timed[3]) if timed else None
    return Job(
        source,
        header["class_name"],
        tuple(cases),
        calls,
        header["library"],
        header["counted"],
        header["launches_only"],
    )


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return a dtype's name as in `DTYPES`, if it is one of them."""
    # NumPy builds a dtype's name on each access, so the cheap test comes first.
    return "bfloat16" if dtype.kind == "V" and dtype.name == "bfloat16" else str(dtype.str)


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype that `dtype_name` named."""
    try:
        return np.dtype(name)
    except TypeError:
        # Not earlier: if it is loaded but hidden, this would load it again.
        importlib.import_module("ml_dtypes")
        return np.dtype(name)


# --- frames: runner -> judge --------------------------------------------------------------------
def encode_frame(kind: FrameKind, case: int, position: int = 0, payload: bytes = b"") -> bytes:
    """Return one frame's bytes."""
    return frame_head(kind, case, position, len(payload)) + payload


def frame_head(kind: FrameKind, case: int, position: int, length: int) -> bytes:
    """Return what stands before a frame's payload of this many bytes."""
    return _FRAME.pack(kind, case, position, length)


def encode_array(array: NDArray[Any]) -> tuple[bytes, memoryview]:
    """Return the payload of an ARRAY frame in two parts; the second may be the array's memory.

    Raises:
        KeyError: the dtype is none of `DTYPES`.
    """
    return encode_head(array), raw_bytes(array)


def raw_bytes(array: NDArray[Any]) -> memoryview:
    """Return the array's bytes in C order: its own memory where it is contiguous."""
    return array.ravel().view(np.uint8).data


def encode_head(array: NDArray[Any]) -> bytes:
    """Return what says an array's dtype and shape, before its bytes.

    Raises:
        KeyError: the dtype is none of `DTYPES`.
    """
    code = _CODES[dtype_name(array.dtype)]
    return struct.pack(f"<BB{array.ndim}Q", code, array.ndim, *array.shape)


def encode_text(*texts: str) -> bytes:
    """Return texts, each cut to `MAX_TEXT_BYTES` and preceded by its length."""
    parts = []
    for text in texts:
        data = text.encode("utf-8", "backslashreplace")[:MAX_TEXT_BYTES]
        parts.append(_LENGTH.pack(len(data)) + data)
    return b"".join(parts)


def decode_array(payload: bytes) -> NDArray[Any]:
    """Return the array of an ARRAY frame, read-only.

    Raises:
        WireError: the code, the number of dimensions, the shape or the size is wrong.
    """
    dtype, shape, start = decode_head(payload)
    # Python integers: a forged shape cannot overflow.
    if math.prod(shape) * dtype.itemsize != len(payload) - start:
        raise WireError("an array whose size does not fit its shape")
    # Only for an empty array do the bytes not confirm the shape. A slice along the wrong axis gives
    # an honest one; a shape that NumPy cannot represent is no slice of anything.
    if math.prod(extent or 1 for extent in shape) > MAX_ELEMENTS:
        raise WireError("an array with an absurd extent")
    return np.frombuffer(payload, dtype, offset=start).reshape(shape)


def most_result_bytes(case: CaseScript) -> int:
    """Return how large a result of a case may be to be sent, so that its shape can be judged.

    Right ones are as large as an input, in a wider dtype at most eight times that. A small case
    has some room: that a row gave a matrix is told best by its shape.
    """
    largest = max(
        (math.prod(array.shape) * array.values.itemsize for array in case.arrays), default=0
    )
    return 8 * largest + _SMALL_RESULT_BYTES


def decode_head(payload: bytes) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Return dtype and shape of what `encode_head` wrote, and its length.

    Raises:
        WireError: the code or the number of dimensions is wrong, or the shape is cut off.
    """
    if len(payload) < 2 or payload[0] >= len(DTYPES) or payload[1] > MAX_DIMENSIONS:
        raise WireError("an array with an unknown dtype or too many dimensions")
    code, ndim = payload[0], payload[1]
    start = 2 + 8 * ndim
    if len(payload) < start:
        raise WireError("an array without its shape")
    return dtype_named(DTYPES[code]), struct.unpack_from(f"<{ndim}Q", payload, 2), start


def decode_text(payload: bytes, count: int) -> list[str]:
    """Return the texts that `encode_text` wrote.

    Raises:
        WireError: there are not exactly `count`, or one is too long.
    """
    texts, offset = [], 0
    for _ in range(count):
        if offset + _LENGTH.size > len(payload):
            raise WireError("a text without its length")
        (size,) = _LENGTH.unpack_from(payload, offset)
        offset += _LENGTH.size
        if size > MAX_TEXT_BYTES or offset + size > len(payload):
            raise WireError("a text of a wrong length")
        texts.append(payload[offset : offset + size].decode("utf-8", "replace"))
        offset += size
    if offset != len(payload):
        raise WireError("bytes after the last text")
    return texts


class FrameParser:
    """Cuts a stream of bytes into frames as they arrive.

    Raises (from `feed`):
        WireError: an unknown kind, an impossible length, or bytes after END.
    """

    def __init__(self, max_payload: int) -> None:
        self._buffer = bytearray()
        self._max_payload = max_payload
        self.ended = False

    def feed(self, data: bytes | memoryview) -> Iterator[Frame]:
        """Take the next bytes and yield the frames that they complete; nothing else is kept."""
        self._buffer += data
        while len(self._buffer) >= _FRAME.size:
            if self.ended:
                raise WireError("bytes after the end")
            number, case, position, length = _FRAME.unpack_from(self._buffer)
            if number not in _KINDS:
                raise WireError("a frame of an unknown kind")
            if length > self._max_payload:
                raise WireError("a frame longer than any result")
            if len(self._buffer) < _FRAME.size + length:
                return
            with memoryview(self._buffer) as view:
                payload = bytes(view[_FRAME.size : _FRAME.size + length])
            del self._buffer[: _FRAME.size + length]
            kind = FrameKind(number)
            self.ended = kind is FrameKind.END
            yield Frame(kind, case, position, payload)
        if self.ended and self._buffer:
            raise WireError("bytes after the end")


_CODES: Final = {name: code for code, name in enumerate(DTYPES)}
_KINDS: Final = frozenset(int(kind) for kind in FrameKind)


def total_bytes(arrays: Sequence[ArrayValue]) -> int:
    """Return the size in bytes of the arrays as the learner's code sees them."""
    return sum(math.prod(a.shape) * a.values.itemsize for a in arrays)
