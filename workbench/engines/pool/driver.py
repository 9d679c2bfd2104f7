"""The driver of a card: bytes by count, or runs of granules among which a placement policy chooses (spec 5, section 8).

With a policy each driver allocation lies in one run of granules, as many as its bytes need, and is refused where no run
is long enough, however many bytes are free (spec 1). Identifiers stay what they are: where a region lies physically is
the driver's own affair.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, addresses, kernel, noinline
from workbench.engines.pool.options import Case
from workbench.engines.pool.state import FAULT, Driver, State, stopped
from workbench.levers import remembered
from workbench.policies.placement.question import PLACE, TOLD, Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import all_free, is_free, mark_free, mark_taken

ask_place, tell_placement = PLACE.ask, TOLD.ask
ASKED, GRANTED, RELEASED = range(3)
"""The answers of the policy: where, and what it is told afterwards."""
WORDS, LENGTHS, SLOTS = range(3)
"""What each card has a part of: free maps, footprints, what the policy remembers."""
NOWHERE = -1


def new_driver(case: Case, capacity: np.ndarray, blocks: int, checked: bool) -> Driver:
    """Return a driver with everything free and the policy's memory of each card as at the start of a run."""
    policy, options, streams = case.slots.driver, case.options, case.streams
    counted = policy.layout != "contiguous"
    granules = np.zeros(capacity.size, np.int64) if counted else capacity // options.driver_granule
    counts = granules.tolist()
    if policy.draws or not policy.built_in:
        each = [policy.ready(max(it, 1), streams.integer(f"driver/{k}"), checked) for k, it in enumerate(counts)]
    else:
        alike = {it: policy.ready(max(it, 1), 0, checked) for it in set(counts)}
        each = [alike[it] for it in counts]
    cards = {it: (all_free(it), _footprints(policy, it)) for it in set(counts)}
    columns = [cards[it][WORDS] for it in counts], [cards[it][LENGTHS] for it in counts], [it.memory for it in each]
    memory = np.concatenate(columns[SLOTS])
    return Driver(
        answers=addresses([each[0].answer, each[0].granted, each[0].released]),
        params=each[0].params,
        granule=0 if counted else options.driver_granule,
        granules=granules,
        first=np.array([np.cumsum([0, *(it.size for it in column)]) for column in columns]),
        free=np.concatenate(columns[WORDS]),
        footprints=np.concatenate(columns[LENGTHS]),
        memory=memory,
        scratch=memory.copy(),
        start=np.full(0 if counted else blocks, NOWHERE),
    )


@remembered
def _footprints(policy: Placement, granules: int) -> np.ndarray:
    """Return the granules that a request of each number of them takes, 0 first: int64[granules + 1]."""
    sizes = np.arange(1, granules + 1)
    return np.concatenate([[0], np.asarray(policy.footprint(sizes, max(granules, 1)), np.int64)])


@kernel
def has_bytes(state: State, row: int, card: int, size: int) -> bool:
    """Return whether the driver has so many bytes of a card, in one run where they must be."""
    if state.driver.granule == 0:
        return bool(state.physical[card] >= size)
    return _has_run(state, row, card, size)


@kernel
def could_have(state: State, card: int, size: int, capacity: int) -> bool:
    """Return whether the driver has so many bytes of a card when nothing of it is taken."""
    if state.driver.granule == 0:
        return size <= capacity
    return bool(_taken(state.driver, card, size) <= state.driver.granules[card])


@noinline
def _has_run(state: State, row: int, card: int, size: int) -> bool:
    """Return whether the policy would place so many bytes; it forgets that it was asked."""
    driver = state.driver
    at, end = driver.first[SLOTS, card], driver.first[SLOTS, card + 1]
    for slot in range(at, end):
        driver.scratch[slot] = driver.memory[slot]
    return _place(state, row, card, _taken(driver, card, size), driver.scratch[at:end]) != NOWHERE


@kernel
def take_bytes(state: State, row: int, card: int, size: int, block: int) -> bool:
    """Take so many bytes of a card for a driver allocation that begins with a block; whether they were there."""
    if state.driver.granule > 0:
        return _take_run(state, row, card, size, block)
    if size > state.physical[card]:
        return False
    state.physical[card] -= size
    return True


@noinline
def _take_run(state: State, row: int, card: int, size: int, block: int) -> bool:
    """Take the run that the policy chooses; whether there is one."""
    driver = state.driver
    length = _taken(driver, card, size)
    memory = driver.memory[driver.first[SLOTS, card] : driver.first[SLOTS, card + 1]]
    start = _place(state, row, card, length, memory)
    if start == NOWHERE:
        return False
    driver.start[block] = start
    mark_taken(driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]], start, length)
    state.physical[card] -= length * driver.granule
    _notify(driver, GRANTED, card, start, length)
    return True


@kernel
def give_bytes(state: State, card: int, size: int, block: int) -> None:
    """Give back what a driver allocation took that began with a block."""
    if state.driver.granule > 0:
        _give_run(state, card, size, block)
    else:
        state.physical[card] += size


@noinline
def _give_run(state: State, card: int, size: int, block: int) -> None:
    """Give a run back, and tell the policy."""
    driver = state.driver
    start, length = driver.start[block], _taken(driver, card, size)
    mark_free(driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]], start, length)
    state.physical[card] += length * driver.granule
    _notify(driver, RELEASED, card, start, length)


@kernel
def _taken(driver: Driver, card: int, size: int) -> int:
    """Return the granules that a driver allocation takes; more than there are where it can never be served."""
    length = -(-size // driver.granule)
    return int(length if length > driver.granules[card] else driver.footprints[driver.first[LENGTHS, card] + length])


@noinline
def _place(state: State, row: int, card: int, length: int, memory: np.ndarray) -> int:
    """Return the first granule of the run that the policy chooses, -1 = there is none."""
    driver = state.driver
    if length > driver.granules[card]:
        return NOWHERE
    free = driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]]
    start = ask_place(driver.answers[ASKED], PlacementView(free, driver.granules[card], length, driver.params, memory))
    if start != NOWHERE and (start < 0 or not is_free(free, start, length)):
        stopped(state, FAULT.driver_raised if start == RAISED else FAULT.driver_wrong, row, start)
        return NOWHERE
    return int(start)


@kernel
def _notify(driver: Driver, what: int, card: int, start: int, length: int) -> None:
    """Tell the policy of what was taken or given back."""
    if driver.answers[what] != NO_ANSWER:
        free = driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]]
        memory = driver.memory[driver.first[SLOTS, card] : driver.first[SLOTS, card + 1]]
        tell_placement(
            driver.answers[what], PlacementNotice(free, driver.granules[card], start, length, driver.params, memory)
        )
