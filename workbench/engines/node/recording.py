"""The record of a run."""

from __future__ import annotations

from workbench.engines.node.state import APPLICATION, COUNT, GROUP, State
from workbench.records.node import NodeRecord


def record_of(state: State) -> NodeRecord:
    """Return what happened in a run."""
    counters = state.counters
    counts = {name: int(counters[place]) for name, place in zip(COUNT._fields, COUNT)}
    messages, details = state.messages[: counts["messages"]], state.details[: counts["details"]]
    ended, began = state.group[:, GROUP.ended].copy(), state.group[:, GROUP.began].copy()
    refused = state.application[:, APPLICATION.refused] == 1
    return NodeRecord(counts["makespan"], began, ended, state.times.copy(), refused, counts, messages, details)
