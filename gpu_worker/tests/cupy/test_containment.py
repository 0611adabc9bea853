"""The CuPy track opens no hole: attacks of the NumPy track, and those by compiler and kernel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_worker.sandbox.inside.building import BuildRequest, encode_build
from gpu_worker.sandbox.inside.wire import FrameKind, encode_frame
from gpu_worker.sandbox.zygote import ZygoteProcess
from gpu_worker.tests.containment import Attack, attacks, gets_through, request, setups
from gpu_worker.tests.cupy.conftest import GradeCupy
from gpu_worker.tests.cupy.native import COMPILER, NATIVE, Native
from gpu_worker.tests.targets import Targets, public_shapes

REACHING = [attack for attack in attacks() if attack.reaches]
JUDGED = [attack for attack in attacks() if attack.kind == "judge"]


def by_name(item: Attack | Native) -> str:
    return item.name


@pytest.fixture(scope="module")
def targets() -> Iterator[Targets]:
    with Targets() as targets:
        yield targets


@pytest.fixture(scope="module")
def walled() -> Iterator[ZygoteProcess]:
    with ZygoteProcess(setups()["A"]) as zygote:
        yield zygote


@pytest.fixture(scope="module")
def without_namespaces() -> Iterator[ZygoteProcess]:
    with ZygoteProcess(setups()["B, no namespaces"]) as zygote:
        yield zygote


# --- the attacks of the NumPy track ---------------------------------------------------------------
@pytest.mark.parametrize("attack", REACHING, ids=by_name)
def test_no_attack_succeeds_beside_the_stand_in(
    attack: Attack, walled: ZygoteProcess, targets: Targets
) -> None:
    assert attack.stopped_at(setups()["A"])
    assert gets_through(attack, walled, targets, "cupy") == ""


@pytest.mark.parametrize("attack", [a for a in REACHING if a.kind == "reach"], ids=by_name)
def test_no_further_attack_succeeds_without_namespaces(
    attack: Attack, without_namespaces: ZygoteProcess, targets: Targets
) -> None:
    if attack.stopped_at(setups()["B, no namespaces"]):
        assert gets_through(attack, without_namespaces, targets, "cupy") == ""
    else:
        assert attack.residual


@pytest.mark.parametrize("attack", JUDGED, ids=by_name)
def test_no_attack_on_the_judge_passes(attack: Attack, grade_cupy: GradeCupy) -> None:
    # They return NumPy arrays, which are refused here; forged frames are forged all the same.
    graded = grade_cupy(attack.source, cases="public", limits={"wall_seconds": 3.0})
    assert graded.outcome in {*attack.outcomes, "contract_error", "runtime_error"}
    assert graded.score < 1.0


def test_no_text_carries_hidden_inputs_back(grade_cupy: GradeCupy) -> None:
    (leak,) = [attack for attack in attacks() if attack.kind == "leak"]
    source = leak.source.replace("import numpy as np", "import cupy as np")
    graded = grade_cupy(f"PUBLIC_SHAPES = {public_shapes()!r}\n{source}")
    assert graded.outcome != "accepted"
    assert "LEAK" not in graded.report.model_dump_json()


# --- the compiler and native code -----------------------------------------------------------------
@pytest.mark.parametrize("attack", [*COMPILER, *NATIVE], ids=by_name)
def test_kernels_reach_no_more_than_python(
    attack: Native, grade_cupy: GradeCupy, right_arrays: str
) -> None:
    limits = {"wall_seconds": 12.0, "cpu_seconds": 4.0}
    graded = grade_cupy(attack.submission(right_arrays), cases="public", limits=limits)
    assert graded.outcome in attack.outcomes, graded.report.failure
    assert attack.leaks not in graded.report.model_dump_json()
    if "FOUND" in graded.report.output:
        # Kernel calls that went through at all were refused: their results are errors.
        found = graded.report.output.partition("FOUND ")[2].split("]")[0].strip("[]")
        assert all(int(word) <= 1 for word in found.split(","))


def test_after_the_attacks_a_correct_submission_is_accepted(
    grade_cupy: GradeCupy, right_arrays: str
) -> None:
    assert grade_cupy(right_arrays, cases="public").outcome == "accepted"


# --- what the runner says of itself ---------------------------------------------------------------
FORGED = """
import sys
host = sys.modules["cupy.host"]
host.fault = lambda result: ""
host.take_notes = lambda: {notes}
"""


def forged_frame(kind: FrameKind, payload: bytes, position: int = 0, count: int = 1) -> str:
    """Return lines that send a frame beside the harness's own."""
    frame = encode_frame(kind, 0, position, payload)
    return f"import os\nos.write(4, {count} * {frame!r})\n"


def test_forged_notes_cannot_cause_a_pass(grade_cupy: GradeCupy, right_arrays: str) -> None:
    counts = {"bytes_read": 0, "bytes_written": 0, "launches": 0}
    forged = FORGED.format(notes={"counts": counts, "diagnostics": []})
    wrong = right_arrays.replace("1 / cp.sqrt(", "2 / cp.sqrt(")
    assert grade_cupy(forged + wrong, cases="public").outcome == "wrong_answer"


@pytest.mark.parametrize(
    "notes",
    [
        '{"counts": {"bytes_read": -1, "bytes_written": 0, "launches": 0}}',
        '{"diagnostics": ["x"]}',
        '{"kernels": [{"name": 5}]}',
        "[]",
        '{"counts": {"bytes_read": 1e999, "bytes_written": 0, "launches": 0}}',
    ],
)
def test_impossible_notes_are_held_for_review(
    notes: str, grade_cupy: GradeCupy, right_arrays: str
) -> None:
    source = forged_frame(FrameKind.NOTES, notes.encode())
    assert grade_cupy(source + right_arrays, cases="public").outcome == "flagged"


@pytest.mark.parametrize(("position", "count"), [(60_000, 1), (2, 9)])
def test_notes_on_calls_that_were_not_made_are_held_for_review(
    position: int, count: int, grade_cupy: GradeCupy, right_arrays: str
) -> None:
    # Which calls notes belong to is only checked where calls are counted.
    counts = {"bytes_read": 1, "bytes_written": 1, "launches": 1}
    notes = json.dumps({"counts": counts}).encode()
    source = forged_frame(FrameKind.NOTES, notes, position, count)
    assert grade_cupy(source + right_arrays, cases="public").outcome == "accepted"
    assert grade_cupy(source + right_arrays).outcome == "flagged"


@pytest.mark.parametrize(
    "payload",
    [b"", b"\1", b"\xff\xff\xff\xff" + bytes(8), bytes(4) + b"\xff\xff\xff\x7fabc"],
)
def test_a_malformed_build_request_is_held_for_review(
    payload: bytes, grade_cupy: GradeCupy, right_arrays: str
) -> None:
    source = forged_frame(FrameKind.BUILD, payload)
    assert grade_cupy(source + right_arrays, cases="public").outcome == "flagged"


def test_frames_that_a_runner_may_write_are_not_forged(
    grade_cupy: GradeCupy, right_arrays: str
) -> None:
    """The control of the forged ones: it is what they hold that is refused."""
    build = encode_build(BuildRequest('extern "C" __global__ void nothing() {}', (), ()))
    source = forged_frame(FrameKind.NOTES, b"{}") + forged_frame(FrameKind.BUILD, build)
    assert grade_cupy(source + right_arrays, cases="public").outcome == "accepted"


def test_the_folder_of_builds_cannot_be_written_and_is_emptied(
    walled: ZygoteProcess, grade_cupy: GradeCupy, right_kernel: str
) -> None:
    source = """
import os
for path in ("/learnml/builds/0.json", "/learnml/builds/0.so", "/learnml/builds/x"):
    try:
        open(path, "w")
        print("BREACH", path)
    except OSError as error:
        print(error)
try:
    print("BREACH", os.listdir("/learnml/builds"))
except OSError as error:
    print(error)
"""
    result = walled.run(request(source, library="cupy"))
    assert b"BREACH" not in result.output.replace(b"BREACH []", b"")
    folder = Path(walled.builds)
    assert folder.is_dir()
    assert grade_cupy(right_kernel, cases="public").outcome == "accepted"
    assert list(folder.iterdir()) == []


def test_zygotes_do_not_share_builds(walled: ZygoteProcess) -> None:
    with ZygoteProcess(setups()["A"]) as other:
        other.start()
        secret = Path(other.builds, "0.so")
        secret.write_bytes(b"somebody else's kernel")
        source = f"""
for path in ("/learnml/builds/0.so", {str(secret)!r}):
    try:
        print("BREACH", open(path, "rb").read())
    except OSError as error:
        print(error)
"""
        assert b"BREACH" not in walled.run(request(source, library="cupy")).output
    assert not secret.exists()
