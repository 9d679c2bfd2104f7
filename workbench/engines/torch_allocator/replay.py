"""What the allocator does with requests under settings, and how exact that is.

Requests of a recording are served by other settings from a fresh start where the history has none. A replay is as
exact as the segments and addresses that came out as they were recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from workbench.compiled import bound
from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.blocks import lay_out
from workbench.engines.torch_allocator.loop import simulate
from workbench.engines.torch_allocator.recording import Recording, live_before, recording_of, without_releases
from workbench.engines.torch_allocator.state import (
    CALLS,
    FIRST_REFUSED,
    FLUSHES,
    MAPPED,
    MIN_BLOCK,
    NEEDS_ROOM,
    NEXT_ADDRESS,
    NOTHING,
    REFUSED,
    RESERVED,
    ROUND_LARGE,
    SMALL_SIZE,
    STATUS,
    Requests,
    Rules,
    Run,
    Start,
    State,
    Supply,
    new_state,
    roomier,
    rounded_sizes,
)
from workbench.workloads.allocator_log import SEGMENT_FREE, SEGMENT_UNMAP, AllocatorLog


class ReplayResult(NamedTuple):
    """What an allocator did with requests."""

    placed: np.ndarray
    """int64[rows], the address of what was granted, -1 = nothing was."""
    reserved: np.ndarray
    """int64[rows], bytes got from the driver after each row."""
    calls: np.ndarray
    """int64[calls, 4]: row, address, bytes (below zero = given back), pages (0 = a segment of its own)."""
    reserved_at_start: int
    refused: int
    first_refused: int
    """The row of the first request that was not served, -1 = all were."""
    flushes: int
    """How often all cached memory went back because the driver had too little."""
    pages_mapped: int
    taken: np.ndarray
    """int64[rows], the bytes of the block that was granted, with what was not split off; no elements = not kept."""

    @property
    def reserved_peak(self) -> int:
        """Return the most bytes got from the driver, the beginning included."""
        grown = np.cumsum(self.calls[:, 2]).max(initial=0) if len(self.calls) else 0
        return self.reserved_at_start + max(int(grown), 0)


NO_SUPPLY = Supply(*(np.zeros(0, np.int64) for _ in Supply._fields))
"""Nothing is known of where the driver gives memory."""


def play(
    requests: Requests,
    rules: Rules,
    start: Start,
    supply: Supply = NO_SUPPLY,
    start_address: int | None = None,
    keeps_sizes: bool = False,
) -> ReplayResult:
    """Serve requests from a layout on.

    Parameters
    ----------
    requests : Requests
        In the order in which the application made them.
    rules : Rules
        The settings; see `AllocatorSettings.rules`.
    start : Start
        What there is at the beginning.
    supply : Supply
        Where the driver gives segments, as far as it is known; elsewhere it gives rising addresses.
    start_address : int, optional
        The first address of which nothing is known; above every known one by default.
    keeps_sizes : bool
        Whether the result has `taken`.
    """
    privates = int(rules.private.max(initial=0)) + 1
    blocks = max(4 * len(start.address) + 256, 1024)
    handles = int(max(requests.handle.max(initial=-1), start.handle.max(initial=-1))) + 1
    state = new_state(rules.private.size, privates, requests.kind.size, handles, blocks, keeps_sizes)
    address = _first_unknown(start, supply) if start_address is None else start_address
    state.counters[NEXT_ADDRESS] = -(-address // ROUND_LARGE) * ROUND_LARGE
    run = Run(start, requests, supply, rules, state)
    bound(lay_out, run)()
    reserved_at_start = int(state.counters[RESERVED])
    state = _simulated(run)
    counters = state.counters
    return ReplayResult(
        placed=state.placed,
        reserved=state.reserved,
        calls=state.calls[: counters[CALLS]].copy(),
        reserved_at_start=reserved_at_start,
        refused=int(counters[REFUSED]),
        first_refused=int(counters[FIRST_REFUSED]),
        flushes=int(counters[FLUSHES]),
        pages_mapped=int(counters[MAPPED]),
        taken=state.taken,
    )


def _simulated(run: Run) -> State:
    """Run to the end, in larger arrays whenever there are more blocks than expected."""
    bound(simulate, run)()
    while run.state.counters[STATUS] == NEEDS_ROOM:
        run = run._replace(state=roomier(run.state))
        bound(simulate, run)()
    return run.state


def _first_unknown(start: Start, supply: Supply) -> int:
    """Return the first address above all that are known."""
    ends = [(part.address + part.size).max(initial=0) for part in (start, supply)]
    return int(max(ends))


class Exactness(NamedTuple):
    """How much of a recording a replay reproduced."""

    segment_allocs: int
    """Segments (and mapped ranges) that the recorded allocator got from its driver."""
    segment_allocs_reproduced: int
    """Those that the replay got too: for the same request, as large, at the same address."""
    allocs: int
    addresses_reproduced: int
    """Allocations that the replay put where they were recorded."""
    guessed_segments: int = 0
    """Expandable segments at the beginning whose pool no event tells."""

    def __str__(self) -> str:
        segments = (
            f"segment allocations reproduced {self.segment_allocs_reproduced:,} of {self.segment_allocs:,}, addresses"
            if self.segment_allocs
            else "no segment was allocated in the history; addresses reproduced"
        )
        result = f"{segments} {self.addresses_reproduced:,} of {self.allocs:,}"
        if self.is_exact or not self.guessed_segments:
            return result
        return f"{result}; the beginning is a guess, as no event tells the pool of some of its memory"

    @property
    def is_exact(self) -> bool:
        """Return whether everything was reproduced."""
        return self.segment_allocs == self.segment_allocs_reproduced and self.allocs == self.addresses_reproduced

    @property
    def share(self) -> float:
        """Return the share of segments and addresses that was reproduced, 1 = there was none."""
        count = self.segment_allocs + self.allocs
        return (self.segment_allocs_reproduced + self.addresses_reproduced) / count if count else 1.0

    def __add__(self, other: object) -> Exactness:
        if not isinstance(other, Exactness):
            return NotImplemented
        return Exactness(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


NOTHING_TO_COMPARE = Exactness(0, 0, 0, 0)


class Replay(NamedTuple):
    """A recording replayed as it was recorded."""

    recording: Recording
    played: ReplayResult
    exactness: Exactness


MOST_GUESSES = 64


def replay_of(log: AllocatorLog) -> Replay:
    """Replay a history, exactly if that is possible.

    The size of a block from before the history is not always told: it keeps up to 1 MiB more than was asked. It is
    taken for what was asked until the replay puts a block behind it that was not there; then it was larger, by as much
    as keeps that block from fitting.
    """
    assumed: dict[int, int] = {}
    for _ in range(MOST_GUESSES):
        recording = recording_of(log, assumed)
        played = replay_as_recorded(recording)
        raised = _raised(recording, played, assumed)
        if raised is None:
            break
        assumed |= raised
    return Replay(recording, played, exactness_of(recording, played))


def _raised(recording: Recording, played: ReplayResult, assumed: dict[int, int]) -> dict[int, int] | None:
    """Return the end of the block behind which the first wrong address lies, so that what was put there does not
    fit."""
    wrong = np.flatnonzero((recording.expected >= 0) & (played.placed != recording.expected))
    if not len(wrong) or not recording.doubtful:
        return None
    row, place = int(wrong[0]), int(played.placed[wrong[0]])
    for address, (least, following) in recording.doubtful.items():
        if least <= place < following:
            requested = recording.requests.size[row : row + 1]
            size = int(rounded_sizes(recording.settings.rules(recording.private), requested)[0])
            # The space behind the block is then `MIN_BLOCK` smaller than what was put there.
            end = following - size + MIN_BLOCK
            known = assumed.get(address, least)
            return {address: end} if known < end <= least + SMALL_SIZE else None
    return None


def replay_as_recorded(recording: Recording) -> ReplayResult:
    """Replay a history from its own beginning under its own settings."""
    rules = recording.settings.rules(recording.private)
    return play(recording.requests, rules, recording.start, recording.supply, keeps_sizes=True)


def exactness_of(recording: Recording, played: ReplayResult) -> Exactness:
    """Compare a replay with what was recorded."""
    requested = recording.expected >= 0
    grown = played.calls[played.calls[:, 2] > 0][:, :3]
    own = Counter(map(tuple, grown.tolist()))
    supply = recording.supply
    columns = (column[recording.implied :].tolist() for column in (supply.row, supply.address, supply.size))
    counter = Counter(zip(*columns, strict=True))
    return Exactness(
        segment_allocs=counter.total(),
        segment_allocs_reproduced=(own & counter).total(),
        allocs=int(requested.sum()),
        addresses_reproduced=int(np.count_nonzero(played.placed[requested] == recording.expected[requested])),
        guessed_segments=recording.guessed_segments,
    )


class _ReplayColumns(NamedTuple):
    requests: Requests
    event: np.ndarray
    """int64[rows], the event of each request, -1 = what was live before."""
    private: np.ndarray
    before: int
    """How many rows, the first ones, belong to no event."""
    refused: np.ndarray
    """int64[requests], rows that ask for what the recorded allocator could not serve."""
    start: Start = NOTHING
    supply: Supply = NO_SUPPLY
    held: np.ndarray = NO_SUPPLY.size
    """int64[blocks], bytes asked for of each block of `start`, by its handle."""


class ReplayInput(_ReplayColumns):
    """What one card's program asks for, whatever the allocator's settings."""

    @cached_property
    def live(self) -> np.ndarray:
        """Return the bytes asked for and live after each row: int64[rows]."""
        requested, held = self.requests, self.held
        change = np.where(requested.kind == rows.ALLOC, requested.size, 0)
        size_of = np.zeros(max(int(requested.handle.max(initial=0)) + 1, len(held)), np.int64)
        size_of[: len(held)] = held
        size_of[requested.handle[requested.kind == rows.ALLOC]] = requested.size[requested.kind == rows.ALLOC]
        frees = (requested.kind == rows.FREE) | (requested.kind == rows.COMPLETE)
        change[frees] = -size_of[requested.handle[frees]]
        result: np.ndarray = int(held.sum()) + np.cumsum(change)
        return result

    @property
    def reserved_at_start(self) -> int:
        """Return the bytes got from the driver before the first row."""
        return int(self.start.size[self.start.kind != rows.UNMAPPED].sum())


def asking_of(recording: Recording, refused: Sequence[int] | None = None) -> ReplayInput:
    """Return the requests of a recorded program.

    What was live before the first event is asked for first, in the order of addresses: which blocks came and went
    before is not told, so the memory that a setting would have kept from that time is not either. What the recorded
    allocator could not serve is asked for too, and given back at once: the question is who could have served it. The
    caches that were emptied for it are not emptied then.

    Parameters
    ----------
    refused : sequence of int, optional
        The events of the refused requests that are asked for; all of them by default.
    """
    return _asked(recording, _before(recording), refused)


def continuing(recording: Recording, refused: Sequence[int] | None = None) -> ReplayInput:
    """Return the same from the layout on in which the recording begins, for its own settings alone.

    The first row asks for nothing: on a smaller card than the beginning holds, what is free goes back there.
    """
    start, supply = recording.start, recording.supply
    nothing = (rows.FREE, _handles(recording), 0, 0, -1, -1)
    replay = _asked(recording, [nothing], refused)
    row = np.searchsorted(replay.event, recording.event[supply.row])
    return replay._replace(start=start, supply=supply._replace(row=row), held=live_before(recording))


def _asked(recording: Recording, before: list[tuple[int, ...]], refused: Sequence[int] | None) -> ReplayInput:
    requests, event = _without_emptied_for_nothing(*without_releases(recording), recording)
    failed = _failed(recording, _handles(recording) + len(before), refused)
    order = np.argsort(np.concatenate([event, _table(failed)[5]]), kind="stable")
    columns = zip(_table(before), (*requests, event), _table(failed), strict=True)
    table = [np.concatenate([first, np.concatenate([own, late])[order]]) for first, own, late in columns]
    is_refused = np.isin(table[1], [row[1] for row in failed]) & (table[0] == rows.ALLOC)
    return ReplayInput(Requests(*table[:5]), table[5], recording.private, len(before), np.flatnonzero(is_refused))


def _handles(recording: Recording) -> int:
    """Return a handle that no block of a recording has."""
    return int(max(recording.requests.handle.max(initial=-1), recording.start.handle.max(initial=-1))) + 1


def _table(table: list[tuple[int, ...]]) -> np.ndarray:
    return np.array(table, np.int64).reshape(-1, 6).T


def _before(recording: Recording) -> list[tuple[int, ...]]:
    """Return a row for each block that was live before the first event."""
    start, sizes = recording.start, live_before(recording)
    held = np.flatnonzero(start.handle >= 0)
    order = held[np.argsort(start.address[held], kind="stable")]
    return [
        (rows.ALLOC, handle, int(sizes[handle]), pool >> 1, -1, -1)
        for handle, pool in zip(start.handle[order].tolist(), start.pool[order].tolist(), strict=True)
    ]


def _failed(recording: Recording, handle: int, chosen: Sequence[int] | None) -> list[tuple[int, ...]]:
    """Return two rows for each chosen request that the recorded allocator could not serve."""
    events = recording.log.events
    result: list[tuple[int, ...]] = []
    for number, at in enumerate(recording.failed.tolist()):
        if chosen is not None and at not in chosen:
            continue
        size = int(events.size[at])
        owner = int(recording.failed_owner[number])
        result += [(kind, handle + number, size, owner, -1, at) for kind in (rows.ALLOC, rows.FREE)]
    return result


def _without_emptied_for_nothing(
    requests: Requests, event: np.ndarray, recording: Recording
) -> tuple[Requests, np.ndarray]:
    """Leave out the releases that the recorded allocator made before it gave up."""
    if not len(recording.failed):
        return requests, event
    actions = recording.log.events.action
    own = set()
    for at in recording.failed.tolist():
        back = at - 1
        while back >= 0 and actions[back] in (SEGMENT_FREE, SEGMENT_UNMAP):
            own.add(back)
            back -= 1
    kept = np.array([it not in own for it in event.tolist()], bool)
    return Requests(*(column[kept] for column in requests)), event[kept]
