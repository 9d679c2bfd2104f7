"""What an access meets at its core: entries, ports, miss-status registers, places to wait, and warps (spec 4).

A TLB's entries are found by a table by page and TLB while that is small, by a hash table a TLB when it is not. Ports
start so many look-ups a cycle, in the order in which they are asked for (E11, T4). A register knows what a miss under
way knows, and who waits for it (E14, T3). Accesses that wait (behind their core, for a port or a register, or joined
to a miss) have places from a free list. In the closed loop a warp waits until its access is answered (H4.6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.state import COUNT, MISS, OF, PARKED, WAITING, Run, to_int64
from workbench.structures.key_index import look_up, put_key, take_key
from workbench.structures.timetable import NEVER, set_turn

NOWHERE: Any = np.int64(-1)


@kernel
def find(run: Run, tlb: int, page: int) -> int:
    """Return the entry of a TLB that holds a page, or -1."""
    if run.rules.dense:
        return to_int64(run.state.where[page * run.rules.tlbs + tlb])
    return _look_up_place(run, tlb, page)


@noinline
def _look_up_place(run: Run, tlb: int, page: int) -> int:
    return look_up(run.state.places, tlb, page)


@kernel
def note_place(run: Run, tlb: int, page: int, entry: int) -> None:
    """Note where a page lies."""
    if run.rules.dense:
        run.state.where[page * run.rules.tlbs + tlb] = entry
    else:
        _put_place(run, tlb, page, entry)


@noinline
def _put_place(run: Run, tlb: int, page: int, entry: int) -> None:
    put_key(run.state.places, tlb, page, entry)


@kernel
def forget_place(run: Run, tlb: int, page: int) -> None:
    """Note that a page does not lie there any more."""
    if run.rules.dense:
        run.state.where[page * run.rules.tlbs + tlb] = NOWHERE
    else:
        _take_place(run, tlb, page)


@noinline
def _take_place(run: Run, tlb: int, page: int) -> None:
    take_key(run.state.places, tlb, page)


@kernel
def port_cycle(given: np.ndarray, resource: int, ports: int, now: int) -> int:
    """Give out the first cycle from now on at which a port starts a look-up; 0 ports = any number."""
    if ports == 0:
        return now
    cycle, count = given[2 * resource], given[2 * resource + 1]
    if now > cycle:
        cycle, count = now, 0
    # All ports of this cycle are taken. Otherwise the look-up shares the cycle, which may lie ahead of `now`.
    elif count == ports:
        cycle, count = cycle + 1, 0
    given[2 * resource], given[2 * resource + 1] = cycle, count + 1
    return cycle


UNSET: Any = np.int64(-1)
NO_PEER: Any = np.int64(-1)


@inlined
def take_register(run: Run, core: int, page: int, key: int, name: int, row: int, since: int) -> int:
    """Take a free register of a core for a miss, and return its number."""
    state = run.state
    place = core * run.rules.mshrs + state.in_use[core]
    miss = state.active[place]
    state.in_use[core] += 1
    state.counters[COUNT.under_way] += 1
    at, misses = miss * MISS, state.misses
    misses[at + OF.core], misses[at + OF.page], misses[at + OF.key], misses[at + OF.ordinal] = core, page, key, row
    misses[at + OF.name], misses[at + OF.since], misses[at + OF.place] = name, since, place
    misses[at + OF.dead], misses[at + OF.tries], misses[at + OF.in_shared], misses[at + OF.source] = 0, 0, 0, 0
    misses[at + OF.queued], misses[at + OF.holders] = 0, 0
    misses[at + OF.peer], misses[at + OF.joined], misses[at + OF.last_joined] = NO_PEER, UNSET, UNSET
    misses[at + OF.next], misses[at + OF.last], misses[at + OF.behind] = UNSET, UNSET, UNSET
    misses[at + OF.begun], misses[at + OF.read], misses[at + OF.ended] = UNSET, UNSET, UNSET
    return miss


@inlined
def free_register(run: Run, miss: int) -> None:
    """Give back the register of a miss that is answered."""
    state = run.state
    core, place = state.misses[miss * MISS + OF.core], state.misses[miss * MISS + OF.place]
    state.in_use[core] -= 1
    state.counters[COUNT.under_way] -= 1
    # The last register in use moves to the freed place, so those in use stay in front.
    last = core * run.rules.mshrs + state.in_use[core]
    moved = state.active[last]
    state.active[place], state.active[last] = moved, miss
    state.misses[moved * MISS + OF.place] = place


@kernel
def register_of(run: Run, core: int, page: int) -> int:
    """Return the miss of a core that waits for a page, and may be joined, or -1."""
    state, first = run.state, core * run.rules.mshrs
    for place in range(first, first + state.in_use[core]):
        miss = state.active[place]
        if state.misses[miss * MISS + OF.page] == page and not state.misses[miss * MISS + OF.dead]:
            return miss
    return UNSET


@noinline
def kill_misses(run: Run, page: int) -> None:
    """Mark the misses of a page that is unmapped, and of those the ones without a register yet (T3, T12).

    They are answered and fill nothing, nor does a walk that they open; only misses with the same mark join it.
    """
    rules, state = run.rules, run.state
    # The caller has counted this unmapping, so its number is at least 1; 0 means not dead.
    unmapping = state.counters[COUNT.shootdowns]
    for core in range(rules.cores):
        first = core * rules.mshrs
        for place in range(first, first + state.in_use[core]):
            at = state.active[place] * MISS
            if state.misses[at + OF.page] == page and not state.misses[at + OF.dead]:
                state.misses[at + OF.dead] = unmapping
        _kill_waiting(run, core, page, unmapping)


@kernel
def _kill_waiting(run: Run, core: int, page: int, unmapping: int) -> None:
    """Mark the miss of a core that waits for a register, or has been given one in this cycle."""
    if run.state.blocked[core] == UNSET:
        return
    parking, at = run.state.parking, run.state.blocked[core] * PARKED
    # An access that waits for a port has not looked up yet, so it counts as later than the unmapping.
    missed = parking[at + WAITING.why] == FOR_REGISTER or parking[at + WAITING.why] == FOR_CORE
    if missed and parking[at + WAITING.page] == page and not parking[at + WAITING.dead]:
        parking[at + WAITING.dead] = unmapping


@noinline
def kill_newest(run: Run, core: int, unmapping: int) -> None:
    """Mark the miss that took its core's register last: its page was unmapped while it waited for that."""
    newest = run.state.active[core * run.rules.mshrs + run.state.in_use[core] - 1]
    run.state.misses[newest * MISS + OF.dead] = unmapping


_REASONS: Any = tuple(np.int64(reason) for reason in range(5))
FOR_PORT, FOR_REGISTER, FOR_CORE, TO_UNMAP, JOINED = _REASONS


def with_places(parking: np.ndarray, counters: np.ndarray, places: int) -> np.ndarray:
    """Return the same waiting accesses with so many places, more than before."""
    before, longer = parking.size // PARKED, np.zeros(places * PARKED, np.int64)
    longer[: parking.size] = parking
    rows = longer.reshape(-1, PARKED)
    rows[before:, WAITING.next] = np.arange(before + 1, places + 1)
    # The list of free places continues behind the new ones with the old ones.
    rows[-1, WAITING.next] = counters[COUNT.parked_free]
    counters[COUNT.parked_free] = before
    return longer


@noinline
def park(run: Run, since: int, name: int, page: int, key: int, row: int, why: int, known: int) -> int:
    """Keep an access that waits, and return its place."""
    parking, counters = run.state.parking, run.state.counters
    place = counters[COUNT.parked_free]
    at = place * PARKED
    counters[COUNT.parked_free] = parking[at + WAITING.next]
    counters[COUNT.parked] += 1
    parking[at + WAITING.since], parking[at + WAITING.known], parking[at + WAITING.why] = since, known, why
    parking[at + WAITING.name], parking[at + WAITING.page], parking[at + WAITING.key] = name, page, key
    parking[at + WAITING.ordinal], parking[at + WAITING.next], parking[at + WAITING.dead] = row, UNSET, 0
    return place


@kernel
def unpark(run: Run, place: int) -> None:
    """Give back the place of an access that waits no more."""
    counters = run.state.counters
    run.state.parking[place * PARKED + WAITING.next] = counters[COUNT.parked_free]
    counters[COUNT.parked_free] = place
    counters[COUNT.parked] -= 1


@noinline
def wait_behind(run: Run, core: int, place: int) -> None:
    """Put a row at the end of those that a core will issue when it is woken."""
    state, last = run.state, run.state.behind[2 * core + 1]
    if last == UNSET:
        state.behind[2 * core] = place
    else:
        state.parking[last * PARKED + WAITING.next] = place
    state.behind[2 * core + 1] = place


@kernel
def first_behind(run: Run, core: int) -> int:
    """Take the first of these rows; there is one."""
    state, first = run.state, run.state.behind[2 * core]
    state.behind[2 * core] = state.parking[first * PARKED + WAITING.next]
    if state.behind[2 * core] == UNSET:
        state.behind[2 * core + 1] = UNSET
    return first


UNKNOWN = -1


@inlined
def release_warp(run: Run, core: int, done: int, now: int) -> None:
    """Let the warp whose access is answered at a cycle issue again, where warps wait for answers."""
    if run.rules.warps:
        _release(run, core, done + run.rules.gap_cycles, now)


@noinline
def _release(run: Run, core: int, free: int, now: int) -> None:
    warps, first, at = run.state.warps, core * run.rules.warps, run.state.warps_free[core]
    run.state.warps_free[core] += 1
    while at > 0 and free < warps[first + (at - 1) // 2]:
        warps[first + at] = warps[first + (at - 1) // 2]
        at = (at - 1) // 2
    warps[first + at] = free
    if not run.state.halted[core]:
        line_up(run, core, now)


@noinline
def occupy_warp(run: Run, core: int) -> None:
    """Take the warp of a core that is free first."""
    warps, first = run.state.warps, core * run.rules.warps
    run.state.warps_free[core] -= 1
    count = run.state.warps_free[core]
    # The last element of the heap replaces the root and sinks.
    moved, at, child = warps[first + count], 0, 1
    while child < count:
        if child + 1 < count and warps[first + child + 1] < warps[first + child]:
            child += 1
        if warps[first + child] >= moved:
            break
        warps[first + at] = warps[first + child]
        at, child = child, 2 * child + 1
    warps[first + at] = moved


@kernel
def could_issue(run: Run, core: int) -> int:
    """Return the cycle from which a core could issue its next row; where that is not known yet, it is not before."""
    state, row = run.state, run.state.next_row[core]
    if state.warps_free[core] == 0:
        return NEVER
    free = state.warps[core * run.rules.warps]
    if row == UNKNOWN:
        return NEVER if state.counters[COUNT.ended] else max(free, state.counters[COUNT.stream_cycle])
    return max(free, run.rows.cycle[row])


@noinline
def line_up(run: Run, core: int, now: int) -> None:
    """Say when a core issues its next row: not while it waits."""
    at = NEVER if run.state.halted[core] else max(could_issue(run, core), now)
    set_turn(run.state.turns, core, at, core)
