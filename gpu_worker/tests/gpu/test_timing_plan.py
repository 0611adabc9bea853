"""How much a timed call moves, and what does not fit."""

from __future__ import annotations

from gpu_worker.exercises import get
from gpu_worker.gpu.timing_plan import HUGE_ELEMENTS, free_host_bytes, huge_plan, timing_plan
from gpu_worker.tests.gpu.stand_in import FACTS

GIGABYTE = 1 << 30


def test_a_call_moves_half_a_gigabyte_and_takes_a_copy_half_a_millisecond() -> None:
    slow = FACTS.model_copy(update={"free_megabytes": 140_000})
    plan = timing_plan(get("rmsnorm"), slow, host=200 * GIGABYTE)
    assert plan is not None
    assert 2 * plan.nbytes >= 500_000_000
    fast = slow.model_copy(update={"copy_gigabytes_per_second": 4_000.0})
    plan = timing_plan(get("rmsnorm"), fast, host=200 * GIGABYTE)
    assert plan is not None
    assert 2 * plan.nbytes / 4e12 >= 0.5e-3
    assert plan.directions == ("forward", "backward")


def test_calls_that_do_not_fit_are_not_tried() -> None:
    facts = FACTS.model_copy(update={"free_megabytes": 20_000})
    huge = huge_plan(get("rmsnorm"), facts, host=20 * GIGABYTE)
    assert huge is not None
    assert huge.shape[0] * huge.shape[1] > HUGE_ELEMENTS
    assert (huge.dtype.name, huge.directions, huge.is_timed) == ("bfloat16", ("forward",), False)
    assert huge_plan(get("rmsnorm"), FACTS, host=20 * GIGABYTE) is None
    assert huge_plan(get("rmsnorm"), facts, host=10 * GIGABYTE) is None
    small = FACTS.model_copy(update={"free_megabytes": 2_000})
    assert timing_plan(get("rmsnorm"), small, host=20 * GIGABYTE) is None
    assert free_host_bytes() > 0
