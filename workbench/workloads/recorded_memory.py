"""The memory of a recorded program as requests: what would another policy have done with them?

Requests come from a trace, or to the memory of several cards from a CSV file of the user's (`pool_file`).

A trace tells when blocks were allocated and released, on which card, and how large they were; a snapshot of PyTorch's
memory gives requests to its allocator (`trace_tensors`). What it was recorded from kept memory of its own, so a block
from before the trace is asked for at its beginning: each of them where the trace tells which they were, else one block
as large as all together (`before`). `with_cache` also requests what the recorded allocator held cached at that moment,
and gives it back at once. So a policy that caches starts as full as that one. What is active at the peak, and so
fragmentation, then counts that moment too; reserved bytes are what to compare.

- Without addresses (PyTorch's timelines, Kineto files of 2021) a release is taken for that of the latest live block of
  its size, which leaves every live size as it was.
- Card k of the trace, in the order of their numbers, runs on GPU k of the board; more cards than GPUs are refused.
- What the recorded allocator refused, the program went on without. `refused: ask` asks for it all the same and gives it
  back at once, to see who would have served it.
- `ranks` puts the same trace on so many GPUs, one application each, as data-parallel ranks would do it; `rank_shift_us`
  lets each begin later than the one before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.allocations import AllocationTable, LiveBefore
from workbench.workloads.allocator_log import OTHER
from workbench.workloads.pool_requests import (
    ALLOC,
    FREE,
    PoolRequests,
    TensorRequests,
    check_size,
    gpus_of,
    matched_by_size,
    recorded_program,
)
from workbench.workloads.recorded import OfTrace, Recorded, TraceFile, trace_in


class TracePool(Recorded):
    """The allocations and releases of a recorded trace.

    References
    ----------
    spec 5, section 6; field.md 1.8: no tool replays a snapshot under another policy.
    """

    more_seeds: ClassVar[str] = ""

    device: int = lever(-1, least=-1, most=1 << 31, description="the card whose memory is taken; -1 = every card")
    before: Literal["ask", "leave_out", "with_cache"] = lever(
        "ask",
        description="whether what was live before the trace is asked for at its beginning, and what was cached then",
    )
    refused: Literal["leave_out", "ask"] = lever(
        "leave_out", description="whether what the recorded allocator refused is asked for, and given back at once"
    )
    ranks: int = lever(1, least=1, most=64, unit="GPUs", description="how many GPUs the same trace runs on")
    rank_shift_us: float = lever(
        0.0, least=0, most=1e9, unit="microseconds", description="how much later each rank begins than the one before"
    )
    count: int = lever(0, least=0, most=1 << 40, unit="requests", description="the first so many of a rank; 0 = all")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        place = path or self.name
        requests, gpus = self._requests(where), len(gpus_of(machine))
        cards = int(requests.card.max(initial=0)) + 1
        if cards * self.ranks > gpus:
            what = f"{cards} cards" if cards > 1 else "1 card"
            expected = f"{place}.ranks times the cards of the trace must be at most the GPUs of the board ({gpus})"
            raise InputError(at(where, f"{expected}. Got {self.ranks} x {what}."))
        check_size(int(requests.bytes.max(initial=0)), machine, f"{place}: the largest block of the trace", where)

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        """Return the requests, in the order of time.

        Raises
        ------
        InputError
            The trace cannot be read or holds no memory events, or the board has too few GPUs or too little memory.
        """
        self.check_machine(machine)
        return _on_ranks(self._requests(), self.ranks, round(self.rank_shift_us * 1000), gpus_of(machine))

    def asks(self) -> bool:
        """Return whether there is an allocation among the requests.

        Raises
        ------
        InputError
            The trace cannot be read or holds no memory events.
        """
        return bool((self._requests().action == ALLOC).any())

    def recorded(self) -> Recording:
        """Return the trace's figures of the memory that its own allocator held, to compare a policy with.

        Raises
        ------
        InputError
            The trace holds no memory events.
        """
        return recording_of(self._rows())

    def facts(self, machine: Any) -> dict[str, int]:
        """Return the number of requests that a trace gives on a board, and how many of them are for what was live
        before it."""
        requests = self.pool_requests(machine, Streams(0))
        allocations = int(np.count_nonzero(requests.action == ALLOC))
        rows = self._rows()
        refused = 0 if self.refused == "leave_out" or rows.refusals is None else len(rows.refusals.bytes)
        recorded = (int(np.count_nonzero(rows.bytes > 0)) + refused) * self.ranks
        return {
            "requests": len(requests.time),
            "allocations": allocations,
            "frees": len(requests.time) - allocations,
            "allocations_from_before": max(allocations - recorded, 0),
        }

    def _requests(self, where: str = "") -> PoolRequests:
        try:
            requests = requests_of_rank(self.trace_file(), self.device, self.before != "leave_out", self.count)
            if self.before == "with_cache":
                requests = with_cache(requests, self._rows())
            return with_refused(requests, self._rows()) if self.refused == "ask" else requests
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None

    def _rows(self) -> AllocationTable:
        return memory_events(self.trace_file(), self.device)


def _on_ranks(requests: PoolRequests, ranks: int, shift_ns: int, gpus: np.ndarray) -> PoolRequests:
    """Return the same requests on several GPUs, merged by time; at one time the lower rank comes first."""
    cards, regions = int(requests.card.max(initial=0)) + 1, int(requests.handle.max(initial=0)) + 1
    rank = np.repeat(np.arange(ranks), len(requests.time))
    columns = PoolRequests(*(np.tile(column, ranks) for column in requests))
    time = columns.time + rank * shift_ns
    order = np.argsort(time, kind="stable")
    whole = columns._replace(
        time=time,
        app=columns.app + rank * cards,
        card=gpus[columns.card + rank * cards],
        handle=columns.handle + rank * regions,
    )
    return PoolRequests(*(column[order] for column in whole))


class TraceTensors(OfTrace):
    """The history of a memory snapshot: what was asked, and how the recorded allocator answered."""

    device: int = lever(-1, least=-1, most=1 << 31, description="the card whose history is taken; -1 = all")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        self._requests(where)

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        return self._requests()

    def _requests(self, where: str = "") -> TensorRequests:
        try:
            logs = trace_in(self.trace_file()).logs
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None
        kept = tuple(log for log in logs if self.device in (-1, log.device) and (log.events.action < OTHER).any())
        if not kept:
            there = ", ".join(str(log.device) for log in logs if np.any(log.events.action < OTHER))
            cure = (
                f"it has one of device {there}" if there else "record one with torch.cuda.memory._record_memory_history"
            )
            raise InputError(at(where, f"{self.trace}: holds no history of PyTorch's allocator; {cure}."))
        return recorded_program(kept, self.trace)


def memory_events(file: TraceFile, device: int) -> AllocationTable:
    """Return the memory events of one card, or of all."""
    path, rows = file.path, trace_in(file).allocations
    if rows is None:
        raise InputError(f"{path}: holds no memory events (record with profile_memory, or take a memory snapshot).")
    rows = rows.without_empty()
    if device < 0:
        return rows
    if not (rows.device == device).any():
        there = ", ".join(map(str, np.unique(rows.device)))
        raise InputError(f"{path}: has memory events of device {there} only. Got trace_pool.device {device}.")
    return rows.of_device(device)


@lru_cache(maxsize=8)
def requests_of_rank(file: TraceFile, device: int, ask_before: bool, count: int) -> PoolRequests:
    """Return the requests of one rank, its cards counted from 0."""
    rows = memory_events(file, device)
    before = live_before(rows)
    block = _blocks(rows, before)
    held = before.bytes if ask_before else before.bytes[:0]
    kept = np.ones(len(block), bool) if ask_before else (block >= len(before.bytes))
    start = int(rows.time_ns[0]) if len(rows.time_ns) else 0
    card = np.searchsorted(cards_of(rows), np.concatenate([before.device[: len(held)], rows.device[kept]]))
    requests = PoolRequests(
        time=np.concatenate([np.zeros(len(held), np.int64), rows.time_ns[kept] - start]),
        app=card,
        card=card,
        action=np.concatenate(
            [np.full(len(held), ALLOC, np.int8), np.where(rows.bytes[kept] > 0, ALLOC, FREE).astype(np.int8)]
        ),
        handle=np.concatenate([np.arange(len(held)), block[kept]]),
        bytes=np.concatenate([held, np.abs(rows.bytes[kept])]),
    )
    return PoolRequests(*(column[: count or None] for column in requests))


def with_cache(requests: PoolRequests, rows: AllocationTable) -> PoolRequests:
    """Return the requests with those for what the recorded allocator held cached before the first event, card by
    card."""
    if rows.reserved_after is None or rows.allocated_after is None:
        raise InputError("before: with_cache needs a trace that tells what its allocator had got from the driver.")
    cached = np.array([rows.cached_before(card) for card in cards_of(rows).tolist()], np.int64)
    some = np.flatnonzero(cached)
    extra = _given_back_at_once(requests, np.zeros(len(some), np.int64), some, some, cached[some])
    held = int(np.searchsorted(requests.time, 0, side="right"))
    parts = ((column[:held], more, column[held:]) for column, more in zip(requests, extra, strict=True))
    return PoolRequests(*(np.concatenate(part) for part in parts))


def with_refused(requests: PoolRequests, rows: AllocationTable) -> PoolRequests:
    """Return the requests with those that failed, each given back at once; after what the trace tells of the same
    time."""
    failed = rows.refusals
    if failed is None or not len(failed.bytes):
        return requests
    start = int(rows.time_ns[0]) if len(rows.time_ns) else 0
    card, which = np.searchsorted(cards_of(rows), failed.device), np.arange(len(failed.bytes))
    extra = _given_back_at_once(requests, np.maximum(failed.time_ns - start, 0), card, which, failed.bytes)
    whole = PoolRequests(*(np.concatenate(both) for both in zip(requests, extra, strict=True)))
    order = np.argsort(whole.time, kind="stable")
    return PoolRequests(*(column[order] for column in whole))


def _given_back_at_once(
    requests: PoolRequests, time: np.ndarray, card: np.ndarray, which: np.ndarray, size: np.ndarray
) -> PoolRequests:
    """Return an allocation and its release for each of some sizes, with numbers behind those of the others."""
    handle = int(requests.handle.max(initial=-1)) + 1 + which
    time, card, handle, size = (np.repeat(column, 2) for column in (time, card, handle, size))
    return PoolRequests(time, card, card, np.tile(np.array([ALLOC, FREE], np.int8), len(which)), handle, size)


def cards_of(rows: AllocationTable) -> np.ndarray:
    """Return the numbers of the cards that a trace tells of, the lowest first: int64[cards]."""
    refused = [] if rows.refusals is None else [rows.refusals.device]
    return np.unique(np.concatenate([rows.device, live_before(rows).device, *refused]))


def live_before(rows: AllocationTable) -> LiveBefore:
    """Return the blocks that were live before: those that the trace tells of, else one a card with all that it says was
    live."""
    if rows.before is not None:
        return rows.before
    cards = np.unique(rows.device)
    if rows.allocated_after is None:
        return LiveBefore(np.zeros(0, np.int64), np.zeros(0, np.int64), None)
    first = np.array([np.argmax(rows.device == card) for card in cards], np.int64)
    held = rows.allocated_after[first] - rows.bytes[first]
    return LiveBefore(held[held > 0], cards[held > 0], None)


def _blocks(rows: AllocationTable, before: LiveBefore) -> np.ndarray:
    """Return the number of each row's block, those from before being the first: int64[rows]."""
    if rows.address is None:
        return _by_size(rows, before)
    live: dict[tuple[int, int], int] = {}
    if before.address is not None:
        places = zip(before.device.tolist(), before.address.tolist(), strict=True)
        live = {place: number for number, place in enumerate(places)}
    blocks, number = [], len(before.bytes)
    for size, card, address in zip(rows.bytes.tolist(), rows.device.tolist(), rows.address.tolist(), strict=True):
        known = live.pop((card, address), None) if size < 0 else None
        if known is None:
            known, number = number, number + 1
            if size > 0:
                live[card, address] = known
        blocks.append(known)
    return np.array(blocks, np.int64)


def _by_size(rows: AllocationTable, before: LiveBefore) -> np.ndarray:
    """Return the same where there are no addresses, card by card."""
    blocks = np.empty(len(rows.bytes), np.int64)
    number = len(before.bytes)
    for card in np.unique(rows.device).tolist():
        own, held = rows.device == card, np.flatnonzero(before.device == card)
        known = before.bytes[held].tolist() if rows.before is not None else []
        local = np.array(matched_by_size(rows.bytes[own].tolist(), known), np.int64)
        fresh = local >= len(known)
        blocks[own] = np.where(fresh, number + local - len(known), np.append(held, 0)[np.where(fresh, -1, local)])
        number += int(local.max(initial=-1)) + 1
    return blocks


class Recording(NamedTuple):
    """Memory over time as a trace tells it, of one card or of all cards together."""

    time_ns: np.ndarray
    """int64[rows], since the first event."""
    allocated: np.ndarray | None
    """int64[rows], bytes live after each event; None = not recorded."""
    reserved: np.ndarray | None
    """int64[rows], bytes that the allocator had got from the driver; None = not recorded."""
    driver_calls: int | None
    """How often the allocator called its driver within the trace; None = not recorded."""
    refused: int | None
    """How many requests it could not serve; None = not recorded."""
    cached_before: int
    """Bytes that it held cached when the trace began, as far as the trace tells."""
    lumped_before: int
    """Bytes that were live before without the trace telling which blocks: one block a card stands for them."""


def recording_of(rows: AllocationTable) -> Recording:
    """Return the data of memory events; their time begins with the first of them."""
    start = rows.time_ns[0] if len(rows.time_ns) else 0
    return Recording(
        time_ns=rows.time_ns - start,
        allocated=_together(rows.allocated_after, rows.device),
        reserved=_together(rows.reserved_after, rows.device),
        driver_calls=None if rows.calls is None else len(rows.calls.bytes),
        refused=None if rows.refusals is None else len(rows.refusals.bytes),
        cached_before=sum(rows.cached_before(card) for card in cards_of(rows).tolist()),
        lumped_before=int(live_before(rows).bytes.sum()) if rows.before is None else 0,
    )


def _together(of_card: np.ndarray | None, device: np.ndarray) -> np.ndarray | None:
    """Return the bytes of all cards after each event, from those of the event's card: int64[rows].

    A card holds before its first event what it holds after it.
    """
    if of_card is None:
        return None
    total = np.zeros(len(of_card), np.int64)
    for card in np.unique(device):
        rows = np.flatnonzero(device == card)
        latest = np.searchsorted(rows, np.arange(len(of_card)), side="right") - 1
        total += of_card[rows[np.maximum(latest, 0)]]
    return total
