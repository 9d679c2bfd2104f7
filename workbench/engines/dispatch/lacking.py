"""What each group that waits lacks when a run hangs, on the module that lacks least (spec 7, R18)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import by_reference, inlined, kernel
from workbench.engines.dispatch.admission import admits, in_turn
from workbench.engines.dispatch.channels import shared_out
from workbench.engines.dispatch.state import ANY, NONE, Play
from workbench.engines.dispatch.subgroups import behind, group_of, of_module
from workbench.records.dispatch import Lacking
from workbench.structures.bitmaps import count_free, longest_run

LACKS, NOT_ADMITTED, TOLD_TO_WAIT, BEHIND = range(4)
GROUP, WHY, MODULE, RESOURCE, AMOUNT, DIE = range(6)
"""Columns of a row."""
LIKE, FIRST, END = range(3)
"""The last group that was looked at in a queue, and its rows: groups behind it that ask for the same lack the same."""


def lacking(play: Play) -> Lacking:
    """Return the lack of each group of a run that hangs, channel by channel and in the order of the queues."""
    waiting = play.columns.arrival.size + play.state.part.shape[0]
    rows = np.zeros((waiting * play.shape.blocks.size, 6), np.int64)
    count = _write_all(play, np.full(3, NONE), rows)
    return Lacking(*np.ascontiguousarray(rows[:count].T))


@kernel
def _write_all(lent: Play, known: np.ndarray, rows: np.ndarray) -> int:
    play, count = by_reference(lent), 0
    rules, state, columns = play.rules, play.state, play.columns
    for module in range(state.between.queued.size):
        for k in range(state.between.queued[module]):
            count = _write_on(play, state.between.entry_of[state.between.queue[module, k]], module, rows, count)
    for channel in range(rules.channels):
        start = channel * rules.offers
        for offer in range(start, start + state.offered[channel]):
            count = _write(play, state.offer[offer], offer, known, rows, count)
        entry = state.upcoming[channel]
        while entry != NONE:
            count = _write(play, entry, NONE, known, rows, count)
            entry = behind(columns, state, entry)
    return count


@kernel
def _write(play: Play, entry: int, offer: int, known: np.ndarray, rows: np.ndarray, count: int) -> int:
    """Write down why an entry waits, and every group of a cluster with it."""
    member, columns = entry, play.columns
    while member != NONE:
        is_group = member < columns.arrival.size
        if is_group and offer == NONE and _is_like(play, known[LIKE], member):
            for k in range(known[FIRST], known[END]):
                for column in range(rows.shape[1]):
                    rows[count, column] = rows[k, column]
                rows[count, GROUP] = member
                count += 1
        else:
            known[LIKE], known[FIRST] = member if is_group and offer == NONE else NONE, count
            count = known[END] = _write_one(play, member, offer, rows, count)
        member = columns.lot.beside[member] if is_group else NONE
    return count


@kernel
def _is_like(play: Play, group: int, other: int) -> bool:
    """Return whether policies and modules cannot tell two groups apart."""
    columns = play.columns
    if group == NONE or columns.waves[group] != columns.waves[other]:
        return False
    for column in (columns.channel, columns.lot.kernel, columns.priority):
        if column[group] != column[other]:
            return False
    different = 0
    for h in range(columns.demand.shape[1]):
        different += columns.demand[group, h] != columns.demand[other, h]
    return different == 0


@inlined
def _row(play: Play, entry: int, why: int, die: int, rows: np.ndarray, count: int) -> int:
    row = rows[count]
    row[GROUP], row[WHY], row[MODULE] = group_of(play.columns, play.state, entry), why, NONE
    row[RESOURCE], row[AMOUNT], row[DIE] = NONE, 0, die
    return count + 1


@kernel
def _write_one(play: Play, entry: int, offer: int, rows: np.ndarray, count: int) -> int:
    shape, state = play.shape, play.state
    best, least, admitted = NONE, np.inf, 0
    if in_turn(play, entry):
        for module in range(shape.modules):
            if not admits(play, entry, module, 0):
                continue
            admitted += 1
            share = _share_lacking(play, entry, module)
            if share < least:
                best, least = module, share
    if admitted == 0:
        return _row(play, entry, NOT_ADMITTED, NONE, rows, count)
    if offer != NONE and state.between.waits_for[offer] != ANY and state.opens[offer] == 0:
        return _row(play, entry, TOLD_TO_WAIT, max(state.between.waits_for[offer], NONE), rows, count)
    return _write_on(play, entry, best, rows, count)


@kernel
def _write_on(play: Play, entry: int, module: int, rows: np.ndarray, count: int) -> int:
    """Write down what an entry lacks on a module; if nothing, that it waits behind another one."""
    before = count
    shared_out(play.shape, play.columns, play.policies, play.state, entry, module, 0)
    for h in range(play.shape.blocks.size):
        amount = _lack(play, entry, module, h)
        if amount > 0:
            count = _row(play, entry, LACKS, NONE, rows, count)
            rows[count - 1, MODULE], rows[count - 1, RESOURCE], rows[count - 1, AMOUNT] = module, h, amount
    return count if count > before else _row(play, entry, BEHIND, NONE, rows, count)


@kernel
def _share_lacking(play: Play, entry: int, module: int) -> float:
    """Return the largest share of a module's total that an entry lacks of a resource."""
    shared_out(play.shape, play.columns, play.policies, play.state, entry, module, 0)
    most = 0.0
    for h in range(play.shape.blocks.size):
        most = max(most, _lack(play, entry, module, h) / play.shape.totals[h])
    return most


@kernel
def _lack(play: Play, entry: int, module: int, resource: int) -> int:
    """Return the blocks that an entry, whose waves are in `counts`, lacks of a resource, over all units."""
    shape, columns, rules, state = play.shape, play.columns, play.rules, play.state
    group, largest, lacks = group_of(columns, state, entry), shape.footprint.shape[1] - 1, 0
    of_unit, contiguous = resource < shape.of_unit, shape.first_map[resource] >= 0
    for t in range(shape.units if of_unit else 1):
        size, ranges = of_module(shape, columns, state, entry, resource), 1
        if of_unit:
            size = columns.demand[group, resource] * state.counts[t]
            if rules.a_block_a_wave and contiguous:
                size, ranges = columns.demand[group, resource] * min(state.counts[t], 1), state.counts[t]
        copy = module * shape.units + t if of_unit else module
        taken, free = shape.footprint[resource, min(size, largest)], state.free_count[resource, copy]
        lack = max(taken * ranges - free, 0)
        if contiguous:
            words = state.free[shape.first_map[resource] + copy][: shape.words[resource]]
            run = count_free(words) if shape.scattered[resource] else longest_run(words)
            lack = max(lack, taken - run)
        lacks += lack
    return lacks
