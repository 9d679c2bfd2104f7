"""The first events of a run: the arrivals of its applications."""

from __future__ import annotations

from workbench.engines.kit.order import RANK, RANKS
from workbench.engines.node.agenda import ENTERED, EVENTS
from workbench.engines.node.planning import WHAT
from workbench.engines.node.state import Run

CARD_BITS, APPLICATION_BITS = 56, 42
"""Where the fields of an application lie in the first word of K (`keys.owner`); what is absent is 0."""


def start(run: Run) -> None:
    """Enter the arrivals of all applications; in their order they are a heap."""
    plan, agenda = run.plan, run.state.agenda
    rows = []
    for application, arrival in enumerate(plan.arrival.tolist()):
        first = (int(plan.home[application]) + 1) << CARD_BITS | (application + 1) << APPLICATION_BITS
        rows.append((arrival * RANKS + RANK.steps, first, 0, application, WHAT.arrive, application))
    agenda.counters[EVENTS] = agenda.counters[ENTERED] = len(rows)
    agenda.heap[: len(rows)] = sorted(rows)
