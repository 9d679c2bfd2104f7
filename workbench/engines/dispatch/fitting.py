"""Which modules does each group at the head of a channel fit? (spec 3, R3-R6)

Verdicts are kept, one bit an offer and module, and renewed only where something changed: all modules for a new offer,
all offers for a module that was dispatched to, that released something, or of which there is a new report.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.engines.dispatch.bits import change, holds
from workbench.engines.dispatch.entries import fail, group_of, needs, of_module, waves_of
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import NONE, RAISED_IN, WRONG_ANSWER, State
from workbench.policies.dispatch.units.question import UNITS

ask_units = UNITS.ask
ABOUT_UNITS = 4


@kernel
def shared_out(
    shape: Shape, columns: Columns, policies: Policies, state: State, entry: int, module: int, now: int
) -> int:
    """Ask how the entry's waves are shared out over the module's units; return the new pointer."""
    waves = waves_of(columns, state, entry)
    policy = policies.units
    pointer = ask_units(
        policy.answer, waves, shape.units, state.pointer[module], state.resident[module], state.counts, policy.params
    )
    given = 0
    for t in range(shape.units):
        given += state.counts[t] if state.counts[t] >= 0 else 1 << 40
    if pointer == RAISED:
        fail(state, RAISED_IN, now, group_of(columns, state, entry), pointer, ABOUT_UNITS)
    elif given != waves:
        fail(state, WRONG_ANSWER, now, group_of(columns, state, entry), given, ABOUT_UNITS)
    return pointer


@kernel
def _units_have_room(
    shape: Shape, columns: Columns, rules: Rules, state: State, group: int, module: int
) -> bool:
    for h in range(shape.of_unit):
        wanted = columns.demand[group, h]
        if wanted == 0:
            continue
        for t in range(shape.units):
            waves, unit = state.counts[t], module * shape.units + t
            if waves == 0:
                continue
            if shape.first_map[h] < 0:
                room = state.count[h, unit] >= waves * wanted
            else:
                asked = min(wanted if rules.a_block_a_wave else waves * wanted, shape.footprint.shape[1] - 1)
                room = state.report[shape.first_map[h] + unit] >= shape.footprint[h, asked]
            if not room:
                return False
    return True


@kernel
def _module_has_room(shape: Shape, columns: Columns, state: State, entry: int, module: int) -> bool:
    for h in range(shape.of_unit, shape.blocks.size):
        wanted = of_module(columns, state, entry, h)
        if wanted == 0:
            continue
        if shape.first_map[h] < 0:
            room = state.count[h, module] >= wanted
        else:
            room = state.report[shape.first_map[h] + module] >= shape.footprint[h, wanted]
        if not room:
            return False
    return True


@kernel
def _judge(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, offer: int, module: int, now: int
) -> None:
    """Renew the verdict on an offer and a module."""
    entry = state.offer[offer]
    fits = not holds(state.banned[offer], module) and _module_has_room(shape, columns, state, entry, module)
    if fits:
        shared_out(shape, columns, policies, state, entry, module, now)
        fits = _units_have_room(shape, columns, rules, state, group_of(columns, state, entry), module)
    state.fitting[offer] += change(state.fits[offer], module, fits)


@kernel
def judge_all(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    first: int,
    last: int,
    module: int,
    now: int,
) -> None:
    """Renew the verdicts on the offers from `first` to `last` - 1: for one module, or for all of them if it is -1.

    The sums of all free blocks are looked at first, of all modules in one go; where reports may promise more than is
    free, they decide nothing.
    """
    low, high = (0, shape.modules) if module == NONE else (module, module + 1)
    for offer in range(first, last):
        entry = state.offer[offer]
        if entry == NONE:
            continue
        needs(shape, columns, state, entry, state.need)
        for m in range(low, high):
            state.open[m] = True
        for h in range(shape.blocks.size):
            for m in range(low, high):
                state.open[m] &= state.total_by[h, m] >= state.need[h]
        for m in range(low, high):
            enough = state.open[m]
            state.enoughs[offer] += change(state.enough[offer], m, enough)
            if enough or not rules.sums_first:
                _judge(shape, columns, rules, policies, state, offer, m, now)
            else:
                state.fitting[offer] += change(state.fits[offer], m, False)


@kernel
def lift_bans(state: State, module: int) -> None:
    """The module has changed: offers that it refused at allocation may be tried again."""
    for offer in range(state.offer.size):
        change(state.banned[offer], module, False)


@kernel
def forget_verdicts(state: State, offer: int) -> None:
    """An offer that has gone fits nothing."""
    for word in range(state.fits.shape[1]):
        state.fits[offer, word] = state.enough[offer, word] = state.banned[offer, word] = np.uint64(0)
    state.fitting[offer] = state.enoughs[offer] = 0


@kernel
def move_verdicts(state: State, offer: int, to: int) -> None:
    """An offer has moved up in its channel, and its verdicts with it."""
    for word in range(state.fits.shape[1]):
        state.fits[to, word], state.enough[to, word] = state.fits[offer, word], state.enough[offer, word]
        state.banned[to, word] = state.banned[offer, word]
    state.fitting[to], state.enoughs[to] = state.fitting[offer], state.enoughs[offer]
