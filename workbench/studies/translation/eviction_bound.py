"""How far each eviction is from the fewest misses that a private TLB can have (spec 4, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.run_set import RunSet
from workbench.experiments.sweep import read_sweep
from workbench.records.translation import SERVED_BY, TranslationRecord
from workbench.streams import Streams
from workbench.studies.translation.belady import belady_misses

EVICTIONS = ("lru", "fifo", "random", "tree_plru", "srrip", "drrip", "mru", "lfu", "arc", "s3fifo")
_SERVED_AT_ONCE = [SERVED_BY.index("private"), SERVED_BY.index("merged")]


class PrivateMisses(NamedTuple):
    """The private TLBs of all cores under one eviction."""

    eviction: str
    misses: int
    over_bound: float
    """Its misses over Belady's, less 1."""


def eviction_misses(
    workload: Any, evictions: Sequence[Any] = EVICTIONS, machine: str = "patent_pilot", seed: int = 0
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
    evictions : sequence
        As a sweep says them.
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
    if not evictions:
        raise InputError("eviction_misses needs at least one eviction. Got none.")
    policy = {"locate": "no_directory", "fill": "demand_always", "eviction": {"vary": list(evictions)}}
    timeless = {"preset": machine, "private_cycles": 0, "level_cycles": 0, "shared_entries": 0}
    config = {"engine": "translation", "machine": timeless, "workload": workload, "policy": policy, "seeds": 1}
    plan = make_plan(read_sweep(config))
    names, engine = RunSet(plan, []), plan.sweep.mechanism.engine
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
