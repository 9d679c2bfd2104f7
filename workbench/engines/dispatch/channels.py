"""The channels: queues of groups (spec 3, R1, R2), the modules that their heads fit (R3-R6), and events of a part.

A channel puts its first entries forward, as offers.

Verdicts on offers are kept, one bit an offer and module. Before a round only verdicts on changes are renewed. These are
all modules for a new offer, and all offers for a module that was dispatched to, that released something, or that has a
new report. A place is one resource of one unit, or a resource of the module's own. What each place of a module has is
written down when the module changes; what an offer asks of each place, once for every pointer that modules store: an
offer fits a module none of whose places has less than is asked of it.

A part keeps its events, a row each, in the order in which things happened (spec 6, R2); a whole run has no rows.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED, inlined, kernel, noinline
from workbench.engines.dispatch.setting import Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, State
from workbench.engines.dispatch.subgroups import (
    behind,
    first_wave_of,
    group_of,
    is_member,
    link,
    set_member,
    waves_of,
    write_needs,
)
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.policies.dispatch.units import UNITS, UnitsView
from workbench.structures.timetable import NEVER


@kernel
def put_forward(columns: Columns, rules: Rules, state: State, now: int) -> bool:
    """Let every channel put its arrived groups forward, as many as it may; True where there is a new one."""
    if now < state.counters[COUNT.next_arrival] and not state.counters[COUNT.vacant]:
        return False
    return _put_all_forward(columns, rules, state, now)


@noinline
def _put_all_forward(columns: Columns, rules: Rules, state: State, now: int) -> bool:
    changed = False
    state.counters[COUNT.next_arrival], state.counters[COUNT.vacant] = NEVER, 0
    for channel in range(rules.channels):
        while state.offered[channel] < rules.offers and state.upcoming[channel] != NONE:
            entry = state.upcoming[channel]
            arrival = columns.arrival[group_of(columns, state, entry)]
            # A channel is a FIFO: entries behind this one wait for it, even if they arrived earlier (R2).
            if arrival > now:
                state.counters[COUNT.next_arrival] = min(state.counters[COUNT.next_arrival], arrival)
                break
            offer = channel * rules.offers + state.offered[channel]
            state.offer[offer] = entry
            state.upcoming[channel] = behind(columns, state, entry)
            state.counters[COUNT.waiting] += state.offered[channel] == 0
            state.offered[channel] += 1
            state.is_new[offer] = True
            changed = True
    return changed


@inlined
def take_off(columns: Columns, rules: Rules, state: State, offer: int) -> None:
    """Take an offer that was dispatched off its queue, and move those behind it up."""
    channel = offer // rules.offers
    start = channel * rules.offers
    last = start + state.offered[channel] - 1
    # The list must stay whole among the offers too: a split returns them to the queue (`call_back`).
    if offer > start:
        link(
            columns, state, state.offer[offer - 1], state.offer[offer + 1] if offer < last else state.upcoming[channel]
        )
    for place in range(offer, last):
        state.offer[place] = state.offer[place + 1]
        move_verdicts(state, place + 1, place)
    forget_verdicts(state, last)
    state.offer[last] = NONE
    state.counters[COUNT.vacant] = 1
    state.offered[channel] -= 1
    state.counters[COUNT.waiting] -= state.offered[channel] == 0


@inlined
def join(columns: Columns, rules: Rules, state: State, group: int) -> bool:
    """Put a group at the end of its channel's queue; True where the channel may put it forward when it arrives."""
    channel = columns.channel[group]
    offered, is_next = state.offered[channel], state.upcoming[channel] == NONE
    if not is_next:
        link(columns, state, state.last[channel], group)
    elif offered > 0:
        link(columns, state, state.offer[channel * rules.offers + offered - 1], group)
    if is_next:
        state.upcoming[channel] = group
    state.last[channel] = group
    return is_next and offered < rules.offers


@inlined
def call_back(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int) -> None:
    """Put the entries from `first` to `last`, a list of sub-groups, in the place of the channel's head.

    What had been put forward goes back into the queue behind them.
    """
    start, offered = channel * rules.offers, state.offered[channel]
    # The head itself is replaced: the last sub-group leads to what stood behind it.
    following = state.upcoming[channel] if offered == 1 else state.offer[start + 1]
    # Nothing was left in the queue, so `last` was out of date: the queue now ends with the last entry that returns.
    if state.upcoming[channel] == NONE:
        state.last[channel] = last if offered == 1 else state.offer[start + offered - 1]
    link(columns, state, last, following)
    state.upcoming[channel] = first
    for offer in range(start, start + offered):
        forget_verdicts(state, offer)
        state.offer[offer] = NONE
    state.offered[channel] = 0
    state.counters[COUNT.vacant] = 1
    state.counters[COUNT.waiting] -= 1


ask_units = UNITS.ask


@inlined
def shared_out(
    shape: Shape, columns: Columns, policies: Policies, state: State, entry: int, module: int, now: int
) -> int:
    """Ask how the entry's waves are shared out over the module's units; return the new pointer.

    Nothing is asked any more once a policy was wrong, so that the counts of a wrong answer stay to be shown.
    """
    if state.counters[STOP.fault] != FINE:
        return NONE
    waves = state.counters[COUNT.of_waves] = waves_of(columns, state, entry)
    policy = policies.units
    pointer = ask_units(
        policy.answer,
        UnitsView(waves, shape.units, state.pointer[module], state.resident[module], state.counts, policy.params),
    )
    given = 0
    for t in range(shape.units):
        # 2^40 for a count below 0, so that a sum which is right by accident is refused too.
        given += state.counts[t] if state.counts[t] >= 0 else 1 << 40
    if pointer == RAISED:
        fail(state.counters, FAULT.units_raised, now, group_of(columns, state, entry), module)
    elif given != waves:
        fail(state.counters, FAULT.units_wrong, now, group_of(columns, state, entry), module)
    return pointer


@noinline
def look_at(shape: Shape, state: State, module: int) -> None:
    """Write down what each place of a module has: its longest reported run, or its free amount; and the least of each
    resource over the units."""
    place, resources = 0, shape.blocks.size
    for h in range(resources):
        copies, least = shape.units if h < shape.of_unit else 1, shape.blocks[h]
        for k in range(module * copies, (module + 1) * copies):
            has = state.free_count[h, k] if shape.first_map[h] < 0 else state.report[shape.first_map[h] + k]
            state.has[module, place] = has
            least = min(least, has)
            place += 1
        state.longest[module * resources + h] = least


@inlined
def _write_required(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    offer: int,
    module: int,
    row: int,
    now: int,
) -> None:
    """Write down in a row what an offer asks of each place of a module."""
    entry, largest = state.offer[offer], shape.footprint.shape[1] - 1
    group, place = group_of(columns, state, entry), 0
    shared_out(shape, columns, policies, state, entry, module, now)
    if state.counters[STOP.fault] != FINE:
        return
    for h in range(shape.blocks.size):
        wave_by_wave = rules.a_block_a_wave and shape.first_map[h] >= 0
        for t in range(shape.units if h < shape.of_unit else 1):
            size = state.needs[offer, h]
            if h < shape.of_unit:
                waves = state.counts[t]
                size = columns.demand[group, h] * (min(waves, 1) if wave_by_wave else waves)
            state.required[row, place] = shape.footprint[h, min(size, largest)]
            place += 1


@inlined
def _fits(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, offer: int, module: int, now: int
) -> bool:
    """Return whether an offer fits a module.

    What it asks of modules with the same pointer is the same, if the policy says so.
    """
    pointer, rows = state.pointer[module], shape.units + 1
    # The policy may answer any pointer; rows exist for those of the units, and one more for all others.
    kept = policies.units.by_pointer and 0 <= pointer < shape.units
    row = offer * rows + (pointer if kept else shape.units)
    if not kept or not state.is_written[row]:
        _write_required(shape, columns, rules, policies, state, offer, module, row, now)
        state.is_written[row] = True
    fits = not is_member(state.banned[offer], module)
    for place in range(state.has.shape[1]):
        fits &= state.has[module, place] >= state.required[row, place]
    return fits


@inlined
def _has_enough(shape: Shape, state: State, offer: int, module: int) -> bool:
    """Return whether enough blocks are free in a module, all units together, of every resource."""
    enough, resources = True, shape.blocks.size
    for h in range(resources):
        enough &= state.total[module * resources + h] >= state.needs[offer, h]
    return enough


@inlined
def _consider(shape: Shape, columns: Columns, state: State, offer: int) -> None:
    """Write down what a new offer takes of a module; what it asks of places is not known yet."""
    write_needs(shape, columns, state, state.offer[offer], state.needs[offer])
    for row in range(offer * (shape.units + 1), (offer + 1) * (shape.units + 1)):
        state.is_written[row] = False


@noinline
def settle(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> None:
    """Renew the verdicts: of a new offer on all modules, of the others on the modules that changed.

    The sums of all free blocks are looked at first; where reports may promise more than is free, they decide nothing.
    """
    changed = state.counters[COUNT.changed]
    for k in range(changed):
        look_at(shape, state, state.changed[k])
        state.is_changed[state.changed[k]] = False
    state.counters[COUNT.changed] = 0
    for offer in range(state.offer.size):
        everywhere = state.is_new[offer]
        if state.offer[offer] == NONE or not (everywhere or changed):
            continue
        if everywhere:
            state.is_new[offer] = False
            _consider(shape, columns, state, offer)
        for k in range(shape.modules if everywhere else changed):
            module = k if everywhere else state.changed[k]
            fits = enough = _has_enough(shape, state, offer, module)
            if enough or not rules.sums_first:
                fits = _fits(shape, columns, rules, policies, state, offer, module, now)
            state.enoughs[offer] += set_member(state.enough[offer], module, enough)
            state.fitting[offer] += set_member(state.fits[offer], module, fits)


@kernel
def module_changed(state: State, module: int) -> None:
    """Note that a module has changed: offers that it refused at allocation may be tried again."""
    for offer in range(state.offer.size):
        set_member(state.banned[offer], module, False)
    if state.moved[module]:
        state.moved[module] = False
        state.counters[COUNT.moved] -= 1
    if not state.is_changed[module]:
        state.is_changed[module] = True
        state.changed[state.counters[COUNT.changed]] = module
        state.counters[COUNT.changed] += 1


@kernel
def forget_verdicts(state: State, offer: int) -> None:
    """Forget the verdicts on an offer that has gone: it fits nothing."""
    for word in range(state.fits.shape[1]):
        state.fits[offer, word] = state.enough[offer, word] = state.banned[offer, word] = np.uint64(0)
    state.fitting[offer] = state.enoughs[offer] = 0
    state.is_new[offer] = False


@inlined
def move_verdicts(state: State, offer: int, to: int) -> None:
    """Move the verdicts on an offer that has moved up in its channel."""
    for word in range(state.fits.shape[1]):
        state.fits[to, word], state.enough[to, word] = state.fits[offer, word], state.enough[offer, word]
        state.banned[to, word] = state.banned[offer, word]
    state.fitting[to], state.enoughs[to] = state.fitting[offer], state.enoughs[offer]
    state.is_new[to] = state.is_new[offer]
    for h in range(state.needs.shape[1]):
        state.needs[to, h] = state.needs[offer, h]
    # What an offer asks of places is not moved, but written again when it is needed.
    rows = state.is_written.size // state.offer.size
    for row in range(to * rows, (to + 1) * rows):
        state.is_written[row] = False


KIND, TICKET, CYCLE, MODULE, DISPATCH, WAVE, WAVES = range(7)
"""Columns of a row: the ticket is the group, the wave the first of a sub-group, -1 of a group as it came."""
GRANTED, ENDED, CANCELLED, VERDICT, SPLIT, FAILED = range(6)
"""Kinds of rows. Of a verdict, the dispatch is its row of `verdicts`; of a split, the waves are the sub-groups; of a
failed round, how many have failed in a row."""
FIELDS = 7
VERDICTS = 64
"""Verdicts that may wait when another event is taken."""


def of_one_event(rules: Rules) -> int:
    """Return the most rows that one event tells: a round's verdicts and grants, a failed one, and what it splits."""
    return 2 * rules.dispatches_a_round + rules.channels + 2


@noinline
def tell(state: State, kind: int, ticket: int, cycle: int, module: int, dispatch: int, wave: int, waves: int) -> None:
    """Keep a row for whoever asked."""
    at = state.counters[COUNT.answered]
    if at >= state.answers.shape[0]:
        return
    row = state.answers[at]
    row[KIND], row[TICKET], row[CYCLE], row[MODULE] = kind, ticket, cycle, module
    row[DISPATCH], row[WAVE], row[WAVES] = dispatch, wave, waves
    state.counters[COUNT.answered] = at + 1


@inlined
def tell_of(columns: Columns, state: State, kind: int, entry: int, cycle: int, module: int, dispatch: int) -> None:
    """Keep a row about an entry of a channel."""
    group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
    tell(state, kind, group, cycle, module, dispatch, first_wave_of(columns, state, entry), waves)


@inlined
def tell_failure(state: State, cycle: int) -> None:
    """Keep a row about a round in which nothing was dispatched."""
    tell(state, FAILED, NONE, cycle, NONE, NONE, NONE, state.counters[COUNT.failing])
