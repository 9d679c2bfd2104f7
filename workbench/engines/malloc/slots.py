"""What the engine `malloc` leaves to policies."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.kit import Given, slot
from workbench.engines.malloc.options import MallocOptions
from workbench.machine import Machine
from workbench.policies.malloc.arenas import Arenas
from workbench.policies.malloc.heap import BitmapArena, HeapPolicy
from workbench.policies.malloc.lock import HeapLock
from workbench.policies.malloc.serve.question import Serve
from workbench.policies.placement.question import Placement


class Slots(NamedTuple):
    """What is decided."""

    serve: Serve = slot("warp_aggregated")
    heap: HeapPolicy = slot("bitmap_arena")
    lock: HeapLock = slot("trylock_spin")
    arenas: Arenas = slot("one_heap")


Case = Given[Slots, MallocOptions, Machine]


def placement_of(heap: HeapPolicy) -> Placement | None:
    """Return the placement policy of a bitmap; other heaps have none."""
    return heap.placement if isinstance(heap, BitmapArena) else None
