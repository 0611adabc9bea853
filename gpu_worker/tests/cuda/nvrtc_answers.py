"""Asks NVRTC itself in a separate process, since some options end the process that asks.

Run as a program it reads `[[source, [option, ...]], ...]` and writes `[taken, ...]`, both JSON.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from gpu_worker.cuda_cpu.toolchain import gxx, nvrtc

Question = tuple[str, tuple[str, ...]]
PLAIN = 'extern "C" __global__ void k(float *y) { y[0] = 1; }\n'


def answers(questions: Sequence[Question]) -> list[bool]:
    """Return for each source with its options whether NVRTC compiles it, as CuPy calls NVRTC."""
    with tempfile.TemporaryDirectory() as folder:
        # Options may name files to be written.
        done = subprocess.run(
            [sys.executable, "-m", __name__], input=json.dumps(questions), cwd=folder,
            capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)},
        )  # fmt: skip
    # ptxas prints where it likes.
    taken: list[bool] = json.loads(done.stdout.rsplit("\n", 2)[-2])
    return taken


def _taken(library: ctypes.CDLL, source: str, options: Sequence[str]) -> bool:
    headers = gxx.cuda_headers()
    standard = [] if any("-std=" in word for word in options) else ["--std=c++17"]
    words = [
        *(f"-I{headers}/cccl", *options, *standard, f"-I{headers}", "-ftz=true", "-arch=sm_90"),
        "--device-as-default-execution-space",
    ]
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
    given = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    failed = library.nvrtcCompileProgram(program, len(words), given)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return not failed


if __name__ == "__main__":
    nvrtc_library = ctypes.CDLL(nvrtc.library())
    asked = json.load(sys.stdin)
    sys.stdout.write(
        "\n" + json.dumps([_taken(nvrtc_library, *question) for question in asked]) + "\n"
    )
