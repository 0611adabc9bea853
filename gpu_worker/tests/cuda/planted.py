"""All planted bugs, in the order of their modules."""

from __future__ import annotations

from gpu_worker.tests.cuda import planted_barriers, planted_launches, planted_memory

PLANTED = planted_barriers.PLANTED + planted_memory.PLANTED + planted_launches.PLANTED
