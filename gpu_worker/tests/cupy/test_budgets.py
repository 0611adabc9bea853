"""Budgets: a correct submission that moves or launches too much is told so and not accepted."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from gpu_worker.cupy_cpu.executor import ArrayTraffic, Counters
from gpu_worker.cupy_cpu.launch_sums import MOST_ARRAYS, LaunchSums
from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.spec import Budget
from gpu_worker.gpu import cases as device_cases
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.kernels.advice import narrow, of_call, read_again
from gpu_worker.judge.kernels.budgets import budget_results, over_budget, spent
from gpu_worker.judge.kernels.counting import counted_shapes
from gpu_worker.judge.verdict.notes import KernelNote
from gpu_worker.messages.protocol import Counted, CountedCall, Finding, KernelCounts, Track
from gpu_worker.sandbox.inside import wire
from gpu_worker.tests.cupy.conftest import GradeCupy, submission

FORWARD = get("rmsnorm_fused_forward")
KERNEL = KernelCounts(
    name="k", launches=1, grid=[16], block=[256], shared_bytes=0, barriers_per_row=1,
    coalescing=1.0, bank_conflicts=0, registers=None, spilled_bytes=None, occupancy=None,
)  # fmt: skip
STEPS = [slug for slug in slugs() if get(slug).budgets]


def counted(shape: tuple[int, int], moved: float, launches: int = 1) -> Counted:
    size = 4 * shape[0] * shape[1]
    call = CountedCall(
        direction="forward", bytes_read=int((moved - 1) * size), bytes_written=size,
        bytes_least=2 * size, launches=launches, kernels=[],
    )  # fmt: skip
    return Counted(shape=list(shape), dtype="float32", rows=[call])


def judged(*counts: Counted) -> tuple[bool | None, int, str]:
    spendings = spent(FORWARD, counts)
    (group,) = budget_results(FORWARD, spendings)
    failure = over_budget(spendings)
    assert group.cases == 2
    return group.passed, group.cases_passed, failure.message if failure else ""


def test_counts_equal_to_the_budget_are_within_it() -> None:
    assert judged(counted((16, 1024), 2.25), counted((8, 4096), 2.125)) == (True, 2, "")


def test_exceeding_a_budget_gives_the_numbers_and_a_remedy() -> None:
    passed, kept, message = judged(counted((16, 1024), 2.0625), counted((8, 4096), 2.5))
    assert (passed, kept) == (False, 1)
    assert message.startswith(
        "Every result is right. But for x of shape 8 × 4096, forward moves 2.5 times the bytes of "
        "x (1.5 read, 1 written) in 1 launch; allowed are 2.25 times in 1 launch. Once a "
    )


def test_launches_have_a_separate_bound() -> None:
    passed, kept, message = judged(counted((16, 1024), 2.0, 2), counted((8, 4096), 2.0))
    assert (passed, kept) == (False, 1)
    assert "in 2 launches; allowed are 2.25 times in 1 launch. What is moved would do." in message
    assert "Of the 2 launches 2 are no kernels of yours: to fill a new array" in message
    # Also where more is moved than is allowed, if one of several launches is of a kernel.
    item = counted((16, 1024), 3.0, 2)
    item.rows[0].kernels.append(KERNEL)
    _, _, message = judged(item, counted((8, 4096), 2.0))
    assert "Of the 2 launches 1 is no kernel of yours:" in message
    assert "What is moved would do" not in message
    item.rows[0].kernels.append(KERNEL)
    assert "of yours" not in judged(item, counted((8, 4096), 2.0))[2]


def test_without_launches_nothing_was_done_on_the_device() -> None:
    passed, kept, message = judged(counted((16, 1024), 2.0, 0), counted((8, 4096), 2.0))
    assert (passed, kept) == (False, 1)
    assert "forward launched no kernel" in message


def test_loads_and_stores_have_a_width() -> None:
    exercise = get("rmsnorm_sixteen_bytes")
    for wide, less, kept in ((16.0, 12.0, 2), (16.0, 11.9, 1), (8.0, None, 0)):
        counts = [counted((16, 1024), 2.0), counted((8, 4096), 2.0)]
        for item, at_once in zip(counts, (wide, less), strict=True):
            item.rows[0] = item.rows[0].model_copy(
                update={"kernels": [KERNEL.model_copy(update={"bytes_at_once": at_once})]}
            )
        (group,) = budget_results(exercise, spent(exercise, counts))
        assert group.cases_passed == kept
    failure = over_budget(spent(exercise, counts))
    assert failure is not None
    assert "moves only 8 bytes of one of the arrays at once, on average; at least 12 are" in (
        failure.message
    )
    without_kernels = [counted((16, 1024), 2.0), counted((8, 4096), 2.0)]
    unknown = spent(exercise, without_kernels)
    assert not any(one.kept for one in unknown)
    assert (failure := over_budget(unknown)) is not None
    assert "is not known of all that they move" in failure.message


def test_local_arrays_too_large_for_a_multiprocessor_are_in_memory() -> None:
    kernel = KernelCounts(
        name="k", launches=1, grid=[16], block=[1], shared_bytes=0, barriers_per_row=1,
        coalescing=1.0, bank_conflicts=0, registers=32, spilled_bytes=8192, occupancy=None,
    )  # fmt: skip
    other = counted((8, 4096), 2.0)
    for threads, spilled, kept in ((1, 8192, True), (1, 8196, False), (512, 512, True),
                                   (513, 512, False), (1024, None, True)):  # fmt: skip
        item = counted((16, 1024), 2.0)
        update = {"block": [threads], "spilled_bytes": spilled}
        item.rows[0] = item.rows[0].model_copy(
            update={"kernels": [kernel.model_copy(update=update)]}
        )
        passed, _, message = judged(item, other)
        assert passed is kept
        assert kept or "there is room for" in message


def test_a_kernel_that_no_device_accepts_exceeds_its_budget() -> None:
    counts = [counted((16, 1024), 2.0), counted((8, 4096), 2.0)]
    found = Finding(kind="compile-error", severity="warning", kernel="", line=7, kernel_line=5,
                    message="On a device: expression must have a constant value.")  # fmt: skip
    refused = {((16, 1024), "forward"): found, ((16, 1024), "backward"): found}
    spendings = spent(FORWARD, counts, refused)
    assert [one.kept for one in spendings] == [False, True]
    assert (failure := over_budget(spendings)) is not None
    assert "runs here (line 7 of your file). On a device: expression must" in failure.message
    assert FORWARD.budgets[0].explanation not in failure.message
    # So is what has a launch that no device makes, whatever call launched it.
    launch = found.model_copy(update={"kind": "launch-size", "case": "normal, shape (2, 8192)"})
    spendings = spent(FORWARD, counts, {((16, 1024), "forward"): launch})
    assert (failure := over_budget(spendings)) is not None
    assert "no device makes (normal, shape (2, 8192)). On a device:" in failure.message
    # Excess traffic is reported first, since that also helps after the source is fixed.
    spendings = spent(FORWARD, [counted((16, 1024), 3.0), counts[1]], refused)
    assert (failure := over_budget(spendings)) is not None
    assert "moves 3 times the bytes of x" in failure.message


def test_what_was_not_counted_exceeds_its_budget() -> None:
    twice = counted((16, 1024), 2.0)
    twice = twice.model_copy(update={"rows": twice.rows * 2})
    for first in (None, twice):
        counts = [*([first] if first else []), counted((8, 4096), 2.0)]
        passed, kept, message = judged(*counts)
        assert (passed, kept) == (False, 1)
        assert "no call of forward could be counted for x of shape 16 × 1024" in message


def test_counts_below_the_minimum_are_incomplete() -> None:
    passed, kept, message = judged(counted((16, 1024), 1.5), counted((8, 4096), 2.0))
    assert (passed, kept) == (False, 1)
    assert "was seen to move only 1.5 times the bytes of x, and must move 2 times" in message


def test_the_host_is_no_way_around_a_budget(grade_cupy: GradeCupy) -> None:
    slug = "rmsnorm_two_kernels"
    source = """
import cupy as cp
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        wide = x.get().astype(np.float64)
        rstd = 1 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        return cp.asarray((wide * rstd * self.gamma.get()).astype(np.float32))
"""
    graded = grade_cupy(source, slug)
    assert graded.outcome == "contract_error"
    assert graded.report.failure is not None
    assert "moves 4.12 times" in graded.report.failure.message
    assert "in 0 launches" in graded.report.failure.message
    assert any("Values go to the host" in note for note in graded.report.notes)


def test_a_group_without_counts_was_not_run() -> None:
    (group,) = budget_results(FORWARD, None)
    assert (group.passed, group.cases, group.cases_passed) == (None, 2, 0)
    assert budget_results(get("rmsnorm"), None) == []


def test_shapes_of_budgets_are_each_counted_once_after_the_exercises() -> None:
    assert counted_shapes(FORWARD) == [(16, 1024), (8, 4096)]
    assert counted_shapes(get("softmax_cross_entropy")) == []
    alone = dataclasses.replace(FORWARD, counted_shape=None)
    assert counted_shapes(alone) == [(16, 1024), (8, 4096)]


@pytest.mark.parametrize("slug", STEPS)
def test_the_starter_is_right_and_over_the_budget(slug: str, grade_cupy: GradeCupy) -> None:
    graded = grade_cupy(get(slug).starter("cupy"), slug, timed=False)
    report = graded.report
    assert graded.outcome == "contract_error"
    assert [group.id for group in report.groups if not group.passed] == ["traffic"]
    weight = next(group.weight for group in get(slug).groups if group.id == "traffic")
    assert graded.score == pytest.approx(1 - weight)
    assert report.failure is not None
    assert report.failure.message.startswith("Every result is right.")
    assert report.failure.message.endswith(get(slug).budgets[0].explanation)
    assert report.counted is not None
    assert not report.mistakes


def test_a_wrong_program_is_not_counted_and_the_public_cases_have_no_budget(
    grade_cupy: GradeCupy,
) -> None:
    slug = "rmsnorm_two_kernels"
    graded = grade_cupy(submission("eps_outside_root", "wrong", slug), slug, cases="public")
    assert [mistake.id for mistake in graded.report.mistakes] == ["eps-outside-root"]
    assert [group.id for group in graded.report.groups] == ["public"]
    assert graded.report.mistakes[0].formula == "rmsnorm"


def test_a_submission_whose_counts_cannot_be_read_is_held(
    grade_cupy: GradeCupy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(frames: Any) -> Any:
        raise wire.WireError("not as an honest runner writes them")

    monkeypatch.setattr("gpu_worker.judge.kernels.counting.read_notes", unreadable)
    source = (FORWARD.folder / "reference_cupy.py").read_text(encoding="utf-8")
    assert grade_cupy(source, FORWARD.slug).outcome == "flagged"


def test_every_budget_names_a_group_of_its_own_and_can_be_kept() -> None:
    for slug in STEPS:
        exercise = get(slug)
        groups = {group.id for group in exercise.groups}
        budgets: tuple[Budget, ...] = exercise.budgets
        assert {budget.group for budget in budgets} <= groups
        for budget in budgets:
            assert budget.group not in {plan.group for plan in exercise.plans}
            assert budget.direction in exercise.directions
            assert budget.moved > {"forward": 2, "backward": 3}[budget.direction]
            assert budget.explanation.endswith(".")
            assert budget.at_once is None or 4 < budget.at_once <= 16


def test_cases_for_a_device_stay_within_the_contract() -> None:
    for slug in STEPS:
        assert {plan.dtype for plan in device_cases.plans(get(slug))} == {"float32"}
        assert not get(slug).has_kernels_for("bfloat16")
    assert len(device_cases.plans(get("rmsnorm"))) == 5


@pytest.mark.parametrize("slug", STEPS)
def test_every_grading_tries_the_longest_row_that_the_statement_promises(slug: str) -> None:
    exercise = get(slug)
    longest = exercise.longest_row
    assert longest is not None
    assert f"1 <= D <= {longest}." in exercise.starter("cupy")
    for seed in range(3):
        cases = casegen.hidden_cases(exercise, seed, Track.CUPY)
        at_the_bound = {
            case.shape[-1]: case.checks for case in cases if case.shape[-1] >= longest - 1
        }
        assert at_the_bound == dict.fromkeys((longest, longest - 1), frozenset(exercise.results))
        most_rows = max(math.prod(case.shape[:-1]) for case in cases)
        assert most_rows >= (64 if exercise.gradients else 2_113)


def advice(slug: str, direction: str, read: float, written: float) -> list[str]:
    """Return what is said of one call of one kernel, in arrays of x's size."""
    size = 4 * 64 * 1024
    kernel = KernelCounts(
        name="k", launches=1, grid=[64], block=[256], shared_bytes=0, barriers_per_row=1,
        coalescing=1.0, bank_conflicts=0, registers=None, spilled_bytes=None, occupancy=None,
    )  # fmt: skip
    call = CountedCall(
        direction=direction, bytes_read=int(read * size), bytes_written=int(written * size),
        bytes_least={"forward": 2, "backward": 3}[direction] * size, launches=1,
        kernels=[kernel],
    )  # fmt: skip
    return list(of_call(get(slug), call, size))


def test_advice_is_limited_to_the_goals_of_the_exercise() -> None:
    assert advice("rmsnorm_two_kernels", "forward", 2.02, 1) == []
    assert advice("rmsnorm_fused_backward", "forward", 4, 3) == []
    assert advice("rmsnorm_fused_backward", "backward", 2.2, 1.1) == []
    assert len(advice("rmsnorm", "forward", 2.02, 1)) == 1


def traffic(nbytes: int, read: int) -> ArrayTraffic:
    """Return what a launch did that reads one array, four bytes at once."""
    return ArrayTraffic(0, "x", nbytes, read, 0, read // 4, 0, max(0, read - nbytes), 0, read)


def summed(launches: list[tuple[int, int, int]]) -> KernelNote:
    """Return what is noted of launches of one kernel: blocks, the array's bytes, bytes read."""
    sums = LaunchSums("k", 0, generated=False)
    for blocks, nbytes, read in launches:
        arrays = (traffic(nbytes, read),)
        counters = Counters(barriers=blocks, global_bytes_read=read, arrays=arrays)
        sums.add((blocks, 1, 1), (256, 1, 1), 0, counters)
    return KernelNote.model_validate(sums.as_dict())


def test_each_launch_of_a_kernel_counts_with_what_it_moved_itself() -> None:
    large, small = (15, 4096, 15 * 4096), (1, 4096, 4096)
    note = summed([large, small])
    assert note == summed([small, large])
    assert (note.launches, note.grid, note.counters.barriers) == (2, [15, 1, 1], 16)
    (array,) = note.counters.arrays
    assert (array.bytes_read, array.again_read, array.most_read) == (65536, 57344, 61440)
    assert array.at_once == 4


def test_sums_of_launches_take_constant_space() -> None:
    note = summed([(1, 4 + number // 2, 40) for number in range(4 * MOST_ARRAYS)])
    assert note.launches == 4 * MOST_ARRAYS
    assert note.counters.global_bytes_read == 40 * note.launches
    assert sum(array.bytes_read for array in note.counters.arrays) == 2 * 40 * MOST_ARRAYS


def of_an_array(slug: str, read: float, reads: int, label: str = "") -> list[str]:
    """Return what is said of x, one array of x's size that a kernel reads, in so many loads."""
    size = 4 * 16 * 1024
    array = {"place": 0, "nbytes": size, "bytes_read": int(read * size), "bytes_written": 0}
    array |= {"most_read": array["bytes_read"], "label": label}
    kernel = KernelNote.model_validate({
        **{"name": "k", "build": 0, "grid": [1], "block": [256], "shared_mem": 0, "launches": 1},
        "counters": {
            **{"barriers": 0, "global_bytes_read": 0, "global_bytes_written": 0},
            "arrays": [{**array, "reads": reads, "writes": 0}],
        },
    })  # fmt: skip
    call = counted((16, 1024), read + 1).rows[0]
    again = read_again(get(slug), call, kernel, "k", size)
    return [*again, *narrow(get(slug), call, kernel, "k", 4 * 1024)]


def test_reading_twice_is_mentioned_where_it_is_too_much() -> None:
    for slug in ("rmsnorm_two_kernels", "rmsnorm_one_launch"):
        assert of_an_array(slug, 2, 32 * 1024) == []
    (again,) = of_an_array("rmsnorm_fused_forward", 2, 32 * 1024)
    assert again.endswith(
        "reads its argument 1 (an array) twice. Once is enough: keep the row in registers or in "
        "shared memory."
    )


def test_the_array_whose_loads_are_narrow_is_named() -> None:
    assert of_an_array("rmsnorm_sixteen_bytes", 1, 4 * 1024) == []
    assert of_an_array("rmsnorm_sixteen_bytes", 1, 16 * 1024) == [
        "forward, k: moves its argument 1 (an array) 4 bytes at once on average; 12 are asked for."
    ]
    (named,) = of_an_array("rmsnorm_sixteen_bytes", 1, 16 * 1024, label="x")
    assert named.startswith("forward, k: moves x 4 bytes at once")


def test_advice_says_only_what_the_counts_show() -> None:
    (parts,) = advice("rmsnorm_fused_backward", "backward", 3.02, 2.02)
    assert parts.endswith("is written and read once more. Leave fewer parts.")
    (read,) = advice("rmsnorm_fused_backward", "backward", 4, 1)
    assert read.endswith("where NDs is the size of x.")
