"""The first events of a run: the arrivals of its applications."""

from __future__ import annotations

from workbench.engines.kit.order import RANK, moment
from workbench.engines.node.agenda import enter
from workbench.engines.node.keys import ABSENT, owner
from workbench.engines.node.planning import WHAT
from workbench.engines.node.state import Run


def start(run: Run) -> None:
    """Enter the arrivals of all applications."""
    plan = run.plan
    for application, arrival in enumerate(plan.arrival.tolist()):
        words = owner(int(plan.home[application]), application, ABSENT, ABSENT)
        enter(run.state.agenda, moment(arrival, RANK.steps), words, 0, WHAT.arrive, application)
