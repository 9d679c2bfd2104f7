"""Which modules does each group at the head of a channel fit? (spec 3, R3-R6)

Verdicts are kept, one bit an offer and module, and renewed before a round only where something changed: all modules for
a new offer, all offers for a module that was dispatched to, that released something, or of which there is a new report.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED, kernel, routine
from workbench.engines.dispatch.bits import change, holds
from workbench.engines.dispatch.entries import fail, group_of, needs, of_module, waves_of
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import CHANGED, NONE, RAISED_IN, WRONG_ANSWER, State
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
        fail(state, RAISED_IN, now, group_of(columns, state, entry), module, ABOUT_UNITS)
    elif given != waves:
        fail(state, WRONG_ANSWER, now, group_of(columns, state, entry), given, ABOUT_UNITS)
    return pointer


@kernel
def _units_have_room(shape: Shape, columns: Columns, rules: Rules, state: State, group: int, module: int) -> bool:
    for h in range(shape.of_unit):
        wanted = columns.demand[group, h]
        if wanted == 0:
            continue
        for t in range(shape.units):
            waves, unit = state.counts[t], module * shape.units + t
            if waves == 0:
                continue
            if shape.first_map[h] < 0:
                room = state.free_count[h, unit] >= waves * wanted
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
            room = state.free_count[h, module] >= wanted
        else:
            room = state.report[shape.first_map[h] + module] >= shape.footprint[h, wanted]
        if not room:
            return False
    return True


@kernel
def _fits(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, offer: int, module: int, now: int
) -> bool:
    entry = state.offer[offer]
    if holds(state.banned[offer], module) or not _module_has_room(shape, columns, state, entry, module):
        return False
    shared_out(shape, columns, policies, state, entry, module, now)
    return _units_have_room(shape, columns, rules, state, group_of(columns, state, entry), module)


@kernel
def _open_to(shape: Shape, state: State, everywhere: bool) -> int:
    """List the modules to be judged, all or those that changed, and which have enough free blocks in total."""
    changed = shape.modules if everywhere else state.counters[CHANGED]
    for k in range(changed):
        state.judged[k] = k if everywhere else state.changed[k]
        state.open[k] = True
    for h in range(shape.blocks.size):
        if everywhere:
            for m in range(shape.modules):
                state.open[m] &= state.total_by[h, m] >= state.need[h]
        else:
            for k in range(changed):
                state.open[k] &= state.total_by[h, state.changed[k]] >= state.need[h]
    return changed


@routine
def settle(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> None:
    """Renew the verdicts: of a new offer on all modules, of the others on the modules that changed.

    The sums of all free blocks are looked at first, of all modules in one go; where reports may promise more than is
    free, they decide nothing.
    """
    for offer in range(state.offer.size):
        entry, everywhere = state.offer[offer], state.is_new[offer]
        if entry == NONE or not (everywhere or state.counters[CHANGED]):
            continue
        state.is_new[offer] = False
        needs(shape, columns, state, entry, state.need)
        for k in range(_open_to(shape, state, everywhere)):
            m, enough = state.judged[k], state.open[k]
            state.enoughs[offer] += change(state.enough[offer], m, enough)
            fits = enough or not rules.sums_first
            if fits:
                fits = _fits(shape, columns, rules, policies, state, offer, m, now)
            state.fitting[offer] += change(state.fits[offer], m, fits)
    for k in range(state.counters[CHANGED]):
        state.is_changed[state.changed[k]] = False
    state.counters[CHANGED] = 0


@kernel
def module_changed(state: State, module: int) -> None:
    """Note that a module has changed: offers that it refused at allocation may be tried again."""
    for offer in range(state.offer.size):
        change(state.banned[offer], module, False)
    if not state.is_changed[module]:
        state.is_changed[module] = True
        state.changed[state.counters[CHANGED]] = module
        state.counters[CHANGED] += 1


@kernel
def forget_verdicts(state: State, offer: int) -> None:
    """An offer that has gone fits nothing."""
    for word in range(state.fits.shape[1]):
        state.fits[offer, word] = state.enough[offer, word] = state.banned[offer, word] = np.uint64(0)
    state.fitting[offer] = state.enoughs[offer] = 0
    state.is_new[offer] = False


@kernel
def move_verdicts(state: State, offer: int, to: int) -> None:
    """An offer has moved up in its channel, and its verdicts with it."""
    for word in range(state.fits.shape[1]):
        state.fits[to, word], state.enough[to, word] = state.fits[offer, word], state.enough[offer, word]
        state.banned[to, word] = state.banned[offer, word]
    state.fitting[to], state.enoughs[to] = state.fitting[offer], state.enoughs[offer]
    state.is_new[to] = state.is_new[offer]
