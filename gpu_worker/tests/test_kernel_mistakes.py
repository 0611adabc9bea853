"""Mistakes of kernels in the sum over a row: computed as their threads would, and named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.thread_sums import (
    BLOCKS,
    Threads,
    for_mean_over,
    held_by_first_thread,
    left_in_one_thread,
    of_first_elements,
    of_warps,
    own,
    shuffled_without,
    times,
    without_step,
)
from gpu_worker.judge.diagnosis.search import diagnose
from gpu_worker.judge.strength.rehearsal import drawn, rehearse
from gpu_worker.messages.protocol import Track

ROW = np.arange(1.0, 151.0)
"""So long that threads of a block of 64 have two or three elements each."""


# --- as a block of 64 threads would, thread by thread ---------------------------------------------
def own_sums(at_once: int = 1) -> list[float]:
    at_once = at_once if ROW.size % at_once == 0 else 1
    sums = [0.0] * 64
    for j, value in enumerate(ROW):
        sums[j // at_once % 64] += value
    return sums


def shuffled(
    sums: list[float], *, down: bool, offsets: Sequence[int] = (16, 8, 4, 2, 1)
) -> list[float]:
    for offset in offsets:
        before = list(sums)
        for thread in range(len(sums)):
            lane = thread % 32
            other = lane + offset if down else lane ^ offset
            sums[thread] = before[thread] + before[thread - lane + other if other < 32 else thread]
    return sums


def as_columns(sums: list[float], at_once: int = 1) -> list[float]:
    return [sums[j // at_once % 64] for j in range(ROW.size)]


def first_thread_adds(*, down: bool) -> list[float]:
    sums = shuffled(own_sums(), down=down)
    sums[0] = sums[0] + sums[32]
    return sums


def first_warp_shuffles(*, down: bool) -> list[float]:
    sums = shuffled(own_sums(), down=down)
    sums[:32] = shuffled([sums[0], sums[32], *[0.0] * 30], down=down)
    return sums


def tree() -> list[float]:
    places = own_sums()
    for half in (32, 16, 8, 4, 2, 1):
        for thread in range(half):
            places[thread] += places[thread + half]
    return places


def test_elements_are_distributed_over_threads() -> None:
    np.testing.assert_array_equal(own(Threads(64))(ROW), as_columns(own_sums()))
    pairs = own(Threads(64, 2))(ROW)
    np.testing.assert_array_equal(pairs, as_columns(own_sums(2), 2))
    # Four do not divide 150.
    np.testing.assert_array_equal(own(Threads(64, 4))(ROW), as_columns(own_sums()))
    # 64 pieces of 150 elements have three each.
    pieces = [sum(ROW[3 * (j // 3) : 3 * (j // 3) + 3]) for j in range(150)]
    np.testing.assert_array_equal(own(Threads(64, 0))(ROW), pieces)


def test_sums_that_leave_out_some_threads() -> None:
    sums = own_sums()
    block = Threads(64)
    np.testing.assert_array_equal(of_warps(block, slice(0, 1))(ROW), [sum(sums[:32])])
    np.testing.assert_array_equal(of_warps(block, slice(-1, None))(ROW), [sum(sums[32:])])
    halves = sum(sums[:16]) + sum(sums[32:48])
    np.testing.assert_array_equal(without_step(block, 16)(ROW), [halves])
    np.testing.assert_array_equal(without_step(block, 1)(ROW), [sum(sums[::2])])
    for left_out, offsets in ((16, (8, 4, 2, 1)), (1, (16, 8, 4, 2))):
        exchanged = shuffled(own_sums(), down=False, offsets=offsets)
        found = shuffled_without(block, left_out)(ROW)
        np.testing.assert_array_equal(found, as_columns(exchanged))


def test_one_sum_replaced_for_all_threads() -> None:
    assert times(4)(ROW) == 4 * ROW.sum()
    assert of_first_elements(64)(ROW) == ROW[:64].sum()
    assert for_mean_over(lambda dim: 256)(ROW) / 150 == pytest.approx(ROW.sum() / 256, rel=1e-15)


def test_a_variable_only_right_in_the_first_thread() -> None:
    held = held_by_first_thread(Threads(64), 0.0)(ROW)
    assert {j for j in range(150) if held[j]} == {0, 64, 128}
    assert held[64] == ROW.sum()


def test_a_sum_that_stays_in_one_thread() -> None:
    expected = [
        tree(),
        *(
            adds(down=down)
            for down in (True, False)
            for adds in (first_thread_adds, first_warp_shuffles)
        ),
    ]
    found = [total(ROW) for total in left_in_one_thread(Threads(64))]
    np.testing.assert_array_equal(found, [as_columns(sums) for sums in expected])
    assert {sums[0] for sums in expected} == {ROW.sum()}
    # In a single warp: a tree, shuffles down, and sums of the lanes before.
    *_, scanned = (total(ROW) for total in left_in_one_thread(Threads(32)))
    assert (scanned[0], scanned[31]) == (ROW[0::32].sum(), ROW.sum())


@pytest.mark.parametrize("count", BLOCKS)
@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 5), (2, 3, 40)])
def test_batches_of_any_rank_may_be_empty(count: int, shape: tuple[int, ...]) -> None:
    threads = Threads(count)
    for total in (own(threads), without_step(threads, 16), *left_in_one_thread(threads)):
        assert total(np.ones(shape)).shape[:-1] == shape[:-1]


# --- named ---------------------------------------------------------------------------------------
def one_of_each(slug: str) -> dict[str, KnownMistake]:
    """Return for each id the form in the middle: a block of 128 or 256 threads, as most have."""
    forms: dict[str, list[KnownMistake]] = {}
    for known in get(slug).kernel_mistakes():
        forms.setdefault(known.id, []).append(known)
    return {id: same[len(same) // 2] for id, same in forms.items()}


IDS = {
    *("divided-by-constant", "divided-by-rounded", "mean-too-large", "first-elements-only"),
    *("own-sum-only", "sum-in-one-thread", "one-thread-only"),
    *("half-summed", "one-warp-only", "one-warp-missing"),
}


@pytest.mark.parametrize(
    ("slug", "ids"),
    [
        ("rmsnorm_one_launch", IDS),
        ("layernorm_fused_forward", {"own-sum-only", "padding-in-variance"}),
    ],
)
def test_each_is_named_alone_and_only_on_the_cupy_track(slug: str, ids: set[str]) -> None:
    exercise = get(slug)
    cases = drawn(exercise, 11)
    mistakes = one_of_each(slug)
    assert set(mistakes) >= IDS
    for id in sorted(ids):
        runs = rehearse(exercise, mistakes[id].submission, 11, cases=cases)
        assert not any(item.played.problem for run in runs for item in run)
        assert [mistake.id for mistake in diagnose(exercise, runs, Track.CUPY)] == [id]
    assert diagnose(exercise, runs, Track.NUMPY) == []
