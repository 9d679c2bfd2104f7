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


_BY_WORD = "word_by_word"
_PIECES_OF_16 = {"per_thread": {"align": 16}}
_XMALLOC = "small_aggregated"
_SCATTER = {"small_aggregated": {"below_bytes": 128, "align": 16, "block_header_bytes": 16, "piece_header_bytes": 0}}
_FDG = {"warp_aggregated": {"align": 16, "header_bytes": 16, "free_policy": "arena"}}
_FUSED = {"list_header_bytes": 4}
_BY_UNIT = {"pointers": "each_unit"}

AS_FOUND: Mapping[str, Mapping[str, Policy]] = {
    "one lock, per thread": _design("per_thread", "bitmap_arena", "trylock_spin"),
    "one lock, warp-aggregated": _design("warp_aggregated", "bitmap_arena", "trylock_spin"),
    "one lock, block-aggregated": _design("block_aggregated", "bitmap_arena", "trylock_spin"),
    "bump pointer, per thread": _design("per_thread", "bump_pointer", "lock_free"),
    "bump pointer, warp-aggregated": _design("warp_aggregated", "bump_pointer", "lock_free"),
    "arenas, warp-aggregated": _design("warp_aggregated", "bitmap_arena", "trylock_spin", "warp_arenas"),
    "CUDA": _design(_PIECES_OF_16, "hashed_bins", _BY_WORD),
    "XMalloc": _design(_XMALLOC, "basic_blocks", _BY_WORD),
    "ScatterAlloc": _design(_SCATTER, "scattered_pages", _BY_WORD),
    "Halloc": _design(_PIECES_OF_16, "slabs", _BY_WORD),
    "FDGMalloc": _design(_FDG, "size_classes", "lock_free", {"warp_arenas": {"arenas": 64}}),
    "RegEff-A": _design(_PIECES_OF_16, "atomic_pointer", _BY_WORD),
    "RegEff-C": _design(_PIECES_OF_16, "circular_list", _BY_WORD),
    "RegEff-CF": _design(_PIECES_OF_16, {"circular_list": _FUSED}, _BY_WORD),
    "RegEff-CM": _design(_PIECES_OF_16, {"circular_list": _BY_UNIT}, _BY_WORD),
    "RegEff-CFM": _design(_PIECES_OF_16, {"circular_list": _FUSED | _BY_UNIT}, _BY_WORD),
    "Ouroboros-P-S": _design(_PIECES_OF_16, "page_queue", _BY_WORD),
    "Ouroboros-P-VA": _design(_PIECES_OF_16, {"page_queue": {"levels": 1}}, _BY_WORD),
    "Ouroboros-P-VL": _design(_PIECES_OF_16, {"page_queue": {"levels": 2}}, _BY_WORD),
    "Ouroboros-C-S": _design(_PIECES_OF_16, "chunk_queue", _BY_WORD),
    "Ouroboros-C-VA": _design(_PIECES_OF_16, {"chunk_queue": {"levels": 1}}, _BY_WORD),
    "Ouroboros-C-VL": _design(_PIECES_OF_16, {"chunk_queue": {"levels": 2}}, _BY_WORD),
}
"""The label of each design and its policies by slot of the engine `malloc`."""
