"""What the sandbox costs: per run, per second, and over two thousand runs in a row.

Everything is measured in the same call on the same machine, beside what a run costs without a
zygote: a new Python with NumPy, bare and in bubblewrap.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpu_worker.judge import grade_source
from gpu_worker.sandbox import bubblewrap, isolation
from gpu_worker.sandbox.client import Request, Zygote
from gpu_worker.sandbox.inside.wire import Job, encode_job
from gpu_worker.sandbox.interpreter import Interpreter
from gpu_worker.sandbox.setup import INSIDE
from gpu_worker.tests.conftest import RIGHT
from gpu_worker.tests.worker_process import descendants

RUNS = 300
LAUNCHES = 30
IN_A_ROW = 2_000
SECONDS = 3.0
PAUSE_SECONDS = 0.02
WORKERS = 2


def measure(folder: Path) -> dict[str, Any]:
    """Return the figures; times in milliseconds, memory in kilobytes."""
    return {
        "unit": "ms",
        "isolation": isolation.establish().text,
        # With `chrt -f 5 python -m bench sandbox`, other work on the machine stands back.
        "scheduling": "real-time" if os.sched_getscheduler(0) == os.SCHED_FIFO else "normal",
        "added_per_run": added(PAUSE_SECONDS),
        "added_per_run_back_to_back": added(0.0),
        "added_per_grading": added_per_grading(),
        "without_a_zygote": {
            "python_with_numpy": milliseconds(_bare, LAUNCHES),
            "bubblewrap_python_with_numpy": milliseconds(_in_bubblewrap, LAUNCHES),
        },
        "runs_per_second": {
            "workers": WORKERS,
            "zygotes": per_second(),
            "python_with_numpy": launches_per_second(_bare),
            "bubblewrap_python_with_numpy": launches_per_second(_in_bubblewrap),
        },
        "in_a_row": in_a_row(),
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and largest, in milliseconds, of seconds."""
    ordered = sorted(value * 1e3 for value in values)
    return {
        "count": len(ordered),
        "median": round(statistics.median(ordered), 2),
        "p99": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 2),
        "max": round(ordered[-1], 2),
    }


def _request() -> Request:
    return Request(
        job=encode_job(Job("x = 1\n", "Nothing", ())),
        wall_seconds=10,
        cpu_seconds=10,
        memory_bytes=512 << 20,
        file_bytes=16 << 20,
        output_bytes=1 << 16,
        result_bytes=1 << 20,
    )


def added(pause: float) -> dict[str, Any]:
    """A run's whole time less the time that the supervisor measured for the learner's code.

    In a `pause`, as between real submissions, the next runner is made ahead.
    """
    whole, own = [], []
    with Zygote() as zygote:
        zygote.run(_request())
        for _ in range(RUNS):
            time.sleep(pause)
            begun = time.perf_counter()
            result = zygote.run(_request())
            whole.append(time.perf_counter() - begun)
            own.append(result.wall_seconds)
    extra = [total - inner for total, inner in zip(whole, own, strict=True)]
    return {"added": spread(extra), "whole_run_of_an_empty_file": spread(whole)}


def added_per_grading() -> dict[str, Any]:
    """The same for a whole grading, which has three runs: a right RMSNorm, all cases, timed."""
    extra = []
    with Zygote() as zygote:
        spent: list[float] = []
        run = zygote.run

        def timed(request: Request) -> Any:
            begun = time.perf_counter()
            result = run(request)
            spent.append(time.perf_counter() - begun - result.wall_seconds)
            return result

        zygote.run = timed  # type: ignore[method-assign]
        for _ in range(RUNS // 6):
            time.sleep(PAUSE_SECONDS)
            spent.clear()
            graded = grade_source("rmsnorm", "numpy", RIGHT, zygote=zygote)
            if graded.outcome != "accepted":
                raise RuntimeError(f"the right solution got {graded.outcome}")
            extra.append(sum(spent))
    return spread(extra)


def milliseconds(launch: Callable[[], subprocess.Popen[bytes]], count: int) -> dict[str, float]:
    """Time launches to their end."""
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        launch().wait()
        times.append(time.perf_counter() - begun)
    return spread(times)


def _bare() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "import numpy"])


def _in_bubblewrap() -> subprocess.Popen[bytes]:
    interpreter = Interpreter.current()
    outer = bubblewrap.command(
        bubblewrap.programs()[0],
        interpreter,
        INSIDE,
        root=os.geteuid() == 0,
        fresh_proc=isolation.establish().setup.fresh_proc,
    )
    code = f"import sys; sys.path.append({bubblewrap.PACKAGES!r}); import numpy"
    return subprocess.Popen([*outer, interpreter.program, "-I", "-S", "-c", code])


def per_second() -> float:
    """Return the runs per second of two workers, each with its zygote, at the same time."""
    code = (
        "import sys, time\n"
        "from bench.sandbox import Zygote, _request\n"
        "with Zygote() as zygote:\n"
        "    zygote.run(_request())\n"
        "    print('ready', flush=True); sys.stdin.readline()\n"
        f"    end = time.monotonic() + {SECONDS}; count = 0\n"
        "    while time.monotonic() < end:\n"
        "        zygote.run(_request()); count += 1\n"
        "    print(count)\n"
    )
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(WORKERS)
    ]
    for worker in workers:
        if worker.stdout is None or worker.stdout.readline() != "ready\n":
            raise RuntimeError("a worker did not start")
    # Both are told to begin before either is waited for.
    for worker in workers:
        if worker.stdin is not None:
            worker.stdin.write("\n")
            worker.stdin.flush()
    counts = [int(worker.communicate()[0]) for worker in workers]
    return round(sum(counts) / SECONDS, 1)


def launches_per_second(launch: Callable[[], subprocess.Popen[bytes]]) -> float:
    """Return the launches per second with two at a time."""
    begun = time.monotonic()
    count = 0
    while time.monotonic() - begun < SECONDS:
        both = [launch() for _ in range(WORKERS)]
        for process in both:
            process.wait()
        count += WORKERS
    return round(count / (time.monotonic() - begun), 1)


def in_a_row() -> dict[str, Any]:
    """Compare memory, descriptors and processes before and after two thousand runs."""
    with Zygote() as zygote:
        for _ in range(20):
            zygote.run(_request())
        time.sleep(0.5)
        before = _state(zygote)
        begun = time.monotonic()
        for _ in range(IN_A_ROW):
            zygote.run(_request())
        each = (time.monotonic() - begun) / IN_A_ROW * 1e3
        time.sleep(0.5)
        after = _state(zygote)
    return {"count": IN_A_ROW, "each": round(each, 2), "before": before, "after": after}


def _state(zygote: Zygote) -> dict[str, int]:
    below = descendants(zygote.pid or 0)
    resident = sum(_resident_kilobytes(pid) for pid in below)
    namespaces = {os.readlink(link) for pid in below for link in Path(f"/proc/{pid}/ns").iterdir()}
    return {
        "processes": len(below),
        "resident_kilobytes": resident,
        "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in below),
        "own_descriptors": len(os.listdir("/proc/self/fd")),
        "namespaces": len(namespaces),
    }


def _resident_kilobytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
