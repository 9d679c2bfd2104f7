"""A heap that is tried out step by step, in plain Python: malloc a batch of threads, free one address."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.policies.arguments import seed_of, truths, whole
from workbench.policies.malloc.heap import BitmapArena, HeapPolicy
from workbench.policies.malloc.serve import Serve, checked_bytes
from workbench.policies.placement.fit import FirstFit
from workbench.policies.placement.free_map import as_text
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import REFUSED, PlacementNotice
from workbench.structures.bitmaps import all_free, mark_free, mark_taken

MOST_GRANULES = 1 << 24


class _Range(NamedTuple):
    start: int
    granules: int


class DeviceHeap:
    """One heap of granules under one way to serve warps and one placement policy.

    Parameters
    ----------
    serve : Serve
        How a warp's requests are cut into heap requests. Every block is freed as its policy says: with `refcount` once
        its last piece is, with `piecewise` piece by piece, with `arena` once nothing of its warp is left.
    heap_bytes, granule_bytes : int
        The size of the heap, and of what a bit stands for.
    placement : Placement
        Where in the heap a block goes, as `BitmapArena` takes it: one range with an address, and with `piecewise` of
        exactly the granules that a block needs.
    base : int
        The address of the first byte.

    Examples
    --------
    >>> from workbench.policies.malloc import WarpAggregated
    >>> heap = DeviceHeap(WarpAggregated(warp_size=4), heap_bytes=64, granule_bytes=4, base=0x1000)
    >>> [hex(address) for address in heap.malloc([2, 2, 8])]
    ['0x1000', '0x1004', '0x1008']
    >>> heap.free(0x1004); heap.free(0x1008); heap.taken_bytes
    16
    >>> heap.free(0x1000); heap.taken_bytes
    0
    >>> heap.free(0x1000)
    Traceback (most recent call last):
    workbench.errors.InputError: 4096 was freed before; nothing lives there.

    Raises
    ------
    InputError
        A size is no whole number in its range, or the policies do not go together.
    """

    def __init__(
        self,
        serve: Serve,
        heap_bytes: int = 1 << 16,
        granule_bytes: int = 16,
        placement: Placement | None = None,
        base: int = 0,
        seed: int = 0,
    ) -> None:
        heap = BitmapArena(placement=placement or FirstFit())
        self.serve, self.placement = serve, heap.placement
        self.granule, self.base = whole("granule_bytes", granule_bytes, 1, 1 << 20), whole("base", base)
        self.granules = whole("heap_bytes", heap_bytes, self.granule, MOST_GRANULES * self.granule) // self.granule
        check_pieces(serve, heap, self.granule)
        seed = seed_of(seed)
        self._free = all_free(self.granules)
        self._memory = self.placement.start_memory(self.granules, seed)
        self._serve_memory = serve.start_memory(seed)
        self._live: dict[int, tuple[_Range, int]] = {}
        """Address -> the range that its freeing counts for, and its warp."""
        self._pieces: dict[_Range, int] = {}
        """Range -> how many of its pieces live."""
        self._owner: dict[_Range, int] = {}
        """Range -> its warp."""
        self._freed: set[int] = set()

    @property
    def free_map(self) -> str:
        """Return the state as a string, granule 0 first, 1 for a free granule."""
        return as_text(self._free, self.granules)

    @property
    def taken_bytes(self) -> int:
        """Return the bytes of all granules that are not free."""
        return self.granule * self.free_map.count("0")

    def malloc(self, requests: Sequence[int], active: Sequence[bool] | None = None) -> list[int | None]:
        """Return the address that each thread of a batch gets, None for one that gets nothing.

        Raises
        ------
        InputError
            A byte count is no whole number from 0 to 2^40.
        """
        requested = checked_bytes(requests)
        calling = np.array([True] * len(requested) if active is None else truths("active", active, len(requested)))
        addresses: list[int | None] = [None] * len(requested)
        unit = self.serve.unit()
        for first in range(0, len(requested), unit):
            lanes = np.flatnonzero(calling[first : first + unit])
            for one in self.serve.cut(lanes, requested[first + lanes], self._serve_memory):
                if one.leader is not None:
                    self._take(addresses, first, one.lanes, one.offsets, one.sizes)
        return addresses

    def free(self, address: int) -> None:
        """Give back what a thread got; the heap is unchanged where that is refused.

        Raises
        ------
        InputError
            The address was never granted, or has been freed.
        """
        known = isinstance(address, Hashable)
        if not known or address not in self._live:
            if known and address in self._freed:
                raise InputError(f"{shown(address)} was freed before; nothing lives there.")
            raise InputError(f"{shown(address)} was never granted by this heap; nothing lives there.")
        held, warp = self._live.pop(address)
        self._freed.add(address)
        self._pieces[held] -= 1
        arena = self.serve.frees() == "arena"
        if arena and any(other == warp for _, other in self._live.values()):
            return
        together = [one for one, other in self._owner.items() if other == warp] if arena else [held]
        for one in together:
            if self._pieces[one] == 0:
                del self._pieces[one], self._owner[one]
                mark_free(self._free, one.start, one.granules)
                self._tell("released", one)

    def _take(
        self, addresses: list[int | None], first: int, lanes: list[int], offsets: list[int], sizes: list[int]
    ) -> None:
        """Take one request to the heap; where it fails, what the policy says is tried."""
        block = self._place(sum(sizes) + self.serve.block_header())
        if block is not None:
            self._book(addresses, first, block, lanes, offsets, sizes)
            return
        parts = {"all_null": 0, "per_thread_fallback": len(lanes), "halve_and_retry": 2}[self.serve.on_failure()]
        if parts == 0 or len(lanes) == 1:
            return
        step = -(-len(lanes) // parts)
        for k in range(0, len(lanes), step):
            cut = slice(k, k + step)
            self._take(addresses, first, lanes[cut], [o - offsets[k] for o in offsets[cut]], sizes[cut])

    def _place(self, size: int) -> _Range | None:
        granules = max(-(-size // self.granule), 1)
        if granules > self.granules:
            return None
        granules = self.placement.footprint(granules, self.granules)
        start = self.placement.ask(self._free, self.granules, granules, self._memory)
        if start == REFUSED:
            return None
        mark_taken(self._free, start, granules)
        self._tell("granted", _Range(start, granules))
        return _Range(start, granules)

    def _book(
        self,
        addresses: list[int | None],
        first: int,
        block: _Range,
        lanes: list[int],
        offsets: list[int],
        sizes: list[int],
    ) -> None:
        header, warp = self.serve.block_header(), first // self.serve.unit()
        for lane, offset, size in zip(lanes, offsets, sizes, strict=True):
            held = block
            if self.serve.frees() == "piecewise":
                held = _Range(block.start + offset // self.granule, size // self.granule)
            address = self.base + block.start * self.granule + header + offset
            addresses[first + lane] = address
            self._live[address] = held, warp
            self._freed.discard(address)
            self._pieces[held] = self._pieces.get(held, 0) + 1
            self._owner[held] = warp

    def _tell(self, name: str, held: _Range) -> None:
        notice = PlacementNotice(self._free, self.granules, *held, self.placement.parameters(), self._memory)
        self.placement.tell(name, notice)


def check_pieces(serve: Serve, heap: HeapPolicy, granule: int) -> None:
    """Refuse to free piece by piece what does not fill its granules, or what the heap rounds up as a whole."""
    if serve.frees() != "piecewise":
        return
    if not heap.frees_parts():
        raise InputError(
            f"{serve.name}.free_policy piecewise needs a heap that takes exactly the granules of a block. Got "
            f"{heap.short()}. Nearest: bitmap_arena with first_fit."
        )
    align = getattr(serve, "align", 0) or getattr(serve, "min_alloc", 1)
    if align % granule:
        raise InputError(
            f"{serve.name}.align must be a multiple of the granule ({granule} bytes) for pieces to be freed one by "
            f"one. Got {align}. Nearest: {-(-align // granule) * granule}."
        )
