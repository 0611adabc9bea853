"""Explains the compiler's messages to the author of a kernel, and says what to write instead."""

from __future__ import annotations

import re
from typing import Final

_NOISE: Final = (
    ("{anonymous}::", ""), ("(anonymous namespace)::", ""), ("learnml::", ""),
    ("uint3::", ""), ("dim3::", ""), (" {aka 'const struct uint3'}", ""),
)  # fmt: skip
_OF_THE_PRELUDE: Final = re.compile(r"call to '[^']*' declared with attribute error: ")
_OWN_NAME_MEANT: Final = re.compile(r"; did you mean '(?:nv|[^']*learnml[^']*|__[a-z]+san\w*)'\?")
_LINE_TAKEN: Final = re.compile(
    r"(?<= arguments to function )'([^']*\b(?:__\w+|atomic\w+)\([^()']*?)(?:, )?int\)'"
)
"""Some of the executor's functions take the line of the call, which authors do not pass."""
_STRING: Final = re.compile(r'"(?:\\.|[^"\\])*"')
_LONGEST: Final = 400
_LOOKED_AT: Final = 1000
"""Characters of a text, and of a line. Both may be a learner's, and as long as the source."""

_LAUNCH: Final = (
    "A kernel's source launches nothing, and has no code of the host: launch from Python, by "
    "KERNEL(grid, block, args), as in kernel((rows,), (256,), (x, y))."
)
_NO_PYTHON: Final = (
    "A kernel is CUDA C: nothing of Python, NumPy, CuPy or Numba is there. Sums are loops, and "
    "functions have names such as sqrtf, rsqrtf, expf and fmaxf."
)
_BRACKETS: Final = "The brackets of an array stand behind its name: float name[8], float *name."
_LANES: Final = (
    "First come the lanes that take part: __shfl_xor_sync(0xffffffffu, value, offset), "
    "__ballot_sync(0xffffffffu, condition)."
)
_DYNAMIC: Final = (
    "An array has a size that is known when the kernel is compiled. For one that the launch "
    "decides take `extern __shared__ float name[];` and give its bytes as shared_mem."
)

_LINES: Final = (
    (re.compile(r"<<<"), _LAUNCH),
    (re.compile(r"\bfor\s+\w+(?:\s*,\s*\w+)*\s+in\b"), _NO_PYTHON),
    (
        re.compile(r"\b(?:float|double|int|unsigned|half|__half|char|long)\s*\[\s*\w*\s*\]\s*[A-Za-z_]"),
        _BRACKETS,
    ),
)  # fmt: skip
"""The message for any error in such a line, in place of the compiler's."""
_INSTEAD: Final = (
    (
        re.compile(r"incomplete type '(?:learnml::)?Entry<"),
        "A kernel returns nothing: write `__global__ void`.",
    ),
)
_ADVICE: Final = (
    (
        re.compile(r"read-only|assignment of (?:data-)?member .*(?:threadIdx|blockIdx)"),
        "threadIdx, blockIdx, blockDim, gridDim and data behind `const` cannot be assigned.",
    ),
    (re.compile(r"expected '[;)}]'"), "Look at the end of the line before, too."),
    (
        re.compile(r"'(?:__)?(?:half|nv_bfloat16|bfloat16)\w*' (?:was not declared|does not name)"),
        "Put #include <cuda_fp16.h> or <cuda_bf16.h> first.",
    ),
    (
        re.compile(r"'__(?:shfl|shfl_up|shfl_down|shfl_xor|any|all|ballot)' was not declared"),
        "CUDA has it no more: append _sync to the name and give the lanes that take part first, as "
        "in __shfl_down_sync(0xffffffffu, value, offset).",
    ),
    (
        re.compile(r"no matching function for call to '__shfl_|too few arguments to function '[^']*"
                   r"__(?:ballot|any|all)_sync"),
        _LANES,
    ),
    (
        re.compile(
            r"'\(?const (?:uint3|dim3)\b|\b(?:thread|block)Idx\.[xyz]' cannot be used as a function"
        ),
        "threadIdx, blockIdx, blockDim and gridDim are three numbers each, and no functions: write "
        "threadIdx.x for the first.",
    ),
    (re.compile(r"storage size of '[^']*' isn't constant|conflicting specifiers in"), _DYNAMIC),
    (
        re.compile(
            r"'(?:np|numpy|cp|cupy|math|cuda|None|True|False|len|range|let|lambda|def)' "
            r"(?:was not declared|has not been)"
        ),
        _NO_PYTHON,
    ),
    (re.compile(r"'print' was not declared"), "CUDA C has printf(\"%f\\n\", value)."),
    (re.compile(r"'_*(?:sync_?threads|barrier|synchthreads)' was not"), "Write __syncthreads()."),
    (re.compile(r"'shared' was not declared"), "Write __shared__."),
    (
        re.compile(r"'(?:FLT|DBL|INT|UINT)_(?:MAX|MIN|EPSILON)' was not declared"),
        "Write the number itself, for example 3.402823466e+38f for FLT_MAX.",
    ),
    (
        re.compile(r"unary '\*' \(have|binary 'operator\^'"),
        "C has no operator for powers: write v * v, or powf(v, p).",
    ),
    (re.compile(r"binary 'operator%'"), "Of floats fmodf(a, b) is the remainder."),
    (
        re.compile(r"is not a member of 'std'"),
        "A kernel has no library of C++: take arrays, __shared__ memory and printf.",
    ),
    (
        re.compile(r"is not a member of '(?:cg|cooperative_groups)'"),
        "Of cooperative groups there are blocks, tiles of up to 32 threads, coalesced_threads, "
        "thread_group, tiled_partition, labeled_partition, binary_partition, reduce and scans of "
        "tiles; no waiting for a grid, no clusters, no asynchronous copies.",
    ),
    (
        re.compile(r"'(?:nvcuda|cp_async\w*|__pipeline\w*|memcpy_async)'"),
        "Of asynchronous copies there are __pipeline_memcpy_async, __pipeline_commit and "
        "__pipeline_wait_prior of <cuda_pipeline.h>.",
    ),
    (
        re.compile(r"'(?:wmma|mma|__cluster\w*|cluster_group)'"),
        "Tensor cores and clusters are not there on a processor.",
    ),
)  # fmt: skip
_MACRO_ENDS: Final = re.compile(r"\s*#\s*define\b.*;\s*\Z")


def plain(text: str, line: str = "") -> str:
    """Return an error's text in the terms of the author, whose line is `line`, if it is known."""
    text, line = text[:_LOOKED_AT], _STRING.sub('""', line[:_LOOKED_AT])
    instead = next((advice for pattern, advice in _LINES if pattern.search(line)), "")
    instead = instead or next((advice for pattern, advice in _INSTEAD if pattern.search(text)), "")
    if instead:
        return instead
    text = _OWN_NAME_MEANT.sub("", text)
    for noise, clear in _NOISE:
        text = text.replace(noise, clear)
    text = _LINE_TAKEN.sub(r"'\1)'", _OF_THE_PRELUDE.sub("", text))[:_LONGEST]
    advice = next((advice for pattern, advice in _ADVICE if pattern.search(text)), "")
    if not advice and _MACRO_ENDS.match(line):
        advice = "The value of a #define ends without a semicolon."
    return f"{text}{'' if text.endswith('?') else '.'} {advice}" if advice else text


def of_missing_function(name: str) -> str:
    """Return what is said of a function that no kernel can call."""
    if name.startswith("cuda"):
        return f"{name} is for the host: CuPy calls it from Python, a kernel's source cannot."
    if name.startswith("operator new"):
        return (
            "A device's heap is not there on a processor. Take shared memory, a local array, or an "
            "array that is passed to the kernel."
        )
    return (
        f"The function {plain(name)} is declared but nowhere defined, or is none that a kernel can "
        "call here."
    )
