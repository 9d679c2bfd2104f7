"""The memory of a recorded program as requests: what would another policy have done with them?

A trace tells when blocks were allocated and released, on which card, and how large they were. What it was recorded from
kept memory of its own, so a block from before the trace is asked for at its beginning: each of them where the trace
tells which they were, else one block as large as all together (`before`). `with_cache` also asks for what the recorded
allocator held cached at that moment, and gives it back at once: a policy that caches then starts as full as that one
(what is active at the peak, and so fragmentation, then counts that moment too; reserved bytes are what to compare).

- Without addresses (PyTorch's timelines, Kineto files of 2021) a release is taken for that of the latest live block of
  its size, which leaves every live size as it was.
- Card k of the trace, in the order of their numbers, runs on GPU k of the board; more cards than GPUs are refused.
- What the recorded allocator refused, the program went on without. `refused: ask` asks for it all the same and gives it
  back at once, to see who would have served it.
- `ranks` puts the same trace on so many GPUs, one application each, as data-parallel ranks would do it; `rank_shift_us`
  lets each begin later than the one before.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.allocations import AllocationTable
from workbench.workloads.memory_recording import Recording, recording_of
from workbench.workloads.memory_requests import memory_events, requests_of_rank, with_cache, with_refused
from workbench.workloads.pool_cards import check_size, gpus_of
from workbench.workloads.pool_requests import ALLOC, PoolRequests
from workbench.workloads.recorded import Recorded


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
        """Return what the trace says of the memory that its own allocator held, to compare a policy with.

        Raises
        ------
        InputError
            The trace holds no memory events.
        """
        return recording_of(self._rows())

    def facts(self, machine: Any) -> dict[str, int]:
        """Return how many requests a trace gives on a board, and how many of them are for what was live before it."""
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
            requests = requests_of_rank(self.found(), self.device, self.before != "leave_out", self.count)
            if self.before == "with_cache":
                requests = with_cache(requests, self._rows())
            return with_refused(requests, self._rows()) if self.refused == "ask" else requests
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None

    def _rows(self) -> AllocationTable:
        return memory_events(self.found(), self.device)


def _on_ranks(asked: PoolRequests, ranks: int, shift_ns: int, gpus: np.ndarray) -> PoolRequests:
    """Return the same requests on several GPUs, merged by time; at one time the lower rank comes first."""
    cards, regions = int(asked.card.max(initial=0)) + 1, int(asked.handle.max(initial=0)) + 1
    rank = np.repeat(np.arange(ranks), len(asked.time))
    columns = PoolRequests(*(np.tile(column, ranks) for column in asked))
    time = columns.time + rank * shift_ns
    order = np.argsort(time, kind="stable")
    whole = columns._replace(
        time=time,
        app=columns.app + rank * cards,
        card=gpus[columns.card + rank * cards],
        handle=columns.handle + rank * regions,
    )
    return PoolRequests(*(column[order] for column in whole))
