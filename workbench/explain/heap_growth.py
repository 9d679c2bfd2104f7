"""Heaps of device malloc that grow by asking the pool: do the pieces of a warp stay on one card? (spec 5, section 8)

Every card has a heap of its own, which begins with nothing. A segment of it is asked of the pool when a block first
touches that segment, so a heap grows upwards as its placement does; it never shrinks, as a device heap never does.
A segment may come from another card, and then so do the pieces in it. `heaps_on_pool` compares the ways of serving a
warp.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.explain.page_accesses import simulated, spread
from workbench.levers import Spec, lever
from workbench.machine import Board
from workbench.records.malloc import MallocRecord, address
from workbench.records.pool import PoolRecord, granted
from workbench.workloads.csv_columns import write_file
from workbench.workloads.pool_file import pool_columns
from workbench.workloads.pool_requests import ALLOC, PoolRequests

SERVES = ("warp_aggregated", "per_thread")
TARGETS = ("max_bandwidth", "most_free", "round_robin")
SEGMENTS = (1 << 12, 1 << 14, 1 << 16)
LEFT = 1 << 17


class HeapOnCards(NamedTuple):
    """Where the pieces of one card's heap came to lie."""

    card: int
    segments: int
    remote_segments: int
    calls: int
    """Calls of warps that got memory."""
    straddling_percent: float
    """Of these calls, those whose pieces lie on more than one card; NaN where there are none."""
    remote_percent: float
    """Of the bytes of pieces, those on another card than the heap's; NaN where there are none."""
    refused_percent: float
    """Likewise, in segments that the pool refused."""


class WarpsAndCards(NamedTuple):
    """One way of serving warps, choosing cards and growing."""

    serve: str
    target: str
    segment_bytes: int
    heap: HeapOnCards
    """Of the card that is short of memory."""


def heaps_on_pool(
    serves: Sequence[Any] = SERVES,
    targets: Sequence[Any] = TARGETS,
    segments: Sequence[int] = SEGMENTS,
    workload: Any = "mixed_sizes",
    machine: Any = "dgx_1v",
    left_bytes: int = LEFT,
    seed: int = 0,
) -> list[WarpsAndCards]:
    """Let the threads of every GPU of a board ask their card's heap for memory; the first GPU has little left.

    GPU k runs the workload's seed + k. All have the same heap, one after another grows by segments of the pool, and of
    each combination the first GPU's heap is told, in the order of the arguments.

    Parameters
    ----------
    serves : sequence
        Policies of the engine `malloc` for the question serve, as a sweep says them.
    targets : sequence
        Policies of the engine `pool` for the question target.
    segments : sequence of int
        Bytes of a segment.
    workload, machine
        Of the engine `malloc`, and the board.
    left_bytes : int
        What the first GPU has left for its heap; the others have all their memory.

    Raises
    ------
    InputError
        Nothing is to be compared, or one of the settings is wrong.

    References
    ----------
    spec 5, section 8 (spec 2: the warp allocator's heap is one region; pieces of one warp should not straddle cards).

    Examples
    --------
    >>> few = {"synthetic": "random_mallocs", "threads": 512}
    >>> result = heaps_on_pool(["warp_aggregated"], workload=few, machine="table_300", left_bytes=1 << 14)
    >>> [(one.target, one.heap.straddling_percent) for one in result if one.segment_bytes == 1 << 12]
    [('max_bandwidth', 6.25), ('most_free', 6.25), ('round_robin', 81.25)]
    """
    if not (serves and targets and segments):
        raise InputError("heaps_on_pool needs at least one way to serve, one target and one size of a segment.")
    board = Board.read(machine)
    short = _short_of_memory(board, left_bytes)
    gpus = [place for place, card in enumerate(board.cards) if card.kind == "gpu"]
    rows = []
    for serve in serves:
        config = {"engine": "malloc", "machine": "h100", "workload": workload, "policy": {"serve": serve}}
        heaps: dict[int, MallocRecord] = {card: simulated(config, seed + k) for k, card in enumerate(gpus)}
        for target in targets:
            for size in segments:
                growth = HeapGrowth.read({"segment_bytes": size})
                heap = _on_cards(heaps, growth, target, short, seed)[0]
                rows.append(WarpsAndCards(str(serve), str(target), size, heap))
    return rows


def _short_of_memory(board: Board, left_bytes: int) -> Board:
    """Return the board with so much left on its first GPU."""
    first = next((card for card in board.cards if card.kind == "gpu"), None)
    if first is None:
        raise InputError("heaps_on_pool needs a board with a GPU. Got one of CPUs alone.")
    less = first.but(used_bytes=max(first.memory_bytes - left_bytes, 0))
    return board.but(cards=tuple(less if card is first else card for card in board.cards))


def _on_cards(
    heaps: dict[int, MallocRecord], growth: HeapGrowth, target: Any, board: Board, seed: int
) -> list[HeapOnCards]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "segments.csv"
        write_file([pool_columns(segment_requests(heaps, growth), board.ids)], place)
        workload = {"file": str(place)}
        config = {"engine": "pool", "machine": board, "workload": workload, "policy": {"target": target}}
        return pieces_on_cards(heaps, simulated(config, seed), growth)


NOWHERE = -1
"""Instead of the card of a segment that the pool refused."""


class HeapGrowth(Spec):
    """How heaps grow."""

    segment_bytes: int = lever(
        1 << 16, least=64, most=1 << 30, scale="power_of_two", unit="bytes", description="what a heap asks the pool for"
    )
    warp_size: int = lever(32, least=1, most=1024, unit="threads", description="threads of a warp")
    clock_mhz: float = lever(
        1000.0, least=1, most=100_000, unit="MHz", description="the clock in which cycles are counted"
    )


def segment_requests(heaps: Mapping[int, MallocRecord], growth: HeapGrowth | None = None) -> PoolRequests:
    """Return the requests of heaps to the pool as they grow: one request a segment, by time, of equal times by card,
    then address.

    Parameters
    ----------
    heaps : mapping
        From a card's place on the board to the run of the engine `malloc` on that card. The application is the card's
        place, the handle the number of the segment.
    growth : HeapGrowth, optional
        How they grow; the defaults if None.

    Raises
    ------
    InputError
        There is no heap.

    References
    ----------
    spec 5, section 8: the warp allocator's heap is one region; growth asks the pool.

    Examples
    --------
    >>> from workbench.explain.page_accesses import simulated
    >>> few = {"synthetic": "random_mallocs", "threads": 64, "size": 100}
    >>> heap = simulated({"engine": "malloc", "machine": "h100", "workload": few})
    >>> segment_requests({0: heap}, HeapGrowth(segment_bytes=2048)).handle.tolist()
    [0, 1, 2, 3]
    """
    if not heaps:
        raise InputError("segment_requests needs the heap of at least one card. Got none.")
    how = growth or HeapGrowth.read({})
    parts = [_segments(card, record, how) for card, record in sorted(heaps.items())]
    card, segment, cycle = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    time = (cycle * (1000 / how.clock_mhz)).astype(np.int64)
    order = np.lexsort((segment, card, time))
    count = order.size
    action, size = np.full(count, ALLOC, np.int8), np.full(count, how.segment_bytes)
    return PoolRequests(time[order], card[order], card[order], action, segment[order], size)


def _segments(card: int, record: MallocRecord, how: HeapGrowth) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the segments that blocks touch, and the cycle at which each first is."""
    first = record.base * record.granule_bytes // how.segment_bytes
    last = ((record.base + record.granules) * record.granule_bytes - 1) // how.segment_bytes
    block, further = spread(last - first + 1)
    order = np.argsort(record.granted[block], kind="stable")
    segment, at = np.unique((first[block] + further)[order], return_index=True)
    return np.full(segment.size, card), segment, record.granted[block][order][at]


def pieces_on_cards(
    heaps: Mapping[int, MallocRecord], record: PoolRecord, growth: HeapGrowth | None = None
) -> list[HeapOnCards]:
    """Return the places of the pieces once a run of the engine `pool` has served what `segment_requests` asks.

    A call of a warp is all its lanes that asked in the same cycle. A piece that crosses the end of a segment lies on
    the cards of both. What lies beyond the last segment that a block touches counts as refused.

    Parameters
    ----------
    heaps, growth
        As in `segment_requests`.
    record : PoolRecord
        Of that run; its requests are these, whatever it calls the regions.

    Returns
    -------
    list of HeapOnCards
        One a heap, by card.

    Raises
    ------
    InputError
        There is no heap, or the record is of other requests.

    References
    ----------
    spec 5, section 8: pieces of one warp should not straddle cards. `heaps_on_pool` has an example of both.
    """
    how = growth or HeapGrowth.read({})
    requests = segment_requests(heaps, how)
    if not np.array_equal(requests.time, record.time) or not np.array_equal(requests.card, record.borrower):
        raise InputError("pieces_on_cards needs the record of what segment_requests asks. Got one of other requests.")
    card = np.where(granted(record), record.card, NOWHERE)
    rows = []
    for place, heap in sorted(heaps.items()):
        mine = requests.card == place
        rows.append(_heap(place, _parts(heap, how), _Segments(requests.handle[mine], card[mine])))
    return rows


class _Segments(NamedTuple):
    """What the pool made of one heap's requests."""

    number: np.ndarray
    """int64[segments]."""
    lies_on: np.ndarray
    """int64[segments], the card of each; `NOWHERE` if it was refused."""

    def card_of(self, number: np.ndarray) -> np.ndarray:
        """Return the card of each segment that is named: `NOWHERE` also for one that was never asked for."""
        cards = np.full(max(int(self.number.max(initial=-1)), int(number.max(initial=-1))) + 1, NOWHERE)
        cards[self.number] = self.lies_on
        return np.asarray(cards[number])


class _Parts(NamedTuple):
    """The pieces of a heap, cut at the ends of its segments."""

    segment: np.ndarray
    """int64[parts]."""
    bytes: np.ndarray
    """int64[parts]."""
    call: np.ndarray
    """int64[parts], the number of the call that got the piece."""
    calls: int


def _parts(heap: MallocRecord, how: HeapGrowth) -> _Parts:
    rows = np.flatnonzero((heap.block >= 0) & (heap.size > 0))
    begin = address(heap)[rows] - heap.base_address
    end = begin + heap.size[rows]
    first, last = begin // how.segment_bytes, (end - 1) // how.segment_bytes
    piece, further = spread(last - first + 1)
    segment = first[piece] + further
    upper = np.minimum(end[piece], (segment + 1) * how.segment_bytes)
    lower = np.maximum(begin[piece], segment * how.segment_bytes)
    call_key = np.stack([heap.thread[rows] // how.warp_size, heap.arrival[rows]])
    calls, call = np.unique(call_key, axis=1, return_inverse=True)
    return _Parts(segment, upper - lower, call.reshape(-1)[piece], calls.shape[1])


def _heap(card: int, parts: _Parts, segments: _Segments) -> HeapOnCards:
    where = segments.card_of(parts.segment)
    whole = int(parts.bytes.sum())
    return HeapOnCards(
        card=card,
        segments=segments.number.size,
        remote_segments=int(_remote(segments.lies_on, card).sum()),
        calls=parts.calls,
        straddling_percent=_percent(_straddling(parts.call, where), parts.calls),
        remote_percent=_percent(int(parts.bytes[_remote(where, card)].sum()), whole),
        refused_percent=_percent(int(parts.bytes[where == NOWHERE].sum()), whole),
    )


def _remote(lies_on: np.ndarray, card: int) -> np.ndarray:
    return np.asarray((lies_on != NOWHERE) & (lies_on != card))


def _straddling(call: np.ndarray, lies_on: np.ndarray) -> int:
    """Return the number of calls that have parts on more than one card."""
    granted_parts = lies_on != NOWHERE
    pairs = np.unique(np.stack([call[granted_parts], lies_on[granted_parts]]), axis=1)
    return int((np.bincount(pairs[0]) > 1).sum())


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else float("nan")
