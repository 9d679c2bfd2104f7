"""Frames of the cards' memory: free runs, and the runs behind the driver's addresses (spec 6, R10).

What the driver gives has addresses that follow each other; its frames are one run or several, as the policy `frames`
chooses. All are counted in granules, of which driver allocations have whole numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import RAISED, Answer, kernel, noinline, routine
from workbench.engines.kit.faults import FINE, STOP, fail, numbered, raised, wrong
from workbench.policies.pool.frames import FRAMES, Frames, FramesView

ask_frames = FRAMES.ask


class FrameFaults(NamedTuple):
    """What stops a run."""

    none: int
    frames_raised: int = raised("frames")
    frames_wrong: int = wrong("frames")


FRAME_FAULT = numbered(FrameFaults)
ADDRESS, FRAME, LENGTH = range(3)
"""Of a run that is taken: the granule of its first address, its first frame, and how many there are."""
FREE, TAKEN, UNUSED = range(3)
"""Of a card: free runs, taken runs, free granules."""


class FrameMap(NamedTuple):
    """The runs of granules of all cards."""

    granule: int
    """Bytes; 0 = frames are not simulated."""
    answer: Answer
    params: np.ndarray
    counters: np.ndarray
    """int64[4], what stopped the run: `STOP`."""
    counts: np.ndarray
    """int64[cards, 3], see above."""
    start: np.ndarray
    """int64[cards, space], the first granule of each free run, ascending."""
    length: np.ndarray
    taken: np.ndarray
    """int64[cards, space, 3], runs that are taken, by address."""


def new_frames(capacity: np.ndarray, granule: int, policy: Frames, allocations: int, checked: bool = False) -> FrameMap:
    """Return the memory of cards of which all is free.

    Parameters
    ----------
    capacity : int64[cards]
        Bytes; a rest below a granule is never given.
    granule : int
        Bytes; 0 = frames are not simulated.
    policy : Frames
    allocations : int
        Upper bound on the calls of the driver, of both kinds: each adds two runs at most.
    checked : bool
        Test every array index of the policy's compiled answer.

    Examples
    --------
    >>> from workbench.policies.pool import Lowest
    >>> frames = new_frames(np.array([16]), 1, Lowest(), allocations=4)
    >>> take(frames, 0, 0, 4), take(frames, 0, 4, 4), give(frames, 0, 0, 4), take(frames, 0, 8, 6)
    (0, 0, 4, 0)
    >>> [(frame_of(frames, 0, address), int(run_length(frames, 0, address, 14))) for address in (8, 12)]
    [(0, 4), (8, 2)]
    """
    ready, room = policy.ready(checked), 1 + 2 * allocations if granule else 1
    granules = capacity // granule if granule else np.zeros_like(capacity)
    start, length = np.zeros((2, capacity.size, room), np.int64)
    length[:, 0] = granules
    counts = np.stack([(granules > 0).astype(np.int64), np.zeros_like(granules), granules], axis=1)
    stop, taken = np.zeros(len(STOP), np.int64), np.zeros((capacity.size, room, 3), np.int64)
    return FrameMap(granule, ready.answer, ready.params, stop, counts, start, length, taken)


@routine
def take(frames: FrameMap, card: int, address: int, count: int) -> int:
    """Give frames to so many granules of addresses; return what went wrong, `FINE` = nothing."""
    done = 0
    while done < count and frames.counters[STOP.fault] == FINE:
        done += _take_run(frames, card, address + done, count - done, done)
    return int(frames.counters[STOP.fault])


@noinline
def _take_run(frames: FrameMap, card: int, address: int, need: int, taken: int) -> int:
    """Take the run that the policy chooses; return its granules."""
    start, length, counts = frames.start[card], frames.length[card], frames.counts[card]
    at = ask_frames(frames.answer, FramesView(need, taken, counts[FREE], start, length, frames.params))
    run = _free_run(frames, card, at)
    if at == RAISED or run < 0:
        fail(frames.counters, FRAME_FAULT.frames_raised if at == RAISED else FRAME_FAULT.frames_wrong, 0, card, at)
        return 0
    got = min(need, start[run] + length[run] - at)
    _cut(frames, card, run, at, got)
    _insert_taken(frames, card, address, at, got)
    counts[UNUSED] -= got
    return int(got)


@routine
def give(frames: FrameMap, card: int, address: int, count: int) -> int:
    """Take the frames back that lie behind so many granules of addresses; return how many these are."""
    done = 0
    while done < count:
        run = _taken_run(frames, card, address + done)
        row = frames.taken[card, run]
        offset = address + done - row[ADDRESS]
        got, frame = min(count - done, row[LENGTH] - offset), row[FRAME] + offset
        _remove_taken(frames, card, run, offset, got)
        _join(frames, card, frame, got)
        done += got
    frames.counts[card, UNUSED] += count
    return int(done)


@routine
def frame_of(frames: FrameMap, card: int, address: int) -> int:
    """Return the frame behind an address that the driver has given."""
    row = frames.taken[card, _taken_run(frames, card, address)]
    return int(row[FRAME] + address - row[ADDRESS])


@routine
def run_length(frames: FrameMap, card: int, address: int, end: int) -> int:
    """Return the number of consecutive frames from an address on, before another address."""
    run = _taken_run(frames, card, address)
    begin, row = frames.taken[card, run, FRAME] + address - frames.taken[card, run, ADDRESS], frames.taken[card, run]
    length = row[ADDRESS] + row[LENGTH] - address
    while address + length < end and run + 1 < frames.counts[card, TAKEN]:
        run += 1
        # Addresses that follow each other may lie in frames that do not: both must go on.
        following = frames.taken[card, run]
        if following[ADDRESS] != address + length or following[FRAME] != begin + length:
            break
        length += following[LENGTH]
    return int(min(length, end - address))


@routine
def longest_run(frames: FrameMap, card: int) -> int:
    """Return the granules of the longest free run of a card."""
    longest = 0
    for run in range(frames.counts[card, FREE]):
        longest = max(longest, frames.length[card, run])
    return int(longest)


@kernel
def _free_run(frames: FrameMap, card: int, at: int) -> int:
    """Return the free run that holds a granule, -1 = none."""
    run = _before(frames.start[card], frames.counts[card, FREE], at)
    return run if run >= 0 and at < frames.start[card, run] + frames.length[card, run] else -1


@kernel
def _before(starts: np.ndarray, count: int, at: int) -> int:
    """Return the last of ascending numbers that is not above another, -1 = all are."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] <= at:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def _taken_run(frames: FrameMap, card: int, address: int) -> int:
    """Return the taken run that holds an address, or begins before it."""
    return _before(frames.taken[card, :, ADDRESS], frames.counts[card, TAKEN], address)


@noinline
def _cut(frames: FrameMap, card: int, run: int, at: int, got: int) -> None:
    """Take granules out of a free run: what is left are the ones before, the ones behind, both, or none."""
    start, length = frames.start[card], frames.length[card]
    before, behind = at - start[run], start[run] + length[run] - at - got
    if before > 0 and behind > 0:
        _shift_runs(frames, card, run + 1, 1)
        start[run + 1], length[run + 1], length[run] = at + got, behind, before
    elif before > 0:
        length[run] = before
    elif behind > 0:
        start[run], length[run] = at + got, behind
    else:
        _shift_runs(frames, card, run + 1, -1)


@noinline
def _join(frames: FrameMap, card: int, at: int, got: int) -> None:
    """Add granules to the free ones, joined with the run before and the run behind where they touch."""
    start, length = frames.start[card], frames.length[card]
    run, count = _before(start, frames.counts[card, FREE], at), frames.counts[card, FREE]
    to_before = run >= 0 and start[run] + length[run] == at
    to_behind = run + 1 < count and start[run + 1] == at + got
    if to_before and to_behind:
        length[run] += got + length[run + 1]
        _shift_runs(frames, card, run + 2, -1)
    elif to_before:
        length[run] += got
    elif to_behind:
        start[run + 1], length[run + 1] = at, length[run + 1] + got
    else:
        _shift_runs(frames, card, run + 1, 1)
        start[run + 1], length[run + 1] = at, got


@kernel
def _shift_runs(frames: FrameMap, card: int, run: int, by: int) -> None:
    """Move the free runs from one on by one place, up or down."""
    start, length, count = frames.start[card], frames.length[card], frames.counts[card, FREE]
    if by > 0:
        for k in range(count, run, -1):
            start[k], length[k] = start[k - 1], length[k - 1]
    else:
        for k in range(run, count):
            start[k - 1], length[k - 1] = start[k], length[k]
    frames.counts[card, FREE] += by


@noinline
def _insert_taken(frames: FrameMap, card: int, address: int, frame: int, count: int) -> None:
    """Write down which frames lie behind addresses."""
    rows, place = frames.taken[card], _taken_run(frames, card, address) + 1
    for k in range(frames.counts[card, TAKEN], place, -1):
        for field in range(3):
            rows[k, field] = rows[k - 1, field]
    rows[place, ADDRESS], rows[place, FRAME], rows[place, LENGTH] = address, frame, count
    frames.counts[card, TAKEN] += 1


@noinline
def _remove_taken(frames: FrameMap, card: int, run: int, offset: int, count: int) -> None:
    """Cut granules out of a taken run: what is left are the ones before, the ones behind, both, or none."""
    rows = frames.taken[card]
    address, frame, behind = rows[run, ADDRESS], rows[run, FRAME], rows[run, LENGTH] - offset - count
    if offset > 0:
        rows[run, LENGTH] = offset
        if behind > 0:
            _insert_taken(frames, card, address + offset + count, frame + offset + count, behind)
    elif behind > 0:
        rows[run, ADDRESS], rows[run, FRAME], rows[run, LENGTH] = address + count, frame + count, behind
    else:
        for k in range(run + 1, frames.counts[card, TAKEN]):
            for field in range(3):
                rows[k - 1, field] = rows[k, field]
        frames.counts[card, TAKEN] -= 1
