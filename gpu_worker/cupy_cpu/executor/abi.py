"""The structures shared with the native half: `runtime/abi.h`, field by field."""

from __future__ import annotations

import ctypes
import struct
from typing import Final

VERSION: Final = 9
SHARED_SLOT: Final = 256
FRAMES: Final = 8
DEFECTS: Final = 16
SITES: Final = 64

_U32 = ctypes.c_uint32
_U64 = ctypes.c_uint64
_I64 = ctypes.c_int64


class Buffer(ctypes.Structure):
    _fields_ = (
        ("start", _U64),
        ("end", _U64),
        ("written", ctypes.c_void_p),
        ("hazards", ctypes.c_void_p),
        ("granule_shift", _U32),
        ("state", _U32),
        ("bytes_read", _U64),
        ("bytes_written", _U64),
        ("reads", _U64),
        ("writes", _U64),
        ("before", ctypes.c_void_p),
    )


GONE: Final = 1
CONSTANT: Final = 2
UNTOUCHED: Final = 3
"""States of a `Buffer`; 0 is none of them."""

BUFFER: Final = struct.Struct("=QQQQIIQQQQQ")
"""The fields of a `Buffer` at once: a launch has hundreds."""


class DefectRecord(ctypes.Structure):
    _fields_ = (
        ("kind", _U32),
        ("write", _U32),
        ("size", _U32),
        ("line", _U32),
        ("address", _U64),
        ("frames", _U64 * FRAMES),
        ("thread", _U32 * 3),
        ("block", _U32 * 3),
        ("other_thread", _U32),
        ("other_line", _U32),
        ("other_block", _U64),
        ("other_frame", _U64),
        ("detail", _I64 * 4),
    )


class Site(ctypes.Structure):
    _fields_ = (
        ("frame", _U64),
        ("shared", _U32),
        ("write", _U32),
        ("bytes", _U64),
        ("requests", _U64),
        ("sectors", _U64),
        ("ideal_sectors", _U64),
        ("bank_conflicts", _U64),
    )


class Launch(ctypes.Structure):
    _fields_ = (
        ("version", _U32),
        ("order", _U32),
        ("seed", _U64),
        ("kernel", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("grid", _U32 * 3),
        ("block", _U32 * 3),
        ("first_block", _U64),
        ("block_count", _U64),
        ("dynamic_shared_bytes", _U64),
        ("buffers", ctypes.POINTER(Buffer)),
        ("buffer_count", _U64),
        ("step_limit", _U64),
        ("stacks", ctypes.c_void_p),
        ("shared_ends", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
        ("output_capacity", _U64),
        ("output_bytes", _U64),
        ("fatal", _U32),
        ("defect_count", _U32),
        ("site_count", _U32),
        ("fenced", _U32),
        ("barriers", _U64),
        ("warp_barriers", _U64),
        ("atomics", _U64),
        ("steps", _U64),
        ("global_read", _U64),
        ("global_written", _U64),
        ("shared_read", _U64),
        ("shared_written", _U64),
        ("defects", DefectRecord * DEFECTS),
        ("sites", Site * SITES),
    )


class Parameter(ctypes.Structure):
    _fields_ = (
        ("kind", _U32),
        ("size", _U32),
        ("pointee_kind", _U32),
        ("pointee_size", _U32),
        ("pointee_const", _U32),
    )


class KernelEntry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("call", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(Parameter)),
        ("parameter_count", _U64),
        ("kernel", ctypes.c_void_p),
        ("parameter_text", ctypes.c_char_p),
        ("most_threads", _I64),
        ("first_line", _U32),
        ("last_line", _U32),
    )


class GlobalEntry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("size", _U64),
        ("element_size", _U32),
        ("granule", _U32),
        ("constant", _U32),
    )
