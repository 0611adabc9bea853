"""Runs a launch in several thread orders, from the same memory, and compares the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .defects import Defect, cause_rank
from .diagnostics import Diagnostic
from .launching import Launching
from .memory import Allocation
from .report import LaunchReport, Order
from .snapshot import Content, Snapshot, content_of, restore


def run_in_orders(
    launching: Launching, orders: Sequence[Order], seed: int, step_limit: int
) -> LaunchReport:
    """Run in each order from the same memory, compare, and keep the first's result."""
    told = launching.writable()
    before: dict[Allocation, Content] = {allocation: content_of(allocation) for allocation in told}
    reports, results = [], []
    for order in orders:
        restore(before)
        snapshot = Snapshot(told)
        reports.append(launching.run(order, seed, step_limit, snapshot=snapshot))
        for allocation, content in snapshot.kept:
            before.setdefault(allocation, content)
        results.append({allocation: content_of(allocation) for allocation in before})
    # An allocation that this order did not write keeps the content that it had before.
    results = [{**before, **result} for result in results]
    restore(results[0])
    first = reports[0]
    for report in reports[1:]:
        known = {(item.kind, item.line) for item in first.diagnostics}
        first.diagnostics += [d for d in report.diagnostics if (d.kind, d.line) not in known]
    if all(item.kind is not Defect.ATOMIC_SUM for item in first.diagnostics):
        # Atomic sums already explain why the orders differ, and say more than the difference does.
        first.diagnostics += _differences(launching, results)
    first.diagnostics.sort(key=lambda item: cause_rank(item.kind))
    return first


def _differences(
    launching: Launching, results: Sequence[dict[Allocation, Content]]
) -> list[Diagnostic]:
    found = []
    for allocation, (first, _) in results[0].items():
        for other in results[1:]:
            different = np.flatnonzero(first != other[allocation][0])
            if different.size:
                formatter = launching.formatter()
                found.append(formatter.order_dependent(allocation, int(different[0])))
                break
    return found
