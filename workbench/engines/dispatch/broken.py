"""What a policy did wrong, in one sentence: which policy, when, about which group."""

from __future__ import annotations

from workbench.engines.dispatch.shape import Columns
from workbench.engines.dispatch.state import (
    ABOUT,
    ANSWER,
    AT_CYCLE,
    AT_GROUP,
    NONE,
    OF_WAVES,
    RAISED_IN,
    STARVED,
    STATUS,
    WAITING,
    State,
)
from workbench.engines.engine import Setup
from workbench.errors import PolicyError
from workbench.policies.failing import why_it_failed

SLOTS = ("probe", "priority", "selection", "stuck", "units", "choice", "placement", "shared_placement")
"""The policies by the number that the loop keeps of the one that went wrong."""

_WRONG = {
    "probe": "reported {answer} free blocks in a row, which no map of that size can have",
    "selection": "answered {answer}, which is not the position of a waiting group that fits; -1 dispatches nothing",
    "stuck": "answered {answer} parts, but it has fewer waves, or they are not independent",
    "choice": "gave module {answer} a score that is no number, or an infinite one that cannot be summed",
    "placement": "answered {answer}, which is not the start of a free range; -1 says that a request does not fit now",
}


def broken(setup: Setup, columns: Columns, state: State) -> PolicyError:
    """The sentence for what stopped a run."""
    status, cycle, group, answer, about = (int(state.counters[k]) for k in (STATUS, AT_CYCLE, AT_GROUP, ANSWER, ABOUT))
    if status == STARVED:
        return _starved(setup, state, cycle, answer)
    slot = SLOTS[about]
    when = f"at cycle {cycle}" + (f", group {group} ({columns.waves[group]} waves)" if group != NONE else "")
    name = setup.policies[slot].short()
    if status == RAISED_IN:
        return PolicyError(f"{name} ({slot}) {why_it_failed(setup.policies[slot])}; {when}.")
    what = _shared_out(state) if slot == "units" else _WRONG[slot.removeprefix("shared_")].format(answer=answer)
    return PolicyError(f"{name} ({slot}) {what}; {when}.")


def _shared_out(state: State) -> str:
    """What a units policy answered, and of which module."""
    counts, waves = state.counts.tolist(), int(state.counters[OF_WAVES])
    rule = f"the counts must be {waves} in all and none below 0"
    return f"shared out {sum(counts)} waves over the units of module {int(state.counters[ANSWER])} as {counts}: {rule}"


def _starved(setup: Setup, state: State, cycle: int, tries: int) -> PolicyError:
    """The sentence for groups that wait although everything is empty, `tries` refusals at allocation ago."""
    waiting = int(state.counters[WAITING])
    often = f", {tries} times in a row" if tries > 1 else ""
    chosen = ", ".join(setup.policies[slot].short() for slot in ("selection", "placement", "shared_placement"))
    return PolicyError(
        f"{waiting} channels wait for ever at cycle {cycle} although all modules are empty: "
        f"one of {chosen} refuses what would fit{often}."
    )
