"""What changes during a run of the engine `dispatch`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
from workbench.structures.free_map import all_free
from workbench.structures.timetable import NEVER, Timetable, new_timetable

(
    DISPATCHES,
    PARTS,
    ROUNDS,
    FAILED,
    HEAD_ROUNDS,
    OVER_PROMISED,
    FRAGMENTED,
    SEARCHES,
    PIECES,
    FAILS,
    WAITING,
    NEXT_ARRIVAL,
    UNRENEWED,
    RENEWED_UNTIL,
    LAST_MODULE,
    GENERATOR,
    SPLITS,
    TAKES,
    FAILURES,
    RUNNING,
    CHANGED,
    VACANT,
    HEATED_UNTIL,
    MOVED,
    STATUS,
    AT_CYCLE,
    AT_GROUP,
    ANSWER,
    OF_WAVES,
    ABOUT,
) = range(30)

FINE, RAISED_IN, WRONG_ANSWER, STARVED = 0, 1, 2, 3
NONE = -1


class State(NamedTuple):
    """What changes during a run."""

    counters: np.ndarray
    """int64[30], named by the constants above."""
    due: Timetable
    """The releases to come; each entry carries a slot."""
    # Modules
    free: np.ndarray
    """uint64[maps, most words], the free maps."""
    owner: np.ndarray
    """int32[maps, most blocks], the slot that holds each block of a scattered resource; no rows without one."""
    memory: np.ndarray
    """int64[maps, most slots], what the placement policies remember of each map."""
    free_count: np.ndarray
    """int64[resources, modules * units], free blocks of each unit (or of each module, in the first columns)."""
    fresh: np.ndarray
    """int64[maps], what the probe says of each map as it is."""
    report: np.ndarray
    """int64[maps], what has been reported of it."""
    total: np.ndarray
    """int64[modules * resources], free blocks of each module, summed over its units, row by row."""
    has: np.ndarray
    """int64[modules, places], the longest run that is reported of each place, or its free amount."""
    longest: np.ndarray
    """int64[modules * resources], the least of them of each resource over the units, row by row."""
    resident: np.ndarray
    """int64[modules, units], waves that run."""
    pointer: np.ndarray
    """int64[modules], of the units policy."""
    # Channels
    upcoming: np.ndarray
    """int64[channels], the next entry of each channel that has not been offered, -1 = none."""
    offered: np.ndarray
    """int64[channels], how many of its offers are there."""
    offer: np.ndarray
    """int64[channels * offers], the entries put forward: a group, or groups + part for a sub-group."""
    fits: np.ndarray
    """uint64[channels * offers, words], the modules that each offer fits."""
    fitting: np.ndarray
    """int64[channels * offers], how many they are."""
    enough: np.ndarray
    """uint64[channels * offers, words], the modules with enough free blocks in total."""
    enoughs: np.ndarray
    """int64[channels * offers], how many they are."""
    banned: np.ndarray
    """uint64[channels * offers, words], the modules that refused it at allocation and have not changed since."""
    is_new: np.ndarray
    """bool[channels * offers], offers that have not been judged yet."""
    needs: np.ndarray
    """int64[channels * offers, resources], what each offer takes of a module in all."""
    asked: np.ndarray
    """int64[channels * offers * (units + 1), places], what each offer asks of the places of modules with each pointer
    from 0 to units - 1, and of the module that was judged last."""
    is_asked: np.ndarray
    """bool[channels * offers * (units + 1)], which of these rows are written."""
    changed: np.ndarray
    """int64[modules], the modules that changed since verdicts were renewed."""
    is_changed: np.ndarray
    """bool[modules]."""
    moved: np.ndarray
    """bool[modules], where a placement refused and has remembered something else since: it may grant now."""
    part: np.ndarray
    """int64[parts, 5]: group, waves, level, divided, entry behind it; one row a sub-group."""
    # Dispatches, one row each
    group: np.ndarray
    cycle: np.ndarray
    module: np.ndarray
    sent: np.ndarray
    level: np.ndarray
    shared_out: np.ndarray
    refused: np.ndarray
    """int64[groups], rounds in which each stood at its channel's head and fitted no module."""
    slot_dispatch: np.ndarray
    """int64[slots, 2], the dispatch that runs in each slot, and its entry."""
    slot_link: np.ndarray
    """int64[slots + 1], the free slots as a list; the last entry is its head."""
    held: np.ndarray
    """int64[slots, most ranges], the first block of every range that a running group holds."""
    length: np.ndarray
    """int64[slots, free maps of a module], the blocks of a range that it holds of each map; waves may hold one each."""
    # The past of modules
    rate: np.ndarray
    """int64[modules, 6], instructions a cycle now, in 2**-20."""
    issued: np.ndarray
    """int64[modules, 6], instructions before `issued_at`."""
    issued_at: np.ndarray
    event_next: np.ndarray
    """int32[2 * dispatches], the change of rate after each in its module: 2 d is the start of dispatch d, 2 d + 1 its
    end."""
    event_last: np.ndarray
    """int64[modules]."""
    old_rate: np.ndarray
    """int64[terms, modules, 6], the rates at the far end of each term's window."""
    old_issued: np.ndarray
    old_at: np.ndarray
    """int64[terms, modules]."""
    old_event: np.ndarray
    """int64[terms, modules], the first change that lies within the window, -1 = none."""
    decayed: np.ndarray
    """int64[terms, modules, 6], counters that are halved."""
    decayed_at: np.ndarray
    heat: np.ndarray
    """float64[modules], degrees above the ambient."""
    heat_issued: np.ndarray
    """int64[modules, 6], instructions before the last thermal step."""
    # Scratch
    counts: np.ndarray
    """int64[units]."""
    before: np.ndarray
    """int64[free maps of a module, most slots], what the placements remembered before a module was asked."""
    need: np.ndarray
    """int64[resources], what a whole entry takes of a module."""
    entry: np.ndarray
    """int64[7, channels]: offer, then channel, priority, rank, fits, waited, waves."""
    candidates: np.ndarray
    """int64[modules]."""
    recent: np.ndarray
    """float64[2, modules * 6]: nothing, for terms without history, and what the others may know."""
    scores: np.ndarray
    """float64[2, modules]: of one term, and the sum."""
    warm: np.ndarray
    """float64[2, modules]: power, and heat after a step."""
    term_memory: np.ndarray
    """int64[terms, most slots]."""
    # Logs
    splits: np.ndarray
    takes: np.ndarray
    failures: np.ndarray


class Room(NamedTuple):
    """How much room a run needs: bounds, and what a first run has counted."""

    maps: int
    most_words: int
    most_blocks: int
    memory: int
    dispatches: int
    parts: int
    slots: int
    places: int
    term_memory: int
    history: int
    splits: int
    takes: int
    failures: int


def new_state(shape: Shape, columns: Columns, rules: Rules, policies: Policies, room: Room) -> State:
    """Empty modules and full channels."""
    channels = rules.channels
    modules, units, resources = shape.modules, shape.units, shape.blocks.size
    offers, words = channels * rules.offers, (modules + 63) // 64
    terms = policies.terms.weights.size
    past = modules if room.history else 0
    counters = np.zeros(30, np.int64)
    counters[NEXT_ARRIVAL] = counters[LAST_MODULE] = NONE
    counters[FAILS], counters[VACANT] = rules.fail_init, 1
    free = _free_maps(shape, room)
    any_scattered = bool(shape.scattered.any())
    free_count = np.repeat(shape.blocks[:, None], modules * units, axis=1)
    slot_link = np.arange(1, room.slots + 2)
    slot_link[room.slots] = 0  # the head of the list
    return State(
        counters,
        new_timetable(room.slots + 1),
        free,
        np.full((room.maps if any_scattered else 0, room.most_blocks), NONE, np.int32),
        np.zeros((room.maps, room.memory), np.int64),
        free_count,
        np.zeros(room.maps, np.int64),
        np.zeros(room.maps, np.int64),
        np.tile(shape.totals, modules),
        np.zeros((modules, shape.places), np.int64),
        np.zeros(modules * resources, np.int64),
        np.zeros((modules, units), np.int64),
        np.zeros(modules, np.int64),
        columns.first.copy(),
        np.zeros(channels, np.int64),
        np.full(offers, NONE),
        np.zeros((offers, words), np.uint64),
        np.zeros(offers, np.int64),
        np.zeros((offers, words), np.uint64),
        np.zeros(offers, np.int64),
        np.zeros((offers, words), np.uint64),
        np.zeros(offers, np.bool_),
        np.zeros((offers, resources), np.int64),
        np.zeros((offers * (units + 1), shape.places), np.int64),
        np.zeros(offers * (units + 1), np.bool_),
        np.zeros(modules, np.int64),
        np.zeros(modules, np.bool_),
        np.zeros(modules, np.bool_),
        np.empty((room.parts, 5), np.int64),
        np.empty(room.dispatches, np.int32),
        np.empty(room.dispatches, np.int64),
        np.empty(room.dispatches, np.int32),
        np.empty((room.dispatches, units), np.int32),
        np.empty(room.dispatches, np.int32),
        np.empty(room.dispatches, np.bool_),
        np.zeros(columns.arrival.size, np.int64),
        np.zeros((room.slots, 2), np.int64),
        slot_link,
        np.zeros((room.slots, room.places), np.int64),
        np.zeros((room.slots, shape.ranges.shape[0]), np.int64),
        np.zeros((past, 6), np.int64),
        np.zeros((past, 6), np.int64),
        np.zeros(past, np.int64),
        np.empty(2 * room.dispatches if past else 0, np.int32),
        np.full(past, NONE),
        np.zeros((terms, past, 6), np.int64),
        np.zeros((terms, past, 6), np.int64),
        np.zeros((terms, past), np.int64),
        np.full((terms, past), NONE),
        np.zeros((terms, past, 6), np.int64),
        np.zeros((terms, past), np.int64),
        np.zeros(modules, np.float64),
        np.zeros((past, 6), np.int64),
        np.zeros(units, np.int64),
        np.zeros((shape.ranges.shape[0], room.memory), np.int64),
        np.zeros(resources, np.int64),
        np.zeros((7, channels), np.int64),
        np.zeros(modules, np.int64),
        np.zeros((2, modules * 6), np.float64),
        np.zeros((2, modules), np.float64),
        np.zeros((2, modules), np.float64),
        np.zeros((terms, room.term_memory), np.int64),
        np.zeros((room.splits, 3), np.int64),
        np.zeros((room.takes, 5), np.int64),
        np.zeros((room.failures, 2), np.int64),
    )


def _free_maps(shape: Shape, room: Room) -> np.ndarray:
    free = np.zeros((room.maps, room.most_words), np.uint64)
    for h in range(shape.blocks.size):
        if shape.first_map[h] >= 0:
            copies = shape.modules * (shape.units if h < shape.of_unit else 1)
            first = shape.first_map[h]
            free[first : first + copies, : shape.words[h]] = all_free(int(shape.blocks[h]))
    return free


__all__ = ["FINE", "NEVER", "NONE", "RAISED_IN", "STARVED", "WRONG_ANSWER", "Room", "State", "new_state"]
