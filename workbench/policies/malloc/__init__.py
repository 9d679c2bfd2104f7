"""How do the threads of a GPU get dynamic memory? (spec 2)

`AS_FOUND` is device allocators as published: for each the policies, with their levers, that come nearest to it.
A sweep says them by name, `policy: {serve: per_thread, heap: size_classes, lock: lock_free, arenas: hashed_arenas}`.
What each source says, how near the policies come, and what is left out stands in `DEVIATIONS.md`.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.policies.malloc.device_heap import DeviceHeap
from workbench.policies.malloc.serve import Served
from workbench.policies.policy import Policy, exported, read_policy

globals().update(exported(__name__))


def _design(serve: object, heap: object, lock: object, arenas: object = "one_heap") -> Mapping[str, Policy]:
    slots = {"serve": serve, "heap": heap, "lock": lock, "arenas": arenas}
    return {slot: read_policy(slot, given) for slot, given in slots.items()}


_CAS = {"lock_free": {"operation": "compare_and_swap", "hold_cycles": 24}}
_PIECES_OF_16 = {"per_thread": {"align": 16}}
_XMALLOC = {"warp_aggregated": {"align": 16, "header_bytes": 16}}
_FDG = {"warp_aggregated": {"align": 16, "header_bytes": 16, "free_policy": "arena"}}

AS_FOUND: Mapping[str, Mapping[str, Policy]] = {
    "one lock, per thread": _design("per_thread", "bitmap_arena", "trylock_spin"),
    "one lock, warp-aggregated": _design("warp_aggregated", "bitmap_arena", "trylock_spin"),
    "one lock, block-aggregated": _design("block_aggregated", "bitmap_arena", "trylock_spin"),
    "bump pointer, per thread": _design("per_thread", "bump_pointer", "lock_free"),
    "bump pointer, warp-aggregated": _design("warp_aggregated", "bump_pointer", "lock_free"),
    "arenas, warp-aggregated": _design("warp_aggregated", "bitmap_arena", "trylock_spin", "warp_arenas"),
    "XMalloc": _design(_XMALLOC, "size_classes", _CAS),
    "ScatterAlloc": _design(_PIECES_OF_16, "size_classes", _CAS, {"hashed_arenas": {"arenas": 64, "probes": 16}}),
    "Halloc": _design(_PIECES_OF_16, "size_classes", "lock_free", {"hashed_arenas": {"arenas": 16, "probes": 16}}),
    "FDGMalloc": _design(_FDG, "size_classes", "lock_free", {"warp_arenas": {"arenas": 64}}),
    "Ouroboros": _design(
        _PIECES_OF_16, {"size_classes": {"chunk_bytes": 8192}}, _CAS, {"size_arenas": {"arenas": 10, "probes": 1}}
    ),
}
"""The label of each design and its policies by slot of the engine `malloc`."""
