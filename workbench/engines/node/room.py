"""Room for what lives at a time: tasks, touches, events, transfers, mapped pages.

It is estimated from the plan, and grows where that was too little; a run then begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.engines.node.pages import rounding_of
from workbench.engines.node.plan import Plan
from workbench.engines.node.prepare import Reading

MOST_TASKS, MOST_ACCESSES, MOST_PAGES, MOST_CHUNKS = 1 << 14, 1 << 16, 1 << 20, 1 << 11
SPARE = 64


def first_room(reading: Reading) -> Mapping[str, int]:
    """Return the sizes of a run's first attempt."""
    live = min(most_live(reading), MOST_TASKS)
    accesses = min(live * _most_touches(reading), MOST_ACCESSES) + SPARE
    return {
        "agenda": 2 * live + accesses + len(reading.plan.kind),
        "tasks": live + SPARE,
        "accesses": accesses,
        "pages": min(_runs(reading), MOST_PAGES) + SPARE,
        "links": min(accesses, 1 << 14),
        "tickets": max(_tensors(reading.plan) + min(_chunks(reading), MOST_CHUNKS), 1),
    }


def most_live(reading: Reading) -> int:
    """Return an upper bound of the groups, or sub-groups, that run at a time: their waves have slots."""
    machine, plan = reading.given.machine, reading.plan
    slots = len(machine.gpus) * machine.card.compute_units * machine.card.waves_a_unit
    entries = int((plan.groups * np.where(plan.independent, plan.waves, 1)).sum())
    return max(min(slots, entries), 1)


def _most_touches(reading: Reading) -> int:
    """Return how many pages a group touches in a phase, at most, as far as the plan says it."""
    plan, options = reading.plan, reading.given.options
    page = rounding_of(options.pages)
    pages = -(-plan.size[plan.tensor] // page) if plan.tensor.size else np.zeros(0, np.int64)
    if options.touches_a_phase:
        pages = np.minimum(pages, options.touches_a_phase)
    sums = np.bincount(plan.phase_of, np.minimum(pages, _FEW), minlength=1)
    return max(int(sums.max(initial=1)), 1)


_FEW = 16
"""Pages of a touch that are reckoned with at first: each group has a part of its tensor alone."""


def _runs(reading: Reading) -> int:
    """Return how many runs of pages are mapped at a time, about: some for each tensor."""
    return 4 * _tensors(reading.plan)


def _tensors(plan: Plan) -> int:
    return int(plan.size.size)


def _chunks(reading: Reading) -> int:
    """Return how many chunks heaps may ask of the pool, at most: one a lane of each call."""
    waits = reading.given.options.malloc == "wait"
    return int(reading.calls.phase.size) * reading.given.machine.card.wave_size if waits else 0
