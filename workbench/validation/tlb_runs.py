"""Runs of the engine `translation` that answer what a chase over pages costs, and which accesses miss.

A chase is timed after warm-up rounds. The same run with and without the timed round gives what that round alone cost.
Every warm-up access is issued before the first timed one, so the shorter run is the beginning of the longer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.translation import Translation, TranslationOptions
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import read_policy
from workbench.records.translation import SERVED_BY, TranslationRecord
from workbench.streams import Streams
from workbench.workloads.workload import Accesses, Workload

WARM_UP_ROUNDS = 4
"""Rounds of a chase before the timed one: as many as the benchmark makes in its two kernels."""
DRAWN_ROUNDS = 5
"""Timed rounds where an eviction draws random numbers: as many as the benchmark averages over."""
SEED = 1


class Level(NamedTuple):
    """A level of TLBs with what lies before and behind it."""

    entries: int
    ways: int
    """Entries of a set, 0 = fully associative."""
    page_bytes: int
    base_cycles: int
    """An access that hits in this level."""
    extra_cycles: int
    """What an access costs more that misses in this level."""
    inner_entries: int = 0
    """Entries of the level before, 0 = it does not matter: it misses each page of a chase, or always hits."""
    inner_ways: int = 0
    inner_cycles: int = 0
    """An access that hits in the level before."""


class GivenAccesses(Workload):
    """Accesses that are given as columns."""

    random = False

    def __init__(self, accesses: Accesses) -> None:
        object.__setattr__(self, "given", accesses)

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        yield self.__dict__["given"]


def run_accesses(
    accesses: Accesses, machine: Mapping[str, Any], eviction: str = "lru", shared_eviction: str = "lru"
) -> TranslationRecord:
    """Return the record of accesses to TLBs that ask no peer, and fill on every miss."""
    policies = {
        slot: read_policy(Translation().question_of(slot), policy, slot)
        for slot, policy in {
            **Translation.slots,
            "locate": "no_directory",
            "fill": "demand_always",
            "eviction": eviction,
            "shared_eviction": shared_eviction,
        }.items()
    }
    options = TranslationOptions(merge_walks=False)
    setup = Setup("translation", TranslationMachine(**machine), GivenAccesses(accesses), policies, options)
    return Translation().simulate(setup, SEED)


def in_order(cycle: np.ndarray, core: np.ndarray, page: np.ndarray) -> Accesses:
    """Return accesses in the order of their cycles; at equal cycles in the order of the cores."""
    order = np.lexsort((core, cycle))
    return Accesses(cycle[order], core[order].astype(np.int32), page[order], None)


def chase_cycles(chases: Sequence[np.ndarray], level: Level, eviction: str) -> np.ndarray:
    """Return the mean cycles of an access of each chase, after its warm-up: float64[chases].

    Parameters
    ----------
    chases : sequence of int64[accesses]
        The pages of one round of each.
    level : Level
    eviction : str
        The policy of the level; the level before evicts the least recently used entry.
    """
    rounds = DRAWN_ROUNDS if read_policy("eviction", eviction, "eviction").draws else 1
    machine: dict[str, Any] = {"page_bytes": level.page_bytes, "walk_levels": 1, "level_cycles": level.extra_cycles}
    if level.inner_entries:  # the shared TLB is the level, so each chase has a machine of its own
        machine |= {"cores": 1, "private_entries": level.inner_entries, "private_ways": level.inner_ways}
        machine |= {"private_cycles": level.inner_cycles, "shared_cycles": level.base_cycles - level.inner_cycles}
        machine |= {"shared_entries": level.entries, "shared_ways": level.ways}
        each = [_timed([chase], rounds, machine, {"shared_eviction": eviction}) for chase in chases]
        return np.concatenate(each)
    machine |= {"cores": len(chases), "private_entries": level.entries, "private_ways": level.ways}
    machine |= {"private_cycles": level.base_cycles, "shared_entries": 0, "walkers": len(chases)}
    return _timed(chases, rounds, machine, {"eviction": eviction})


def _timed(
    chases: Sequence[np.ndarray], rounds: int, machine: Mapping[str, Any], policies: Mapping[str, str]
) -> np.ndarray:
    """Return the mean cycles of an access of the timed rounds of each chase, each on a core of its own."""
    warm = [np.tile(chase, WARM_UP_ROUNDS) for chase in chases]
    timed = [np.tile(chase, rounds) for chase in chases]
    longest = max(pages.size for pages in warm)
    both = [np.concatenate(pages) for pages in zip(warm, timed, strict=True)]
    steps = [np.arange(pages.size) + longest - before.size for pages, before in zip(both, warm, strict=True)]
    cores = np.repeat(np.arange(len(chases)), [pages.size for pages in both])
    gap = sum(value for name, value in machine.items() if name.endswith("_cycles")) + 1
    step = np.concatenate(steps)
    every = in_order(step * gap, cores, np.concatenate(both))
    return mean_cycles(every, longest * gap, machine, **policies)


def mean_cycles(every: Accesses, timed_from: int, machine: Mapping[str, Any], **policies: str) -> np.ndarray:
    """Return the mean cycles of the accesses of each core that are issued at a cycle or later: float64[cores].

    Accesses must be so far apart that none waits for another; then all that are served alike cost the same.
    """
    count = int(np.searchsorted(every.cycle, timed_from))
    before = Accesses(every.cycle[:count], every.core[:count], every.page[:count], None)
    whole = run_accesses(every, machine, **policies)
    served = whole.served - run_accesses(before, machine, **policies).served
    cycles = whole.latency_sums / np.maximum(whole.served.sum(axis=0), 1)
    return np.asarray(served @ cycles / np.maximum(served.sum(axis=1), 1))


def misses(record: TranslationRecord) -> int:
    """Return the accesses that missed in private TLBs, each page that is under way counted once."""
    return int(record.served.sum() - record.served[:, [SERVED_BY.index("private"), SERVED_BY.index("merged")]].sum())
