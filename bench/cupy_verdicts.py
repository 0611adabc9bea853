"""How right and how fast the verdicts of the CuPy track are on a machine without a device."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np

from bench import rounds
from bench.results import summary
from gpu_worker.cuda_cpu import Build
from gpu_worker.cuda_cpu.toolchain import building, gxx, nvrtc
from gpu_worker.cupy_cpu.executor import Memory, Module, Pointer
from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.stored import KINDS, Stored, StoredKind, stored
from gpu_worker.judge import Options, grade_source
from gpu_worker.judge.running import builds
from gpu_worker.messages.protocol import Outcome, Track
from gpu_worker.sandbox.client import Zygote

SEEDS: Final = 20
WARM_ROUNDS: Final = 3
SWITCHING: Final = r"""
extern "C" __global__ void wait(int times) {
  for (int i = 0; i < times; i++) __syncthreads();
}
extern "C" __global__ void exchange(int times, int *result) {
  int value = threadIdx.x;
  for (int i = 0; i < times; i++) value = __shfl_xor_sync(0xffffffffu, value, 1);
  result[threadIdx.x] = value;
}
"""
THREADS: Final = 256
TIMES: Final = 4000


def offering() -> list[str]:
    """Return the slugs of the exercises that have the track and stored submissions to it."""
    return [slug for slug in slugs() if stored(get(slug), "correct", Track.CUPY)]


# --- how right --------------------------------------------------------------------------------
def measure(folder: Path, seeds: int = SEEDS) -> dict[str, Any]:
    """Grade every stored submission of the track with several fresh seeds, in the sandbox.

    Round by round, taken up again where it was broken off as long as the engine's code is the
    same; `LEARNML_BENCH_MINUTES` ends it early, see `rounds`.
    """
    kept = rounds.Rounds("cupy_verdicts")
    kept.run(work(), seeds, _grade_once)
    return {slug: _summed_up(slug, kept) for slug in offering()}


def work() -> list[rounds.Work]:
    """Return what one round grades: exercises, and names such as "wrong/missing_barrier"."""
    return [
        (slug, f"{kind}/{item.path.stem}")
        for slug in offering()
        for kind in KINDS
        for item in stored(get(slug), kind, Track.CUPY)
    ]


def _grade_once(slug: str, name: str, zygote: Zygote) -> dict[str, Any]:
    """Grade one stored submission with a seed of its own; say how it ended."""
    item = _item(slug, name)
    graded = grade_source(slug, Track.CUPY, item.source, Options(limits=item.limits), zygote=zygote)
    found = sorted({finding.kind for finding in graded.report.findings})
    named = [mistake.id for mistake in graded.report.mistakes]
    why = graded.report.failure or graded.report.worst
    return {
        "name": name,
        "outcome": graded.outcome,
        "named": named,
        "found": found,
        "complaint": item.complaint(graded.outcome, named, found),
        "why": str(why)[:300] if graded.outcome not in item.outcomes else "",
        "seed": graded.report.receipt.seed if graded.report.receipt else "",
    }


def _item(slug: str, name: str) -> Stored:
    kind: StoredKind = "correct" if name.startswith("correct/") else "wrong"
    items = stored(get(slug), kind, Track.CUPY)
    return next(item for item in items if item.path.stem == name.partition("/")[2])


def _summed_up(slug: str, kept: rounds.Rounds) -> dict[str, Any]:
    results = kept.results(slug)
    correct = [result for result in results if result["name"].startswith("correct/")]
    wrong = [result for result in results if result["name"].startswith("wrong/")]
    complaints = [
        f"{result['complaint']} Seed {result['seed']}. {result['why']}".strip()
        for result in results
        if result["complaint"]
    ]
    return {
        "seeds_each": kept.complete,
        "correct": {
            "submissions": len({result["name"] for result in correct}),
            "gradings": len(correct),
            "not_accepted": sum(result["outcome"] != Outcome.ACCEPTED for result in correct),
        },
        "wrong": {
            "submissions": len({result["name"] for result in wrong}),
            "gradings": len(wrong),
            "accepted": sum(result["outcome"] == Outcome.ACCEPTED for result in wrong),
            "outcomes": dict(sorted(Counter(result["outcome"] for result in wrong).items())),
        },
        "expected_findings": _findings(slug, wrong),
        "not_as_their_header_says": len(complaints),
        "first_complaints": complaints[:20],
        "code_sha256": kept.code,
    }


def _findings(slug: str, wrong: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how often each kind of finding was expected, and how often it was there."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"expected": 0, "found": 0})
    for result in wrong:
        for kind in sorted(_item(slug, result["name"]).findings):
            counts[kind]["expected"] += 1
            counts[kind]["found"] += kind in result["found"]
    return dict(sorted(counts.items()))


# --- how fast ---------------------------------------------------------------------------------
def measure_times(folder: Path) -> dict[str, Any]:
    """Time building, switching and whole verdicts, one after another; for a machine at rest."""
    with _fresh_builds(folder):
        begun = time.perf_counter()
        gxx.kit()
        kit = time.perf_counter() - begun
        return {
            "unit": "s",
            "kit_build": round(kit, 3),
            "kernel_build": round(_timed_build().seconds, 3),
            "thread_switches_per_second": _switches(folder),
            "verdicts": _verdicts(),
        }


@contextmanager
def _fresh_builds(folder: Path) -> Iterator[None]:
    """Build into an empty folder, as on a new machine."""
    # The compiler's sandbox belongs to another user, who must be able to read the kit.
    folder.chmod(0o755)
    gxx.folder.cache_clear()
    gxx.kit.cache_clear()
    with mock.patch.dict("os.environ", {gxx.FOLDER_SETTING: str(folder / "kernels")}):
        try:
            yield
        finally:
            gxx.folder.cache_clear()
            gxx.kit.cache_clear()


def _timed_build() -> Build:
    return building.compile_source(SWITCHING)


def _switches(folder: Path) -> dict[str, int]:
    """Return how many times a second a thread gives way to the next: at barriers, in shuffles."""
    library = folder / "switching.so"
    library.write_bytes(_timed_build().library)
    module, memory = Module(str(library)), Memory()
    result = memory.allocate(4 * THREADS)
    arguments: dict[str, list[object]] = {
        "wait": [np.int32(TIMES)],
        "exchange": [np.int32(TIMES), Pointer(result.address, nbytes=result.nbytes)],
    }
    rates = {}
    for name, given in arguments.items():
        begun = time.perf_counter()
        module.kernel(name).launch((1,), (THREADS,), given, memory=memory)
        rates[name] = round(THREADS * TIMES / (time.perf_counter() - begun))
    return rates


def _verdicts() -> dict[str, dict[str, Any]]:
    with Zygote() as zygote:
        zygote.start()
        return {
            f"{slug}/{item.path.stem}": _verdict_times(item, zygote)
            for slug in offering()
            for item in stored(get(slug), "correct", Track.CUPY)
        }


def _verdict_times(item: Stored, zygote: Zygote) -> dict[str, Any]:
    """Time whole verdicts: the first, whose kernels have to be built, and later ones.

    A build that needs more than two seconds of processor time ends in its sandbox.
    """
    building.forget()
    nvrtc.forget()
    seconds: list[float] = []

    def timed(*request: Any) -> Build:
        built = building.compile_source(*request)
        if not built.cached:
            seconds.append(built.seconds)
        return built

    with mock.patch.object(builds, "compile_source", timed):
        first = _seconds(item, zygote)
    return {
        "first": round(first, 3),
        "later": summary([_seconds(item, zygote) for _ in range(WARM_ROUNDS)]),
        "builds": len(seconds),
        "longest_build": round(max(seconds, default=0.0), 3),
    }


def _seconds(item: Stored, zygote: Zygote) -> float:
    begun = time.perf_counter()
    graded = grade_source(item.slug, Track.CUPY, item.source, zygote=zygote)
    if graded.outcome != Outcome.ACCEPTED:
        raise RuntimeError(f"{item.id} ended as {graded.outcome}: {graded.report.failure}")
    return time.perf_counter() - begun
