"""What a policy did wrong, in one sentence: which policy, when, about which group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.compiled import MOST_TURNS, ran_out
from workbench.engines.dispatch.prepare import placement_of, probes_of
from workbench.engines.dispatch.selecting import CHANNEL, FITS, PRIORITY, RANKED, WAITED, WAVES
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
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

SLOTS = ("probe", "priority", "selection", "stuck", "units", "choice", "placement", "shared_placement")
"""The policies by the number that the loop keeps of the one that went wrong."""

_WRONG = {
    "probe": "reported {answer} free blocks in a row, which no map of that size can have",
    "selection": "answered {answer}, which is not the position of a waiting group that fits; -1 dispatches nothing",
    "stuck": "answered {answer} parts, but it has fewer waves, or they are not independent",
    "choice": "gave module {answer} a score that is no number, or an infinite one that cannot be summed",
    "placement": "answered {answer}, which is not the start of a free range; -1 says that a request does not fit now",
}


def broken(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> PolicyError:
    """The sentence for what stopped a run."""
    status, cycle, group, answer, about = (int(state.counters[k]) for k in (STATUS, AT_CYCLE, AT_GROUP, ANSWER, ABOUT))
    if status == STARVED:
        return _starved(setup, state, cycle, answer)
    slot = SLOTS[about]
    when = f"at cycle {cycle}" + (f", group {group} ({columns.waves[group]} waves)" if group != NONE else "")
    name = setup.policies[slot].short()
    if status == RAISED_IN:
        return PolicyError(f"{name} ({slot}) {_cause(setup, shape, columns, rules, policies, state)} {when}.")
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


def _cause(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> str:
    """The exception by name: compiled code only tells that there was one, so ask again in plain Python."""
    if ran_out():
        return f"did not end within {MOST_TURNS:,} loop turns"
    slot = SLOTS[int(state.counters[ABOUT])]
    ask: Callable[..., Any] = {
        "probe": _ask_probe,
        "priority": _ask_priority,
        "selection": _ask_selection,
        "stuck": _ask_stuck,
        "units": _ask_units,
        "choice": _ask_choice,
        "placement": _ask_placement,
        "shared_placement": _ask_placement,
    }.get(slot, _ask_nothing)
    try:
        with np.errstate(divide="raise", invalid="raise"):
            ask(setup, shape, columns, rules, policies, state)
    except Exception as problem:
        return f"raised {type(problem).__name__} ({problem})"
    return "raised an exception"


def _ask_nothing(*_: Any) -> None:
    """A question that cannot be put again as it was."""


def _ask_probe(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    row = int(state.counters[ANSWER])
    h = max(k for k in range(shape.blocks.size) if 0 <= shape.first_map[k] <= row)
    words, blocks = state.free[row][: shape.words[h]], int(shape.blocks[h])
    probe = probes_of(setup, setup.machine.resources())[h]
    assert probe is not None
    probe.function()(words, blocks, probe.parameters())


def _ask_priority(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    cycle, group, level = (int(state.counters[k]) for k in (AT_CYCLE, AT_GROUP, ANSWER))
    policy = setup.policies["priority"]
    if group == NONE:
        type(policy).holds_until(cycle, rules.levels, policies.priority.params)  # type: ignore[attr-defined]
    else:
        waited = cycle - int(columns.arrival[group])
        policy.function()(cycle, level, rules.levels, waited, policies.priority.params)


def _ask_selection(
    setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State
) -> None:
    seen = [state.entry[k] for k in (CHANNEL, PRIORITY, RANKED, FITS, WAITED, WAVES)]
    cycle, count = int(state.counters[AT_CYCLE]), int(state.counters[WAITING])
    ready = policies.selection
    setup.policies["selection"].function()(cycle, count, *seen, ready.params, ready.memory.copy())


def _ask_stuck(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    group = int(state.counters[AT_GROUP])
    asked = (int(column[group]) for column in (columns.waves, columns.independent, columns.priority))
    setup.policies["stuck"].function()(*asked, rules.levels, policies.stuck.params)


def _ask_units(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    module = int(state.counters[ANSWER])
    counts = np.zeros(shape.units, np.int64)
    pointer, taken = int(state.pointer[module]), state.resident[module].copy()
    waves = int(state.counters[OF_WAVES])
    setup.policies["units"].function()(waves, shape.units, pointer, taken, counts, policies.units.params)


def _ask_choice(setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State) -> None:
    """Ask about all modules: which of them were candidates is not known any more."""
    term, cycle = int(state.counters[ANSWER]), int(state.counters[AT_CYCLE])
    if term == NONE:  # a notice, not a question
        return
    choice: Any = setup.policies["choice"]
    asked = choice.terms()[term][0]
    modules, scores = np.arange(shape.modules), np.zeros(shape.modules)
    recent = state.recent[int(asked.history_cycles() > 0 or asked.halving_cycles() > 0)]
    seen = (state.need, state.total, state.longest, shape.totals, recent, state.heat, scores)
    memory = state.term_memory[term][: policies.terms.sizes[term, 1]].copy()
    asked.function()(cycle, shape.modules, modules, *seen, asked.parameters(), memory)


def _ask_placement(
    setup: Setup, shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State
) -> None:
    group, row = (int(state.counters[k]) for k in (AT_GROUP, ANSWER))
    if group == NONE:  # a notice, not a question
        return
    h = max(k for k in range(shape.blocks.size) if 0 <= shape.first_map[k] <= row)
    size = int(columns.demand[group, h])
    if h < shape.of_unit and not rules.a_block_a_wave:
        size *= int(state.counts[(row - shape.first_map[h]) % shape.units])
    policy = placement_of(setup, setup.machine.resources()[h])
    words, memory = state.free[row][: shape.words[h]].copy(), state.memory[row][: shape.remembers[h]].copy()
    length = int(shape.footprint[h, size])
    policy.function()(words, int(shape.blocks[h]), length, policy.parameters(), memory)
