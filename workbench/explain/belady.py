"""Belady's bound: the fewest misses of a private TLB that knows the future, and each eviction's distance from it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import read_sweep
from workbench.policies.policy import policies
from workbench.policies.translation.eviction.question import UNPROTECTED, Eviction
from workbench.records.translation import SERVED_BY, TranslationRecord
from workbench.streams import Streams

_SERVED_AT_ONCE = [SERVED_BY.index("private"), SERVED_BY.index("merged")]


class PrivateMisses(NamedTuple):
    """The private TLBs of all cores under one eviction."""

    eviction: str
    misses: int
    over_bound: float
    """Its misses over Belady's, less 1."""


def eviction_misses(
    workload: Any, evictions: Sequence[Any] | None = None, machine: str = "patent_pilot", seed: int = 0
) -> list[PrivateMisses]:
    """Return the misses of private TLBs that share nothing, an eviction a row; Belady's bound first, then as asked for.

    Each core fills what it misses and asks no other, and translations take no time: whether an access hits depends on
    the order of accesses alone, as in the bound.

    Parameters
    ----------
    workload : str or mapping
        As a sweep says it: accesses to pages.
    machine : str
        A preset, of which cores and private TLBs count.
    evictions : sequence, optional
        As a sweep says them; every one of the workbench that looks at no sharing if None.
    seed : int
        Of the accesses and of evictions that draw.

    Raises
    ------
    InputError
        There is no eviction, or a part is not known.

    References
    ----------
    spec 4, section 7 (Belady's optimum per private TLB: bound for eviction).

    Examples
    --------
    >>> pages = {"regime": "pilot_cyclic_private", "count": 4000}  # each core sweeps 48 pages, and holds 32
    >>> for row in eviction_misses(pages, ["lru", "mru"]):
    ...     print(row.eviction, row.misses, round(row.over_bound, 2))
    belady 1536 0.0
    lru 4000 1.6
    mru 1536 0.0
    """
    if evictions is None:
        own = [cls() for cls in policies("eviction").values() if cls.built_in and issubclass(cls, Eviction)]
        evictions = [policy.name for policy in own if policy.protection()[0] == UNPROTECTED]
    if not evictions:
        raise InputError("eviction_misses needs at least one eviction. Got none.")
    policy = {"locate": "no_directory", "fill": "demand_always", "eviction": {"vary": list(evictions)}}
    timeless = {"preset": machine, "private_cycles": 0, "level_cycles": 0, "shared_entries": 0}
    config = {"engine": "translation", "machine": timeless, "workload": workload, "policy": policy, "seeds": 1}
    plan = make_plan(read_sweep(config))
    names, engine = Results(plan, []), plan.sweep.mechanism.engine
    least = _fewest(plan.points[0].setup, seed)
    rows = [(names.label(it), _missed(engine.simulate(it.setup, seed))) for it in plan.points]
    return [PrivateMisses(name, misses, misses / least - 1) for name, misses in [("belady", least), *rows]]


def _missed(record: TranslationRecord) -> int:
    return int(record.served.sum() - record.served[:, _SERVED_AT_ONCE].sum())


def _fewest(setup: Any, seed: int) -> int:
    """Count Belady's misses of every core, each on its own accesses."""
    blocks = list(setup.workload.accesses(setup.machine, Streams(seed)))
    core, page = (np.concatenate([getattr(block, column) for block in blocks]) for column in ("core", "page"))
    tlb = setup.machine.private_entries, setup.machine.private_ways
    return sum(belady_misses(page[core == k], *tlb) for k in range(setup.machine.cores))


def belady_misses(page: Sequence[int] | np.ndarray, entries: int, ways: int = 0) -> int:
    """Return the misses of the policy that evicts the page whose next use is farthest off: no other has fewer.

    Each access fills its page; no other event does. Pages are laid over the sets by their number.

    Parameters
    ----------
    page : int64[accesses]
        The pages that one core accesses, in order.
    entries, ways : int
        Of the TLB; 0 ways = fully associative.

    Raises
    ------
    InputError
        There is no entry, or the ways do not divide the entries.

    References
    ----------
    Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.

    Examples
    --------
    >>> belady_misses([1, 2, 3, 1, 2, 3, 1, 2, 3], entries=2)
    6
    """
    if entries < 1:
        raise wrong_value("", "entries", "must be at least 1", entries, 1)
    if ways and entries % ways:
        raise wrong_value("", "ways", f"must divide entries ({entries})", ways)
    sets = entries // ways if ways else 1
    pages = np.asarray(page, np.int64)
    return sum(_misses(pages[pages % sets == k], ways or entries) for k in range(sets))


def _misses(pages: np.ndarray, entries: int) -> int:
    """Count the misses of one set: the heap holds each use by its next, farthest first; what has been used since is
    passed over."""
    following = next_uses(pages)
    held: dict[int, int] = {}
    heap: list[tuple[int, int]] = []
    misses = 0
    for at, wanted in enumerate(pages.tolist()):
        if wanted not in held:
            misses += 1
            while len(held) >= entries:
                use, gone = heapq.heappop(heap)
                if held.get(gone) == -use:
                    del held[gone]
        held[wanted] = int(following[at])
        heapq.heappush(heap, (-held[wanted], wanted))
    return misses


def next_uses(pages: np.ndarray) -> np.ndarray:
    """Return for each access the next one to the same page: int64[accesses], their number where there is none.

    >>> next_uses(np.array([5, 7, 5])).tolist()
    [2, 3, 3]
    """
    order = np.argsort(pages, kind="stable")
    following = np.full(pages.size, pages.size, np.int64)
    same = pages[order[1:]] == pages[order[:-1]]
    following[order[:-1][same]] = order[1:][same]
    return following
