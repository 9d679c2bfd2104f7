"""Plain answers to the node's questions, and their names; any function of the same form can be given instead.

| question | is given | answers |
| --- | --- | --- |
| `order` | priorities 1 to P, cycle | the priorities, most urgent first |
| `split` | waves, units, the module's pointer | waves by unit, next pointer |
| `choice` | a `Candidate` a module that fits, in order | the module of one of them |
| `stuck` | the heads of a card's channels, failed rounds, threshold | those to split, wave by wave |
| `registers`, `shared`, `heap` | a free map (list of bool), length | first block, None if it does not fit |
| `serve` | bytes of the lanes, least bytes | requests at the heap, lists of lanes; `aggregates` if it divides |
| `locate` | core, the cores that hold the page, hops to each | peers to ask, in order; None = no directory |
| `fill` | core, page, pages held by core | cores that get a copy beside the one that asked |
| `eviction` | pages of a full set, least recent first, and how many cores hold each | the victim |
| `target` | bytes, cards as (card, free bytes, GB/s) | the card; None = none |
| `cache` | sizes of cached blocks, size | index of the block; None = none |
| `frames` | free runs of granules, count | runs that are taken |
| `residency` | card where memory came free, regions borrowed by it, oldest first, free bytes | regions that move home |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.oracles.node.frames import longest, lowest


class Candidate(NamedTuple):
    """What a choice of modules sees of one that fits."""

    module: int
    waves: int  # that it runs
    free: tuple[int, int, int, int]  # wave slots, vgpr blocks, sgpr blocks, shared segments
    energy: float  # of the last `history_cycles`
    held: int  # pages of the group that its TLB or its directory holds; 0 unless the choice asks


def static(priorities: Sequence[int], cycle: int) -> list[int]:
    """Return the priorities as they are."""
    return list(priorities)


def windows(priorities: Sequence[int], cycle: int) -> list[int]:
    """Raise one priority in its window; windows have 64 times P, P - 1, ..., 1 cycles (spec 3, R17, E8)."""
    lengths = [64 * (len(priorities) - k) for k in range(len(priorities))]
    phase, raised = cycle % sum(lengths), 0
    while phase >= lengths[raised]:
        phase, raised = phase - lengths[raised], raised + 1
    return [priorities[raised], *(one for one in priorities if one != priorities[raised])]


def rotated(waves: int, units: int, pointer: int) -> tuple[list[int], int]:
    """Split evenly, beginning behind the tail pointer (spec 3, R60 to R63)."""
    even = [waves // units + (t < waves % units) for t in range(units)]
    turn = (pointer + 1) % units
    return [even[(t - turn) % units] for t in range(units)], (pointer + waves) % units


def unrotated(waves: int, units: int, pointer: int) -> tuple[list[int], int]:
    """Split evenly, always from unit 0 on."""
    return [waves // units + (t < waves % units) for t in range(units)], pointer


def first_module(candidates: Sequence[Candidate]) -> int:
    """Choose the lowest module."""
    return candidates[0].module


def balanced(candidates: Sequence[Candidate]) -> int:
    """Choose the module with the fewest waves, the lowest of equals."""
    return min(candidates, key=lambda one: (one.waves, one.module)).module


def most_residual(candidates: Sequence[Candidate]) -> int:
    """Choose the module with the largest sum of free amounts, the lowest of equals (spec 3, R70)."""
    return min(candidates, key=lambda one: (-sum(one.free), one.module)).module


def least_energy(candidates: Sequence[Candidate]) -> int:
    """Choose the module whose recent instructions took least, the lowest of equals (spec 3, R76)."""
    return min(candidates, key=lambda one: (one.energy, one.module)).module


def affinity(candidates: Sequence[Candidate]) -> int:
    """Choose the module that holds most pages of the group; of equals the fewest waves, then the lowest (R15)."""
    return min(candidates, key=lambda one: (-one.held, one.waves, one.module)).module


def never_split(heads: Sequence[Any], failed: int, threshold: int) -> list[Any]:
    """Split nothing."""
    return []


def split_when_stuck(heads: Sequence[Any], failed: int, threshold: int) -> list[Any]:
    """Split all independent heads once more rounds than the threshold have failed (spec 3, R22 to R26)."""
    return [head for head in heads if failed > threshold and head.kernel.independent and head.waves > 1]


def first_fit(free: Sequence[bool], length: int) -> int | None:
    """Place at the lowest start."""
    return next(iter(_starts(free, length)), None)


def nearest_boundary(free: Sequence[bool], length: int) -> int | None:
    """Place nearest to either end, at the low end of equals (spec 1, R19, R21)."""
    rest = len(free) - length
    return min(_starts(free, length), key=lambda start: (min(start, rest - start), start), default=None)


def best_fit(free: Sequence[bool], length: int) -> int | None:
    """Place at the low end of the shortest hole that is long enough, the lowest of equals."""
    return min(_starts(free, length), key=lambda start: (_hole(free, start), start), default=None)


def _starts(free: Sequence[bool], length: int) -> list[int]:
    return [start for start in range(len(free) - length + 1) if all(free[start : start + length])]


def _hole(free: Sequence[bool], at: int) -> int:
    low, high = at, at
    while low and free[low - 1]:
        low -= 1
    while high < len(free) and free[high]:
        high += 1
    return high - low


def per_thread(lanes: Sequence[int], least: int) -> list[list[int]]:
    """Let every lane ask for itself (spec 2, R21)."""
    return [[max(size, least)] for size in lanes]


def warp_aggregated(lanes: Sequence[int], least: int) -> list[list[int]]:
    """Let one lane ask for all, each piece rounded up to the least bytes, a power of two (spec 2, R5, R6, R13, E5)."""
    align = 1 << (least - 1).bit_length()
    return [[-(-max(size, least) // align) * align for size in lanes]]


warp_aggregated.aggregates = True  # type: ignore[attr-defined]


def no_directory(core: int, holders: Sequence[int], hops: Callable[[int], int]) -> list[int] | None:
    """Ask no peer."""
    return None


def directory(core: int, holders: Sequence[int], hops: Callable[[int], int]) -> list[int] | None:
    """Ask the holders in the order of the bitmap (spec 4, R6, R7)."""
    return [peer for peer in holders if peer != core]


def nearest_holder(core: int, holders: Sequence[int], hops: Callable[[int], int]) -> list[int] | None:
    """Ask the nearest holder first, the lowest of equals."""
    return sorted((peer for peer in holders if peer != core), key=lambda peer: (hops(peer), peer))


def demand_always(core: int, page: int, held: Sequence[Sequence[int]]) -> list[int]:
    """Fill the core that asked, nobody else."""
    return []


def push_pair(core: int, page: int, held: Sequence[Sequence[int]]) -> list[int]:
    """Copy to every peer that shares at least two pages with the core and lacks this one (spec 4, R18)."""
    mine = set(held[core])
    return [p for p, pages in enumerate(held) if p != core and page not in pages and len(mine.intersection(pages)) >= 2]


def lru(pages: Sequence[int], degrees: Sequence[int]) -> int:
    """Evict the least recent."""
    return pages[0]


def mru(pages: Sequence[int], degrees: Sequence[int]) -> int:
    """Evict the most recent."""
    return pages[-1]


def sharing_aware(pages: Sequence[int], degrees: Sequence[int]) -> int:
    """Evict the most recent of four that fewer than two cores hold, else the most recent (spec 4, R22 to R26)."""
    candidates = list(zip(pages, degrees))[::-1][:4]
    return next((page for page, degree in candidates if degree < 2), pages[-1])


def max_bandwidth(size: int, cards: Sequence[tuple[int, int, float]]) -> int | None:
    """Borrow over the widest path, from the lowest card of equals (spec 5, R18)."""
    return min(cards, key=lambda card: (-card[2], card[0]), default=(None,))[0]


def most_free(size: int, cards: Sequence[tuple[int, int, float]]) -> int | None:
    """Borrow from the card with most free memory, the lowest of equals."""
    return min(cards, key=lambda card: (-card[1], card[0]), default=(None,))[0]


def local_only(size: int, cards: Sequence[tuple[int, int, float]]) -> int | None:
    """Borrow from nobody."""
    return None


def best_fit_block(sizes: Sequence[int], size: int) -> int | None:
    """Take the smallest cached block that is large enough, the first of equals (spec 5, R11)."""
    fitting = [(block, index) for index, block in enumerate(sizes) if block >= size]
    return min(fitting)[1] if fitting else None


def no_cache(sizes: Sequence[int], size: int) -> int | None:
    """Take no cached block."""
    return None


def stay(card: int, borrowed: Sequence[Any], free: int) -> list[Any]:
    """Move nothing."""
    return []


def migrate_back(card: int, borrowed: Sequence[Any], free: int) -> list[Any]:
    """Move the oldest region home, if it fits there (spec 5, E17)."""
    return [region for region in borrowed if region.size <= free][:1]


TABLE: dict[str, dict[str, Callable[..., Any]]] = {
    "order": {"static": static, "windows": windows},
    "split": {"rotated": rotated, "unrotated": unrotated},
    "choice": {
        "first_module": first_module,
        "balanced": balanced,
        "most_residual": most_residual,
        "least_energy": least_energy,
        "affinity": affinity,
    },
    "stuck": {"never_split": never_split, "split_when_stuck": split_when_stuck},
    "registers": {"first_fit": first_fit, "nearest_boundary": nearest_boundary, "best_fit": best_fit},
    "shared": {"first_fit": first_fit, "nearest_boundary": nearest_boundary, "best_fit": best_fit},
    "heap": {"first_fit": first_fit, "nearest_boundary": nearest_boundary, "best_fit": best_fit},
    "serve": {"per_thread": per_thread, "warp_aggregated": warp_aggregated},
    "locate": {"no_directory": no_directory, "directory": directory, "nearest_holder": nearest_holder},
    "fill": {"demand_always": demand_always, "push_pair": push_pair},
    "eviction": {"lru": lru, "mru": mru, "sharing_aware": sharing_aware},
    "shared_eviction": {"lru": lru, "mru": mru},
    "target": {"max_bandwidth": max_bandwidth, "most_free": most_free, "local_only": local_only},
    "cache": {"best_fit": best_fit_block, "no_cache": no_cache},
    "frames": {"lowest": lowest, "longest": longest},
    "residency": {"stay": stay, "migrate_back": migrate_back},
}


def answer_of(question: str, policy: Any) -> Callable[..., Any]:
    """Return the function that a policy is, or that its name stands for."""
    return policy if callable(policy) else TABLE[question][policy]
