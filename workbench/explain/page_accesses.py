"""A pool's run as accesses to pages (spec 5, section 8), and what a limit on cached memory costs in translations.

What the cores that use the regions ask of their TLBs: a region is physical pages and its pointer a virtual address, so
each driver allocation has virtual pages of its own from when it is made until it goes back to the driver. A logical
release keeps the mapping, and the next owner of the cached block finds its translations still there. A physical release
unmaps every page of the allocation, and a move to another card every page that the region leaves. Both take the pages
out of all TLBs and directories. Where a cache maps pages of its own, calls whose addresses a region joins, or that come
again, lie in one range of virtual pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.levers import Spec, lever
from workbench.metrics.pool import measure as measure_pool
from workbench.metrics.translation import measure as measure_translation
from workbench.records.pool import (
    BYTES,
    CARD,
    IDENTIFIER,
    ROW,
    STITCHED,
    PoolRecord,
    Stays,
    freed_at,
    granted,
    stays_of,
)
from workbench.workloads.csv_columns import write_file
from workbench.workloads.workload import Accesses

LIMITS = (0, 1 << 26, 1 << 27, 1 << 28, 1 << 29, None)
"""Cached bytes that a card may keep; None = all of them."""
CHURN = {
    "synthetic": "full_card",
    "footprint": 0.02,
    "others": 0.0,
    "renewed": 2000,
    "size": {"log_uniform": [1 << 20, 1 << 25]},
}
"""Blocks of 1 to 32 MiB that are given back and taken again, so few that the shared TLB reaches all that live."""


class LimitAndPages(NamedTuple):
    """One limit, as the pool and the TLBs of one card see it."""

    limit_bytes: int | None
    """Cached bytes that a card may keep; None = all of them."""
    driver_calls_per_request: float
    cached_peak_bytes: float
    accesses: int
    shot_down_pages: int
    """Pages that were unmapped, each once for every physical release of it."""
    private_hit_rate: float
    walks_per_kilo: float
    """Walks of the page table per 1,000 accesses."""
    latency_mean_cycles: float


def idle_limit_and_translation(
    limits: Sequence[int | None] = LIMITS,
    workload: Any = CHURN,
    machine: Any = "dgx_1v",
    card: str = "gpu0",
    touches: Touches | None = None,
    seed: int = 0,
    **policy: Any,
) -> list[LimitAndPages]:
    """Run the pool once under several idle limits, each with what the TLBs of one card make of it.

    Parameters
    ----------
    limits : sequence of int or None
        Cached bytes that a card may keep; None = all of them.
    workload, machine
        The pool's, as a sweep says them.
    card : str
        Whose applications' accesses are translated, by cores of the usual translation machine.
    touches : Touches, optional
        How regions are touched; `cores_per_card` and `page_bytes` are the translation machine's too.
    policy
        Policies of the engine `translation` by slot, as a sweep says them.

    Raises
    ------
    InputError
        There is no limit, or one of the settings is wrong.

    References
    ----------
    spec 5, section 8 (physical release must invalidate, logical must not) and H5.8.

    Examples
    --------
    >>> few = {**CHURN, "footprint": 0.005, "renewed": 50}
    >>> nothing, everything = idle_limit_and_translation([0, None], few)
    >>> nothing.shot_down_pages > everything.shot_down_pages, nothing.walks_per_kilo > everything.walks_per_kilo
    (True, True)
    """
    if not limits:
        raise InputError("idle_limit_and_translation needs at least one limit. Got none.")
    how = touches or Touches.read({})
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for k, limit in enumerate(limits):
            idle: Any = "keep_all" if limit is None else {"least_recently_used": {"limit_bytes_a_card": limit}}
            config = {"engine": "pool", "machine": machine, "workload": workload, "policy": {"idle_release": idle}}
            record: PoolRecord = simulated(config, seed)
            accesses = pool_accesses(record, how, card)
            pages = _translated(accesses, how, policy, Path(folder) / f"{k}.csv")
            rows.append(_row(limit, measure_pool(record), accesses, pages))
        return rows


def _translated(accesses: Accesses, how: Touches, policy: dict[str, Any], place: Path) -> dict[str, float]:
    """Compute the measures of the TLBs that serve accesses, by way of a file."""
    write_pool_accesses(accesses, place)
    machine = {"cores": how.cores_per_card, "page_bytes": how.page_bytes, "clock_mhz": how.clock_mhz}
    config = {"engine": "translation", "machine": machine, "workload": {"file": str(place)}, "policy": policy}
    return measure_translation(simulated(config))


def _row(limit: int | None, pool: dict[str, float], accesses: Accesses, pages: dict[str, float]) -> LimitAndPages:
    unmapped = 0 if accesses.unmap is None else int(accesses.unmap.sum())
    return LimitAndPages(
        limit_bytes=limit,
        driver_calls_per_request=pool["driver_calls_per_request"],
        cached_peak_bytes=pool["cached_peak_bytes"],
        accesses=accesses.cycle.size - unmapped,
        shot_down_pages=unmapped,
        private_hit_rate=pages["private_hit_rate"],
        walks_per_kilo=pages["walks_per_kilo"],
        latency_mean_cycles=pages["latency_mean_cycles"],
    )


MOST_ROWS = 20_000_000
MIB = 1 << 20


class Touches(Spec):
    """How applications touch the regions that they have."""

    page_bytes: int = lever(
        2 * MIB, least=512, most=1 << 30, scale="power_of_two", unit="bytes", description="bytes a page"
    )
    accesses_per_mib: float = lever(
        1.0, least=1e-6, most=1e6, scale="log", unit="accesses", description="for each MiB of a region over its life"
    )
    cores_per_card: int = lever(16, least=1, most=1024, unit="cores", description="cores of a card, which take turns")
    clock_mhz: float = lever(
        1000.0, least=1, most=100_000, unit="MHz", description="the clock in which cycles are counted"
    )


def pool_accesses(record: PoolRecord, touches: Touches | None = None, card: str | None = None) -> Accesses:
    """Return the accesses of the applications of all cards, or of one, to their TLBs during a pool's run.

    A region is swept once from its first page to its last between its grant and its free (or the end of the run). Its
    accesses are evenly spaced, and the cores of the application's card take them in turns; a region has one at least. A
    driver allocation of which such a region was part loses each of its pages when it goes back to the driver. The first
    core of the card whose request made it go loses them. What a region leaves when it moves is unmapped by the first
    core of its application's card. Of one cycle accesses come before unmappings. Regions that are stitched of several
    blocks are left out: the record has only their first address.

    Parameters
    ----------
    touches : Touches, optional
        How regions are touched; the defaults if None.
    card : str, optional
        Whose applications alone; the cores of the k-th card of several begin at k x `cores_per_card`.

    Raises
    ------
    InputError
        There is no such card, or there would be more than 20 million rows.

    References
    ----------
    spec 5, section 8 (spec 4); spec 4, E15 (shoot-down).

    Examples
    --------
    >>> from workbench.explain.page_accesses import simulated
    >>> few = {"synthetic": "full_card", "footprint": 0.01, "others": 0.0}
    >>> result = pool_accesses(simulated({"engine": "pool", "workload": few}), card="gpu0")
    >>> result.cycle.size > 100, bool(result.unmap.any())                     # nothing goes back to the driver
    (True, False)
    """
    how, chosen = touches or Touches.read({}), _cards(record, card)
    first_core = np.full(len(record.cards), -1, np.int64)
    first_core[chosen] = np.arange(len(chosen)) * how.cores_per_card
    places = _places(record, how.page_bytes, first_core)
    parts = (
        _sweeps(record, places, first_core, how),
        _left_by_moves(record, places, first_core),
        _given_back(record, places, first_core),
    )
    when, core, page = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    unmap = np.arange(when.size) >= parts[0][0].size
    order = np.lexsort((unmap, when))
    cycle = (when[order] * how.clock_mhz / 1000).astype(np.int64)
    return Accesses(cycle, core[order].astype(np.int32), page[order], unmap[order])


def write_pool_accesses(accesses: Accesses, out: Path | str) -> None:
    """Write accesses as a file of pages that the engine `translation` reads (`workload: {file: ...}`).

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "pages.csv"
    >>> two, never = np.array([4, 9]), np.array([False, True])
    >>> write_pool_accesses(Accesses(two, np.zeros(2, np.int32), np.array([7, 7]), never), place)
    >>> place.read_text()
    'cycle,core,page,unmap\\n4,0,7,0\\n9,0,7,1\\n'

    Raises
    ------
    InputError
        The file cannot be written.
    """
    unmap = np.zeros(accesses.cycle.size, bool) if accesses.unmap is None else accesses.unmap
    write_file([{**accesses._asdict(), "unmap": unmap.astype(np.int64)}], out)


def _cards(record: PoolRecord, card: str | None) -> np.ndarray:
    """Return the cards whose applications count: int64[cards]."""
    if card is None:
        return np.unique(record.borrower)
    if card not in record.cards:
        raise unknown_name("", "card", card, record.cards)
    return np.array([record.cards.index(card)])


class _Mapped(NamedTuple):
    """The ranges of addresses that drivers mapped in a run, in the order of their cards and addresses.

    A range is one driver allocation; or several that one region joins, or that got the same addresses again.
    """

    key: np.ndarray
    first_page: np.ndarray
    span: int
    page_bytes: int

    def of(self, card: np.ndarray, address: np.ndarray) -> np.ndarray:
        """Return the range in which each address lies."""
        place: np.ndarray = np.searchsorted(self.key, card * self.span + address, side="right") - 1
        return place

    def pages(self, card: np.ndarray, address: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the first virtual page of what lies at an address, and how many pages that has a part of."""
        ranges = self.of(card, address)
        inside = card * self.span + address - self.key[ranges]
        first = inside // self.page_bytes
        return self.first_page[ranges] + first, (inside + size - 1) // self.page_bytes - first + 1


def _mapped(record: PoolRecord, stays: Stays, page_bytes: int) -> _Mapped:
    """Return the whole virtual pages for every range, in the order in which the first of each was mapped."""
    made = record.calls[record.calls[:, BYTES] > 0]
    card, address = np.r_[made[:, CARD], stays.card], np.r_[made[:, IDENTIFIER], stays.identifier]
    size = np.r_[made[:, BYTES], record.asked[stays.region]]
    span = int((address + size).max(initial=0)) + 1
    order = np.lexsort((np.arange(card.size), address, card))
    begin = (card * span + address)[order]
    until = np.maximum.accumulate(begin + size[order])
    starts = np.flatnonzero(np.r_[True, begin[1:] >= until[:-1]][: begin.size])
    pages = -(-(np.maximum.reduceat(until, starts) - begin[starts]) // page_bytes) if starts.size else starts
    made_first = np.argsort(np.minimum.reduceat(order, starts)) if starts.size else starts
    first = np.empty_like(pages)
    first[made_first] = np.cumsum(pages[made_first]) - pages[made_first]
    return _Mapped(begin[starts], first, span, page_bytes)


_Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Nanoseconds, cores, pages."""


class _Places(NamedTuple):
    """Every stay on a card of the regions that count, and its pages."""

    stays: Stays
    mapped: _Mapped
    range: np.ndarray
    """int64[stays], the range of addresses in which each lies."""
    first_page: np.ndarray
    pages: np.ndarray
    moves: np.ndarray
    """bool[stays], whether a stay ends because the region moves; the next one is its own."""


def _places(record: PoolRecord, page_bytes: int, first_core: np.ndarray) -> _Places:
    every = stays_of(record, granted(record) & (record.outcome != STITCHED))
    mapped, counts = _mapped(record, every, page_bytes), first_core[record.borrower] >= 0
    stays = Stays(*(column[counts[every.region]] for column in every))
    ranges, size = mapped.of(stays.card, stays.identifier), record.asked[stays.region]
    first, pages = mapped.pages(stays.card, stays.identifier, size)
    goes_on = np.append(stays.region[1:] == stays.region[:-1], False)[: stays.region.size]
    return _Places(stays, mapped, ranges, first, pages, goes_on)


def _sweeps(record: PoolRecord, places: _Places, first_core: np.ndarray, how: Touches) -> _Rows:
    rows, stay = np.unique(places.stays.region, return_index=True)
    begin, until = record.done[rows], np.append(record.time, record.done[-1:])[freed_at(record)[rows]]
    count = np.maximum(np.ceil(record.asked[rows] * (how.accesses_per_mib / MIB)), 1).astype(np.int64)
    _check_rows(int(count.sum()))
    region, turn = spread(count)
    when = begin[region] + turn * np.maximum(until - begin, 0)[region] // count[region]
    core = first_core[record.borrower[rows]][region] + turn % how.cores_per_card
    here = _moved_on(stay[region], when, places)
    return when, core, places.first_page[here] + turn * places.pages[here] // count[region]


def _moved_on(stay: np.ndarray, when: np.ndarray, places: _Places) -> np.ndarray:
    """Return, from the first stay of each region, the one in which it is at a time; int64[accesses]."""
    begin = np.append(places.stays.begin, 0)
    while (later := places.moves[stay] & (begin[stay + 1] <= when)).any():
        stay = stay + later
    return stay


def _left_by_moves(record: PoolRecord, places: _Places, first_core: np.ndarray) -> _Rows:
    left = np.flatnonzero(places.moves)
    move, page = spread(places.pages[left])
    core = first_core[record.borrower[places.stays.region[left]]]
    return places.stays.end[left][move], core[move], places.first_page[left][move] + page


def _given_back(record: PoolRecord, places: _Places, first_core: np.ndarray) -> _Rows:
    back = record.calls[record.calls[:, BYTES] < 0]
    gone = places.mapped.of(back[:, CARD], back[:, IDENTIFIER])
    back = back[np.isin(gone, places.range)]
    first, pages = places.mapped.pages(back[:, CARD], back[:, IDENTIFIER], -back[:, BYTES])
    _check_rows(int(pages.sum()))
    release, page = spread(pages)
    core = np.maximum(first_core[record.borrower[back[:, ROW]]], 0)
    return record.done[back[:, ROW]][release], core[release], first[release] + page


def _check_rows(count: int) -> None:
    if count > MOST_ROWS:
        cure = "take larger pages, fewer accesses_per_mib or a shorter run"
        raise InputError(f"a file of pages takes at most {MOST_ROWS:,} rows of a kind. Got {count:,}; {cure}.")


def spread(count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each place as often as its count says, with the turns 0, 1, 2, ...: two int64[rows].

    >>> [column.tolist() for column in spread(np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [0, 1, 0, 1, 2]]
    """
    each = np.repeat(np.arange(count.size), count)
    return each, np.arange(each.size) - (np.cumsum(count) - count)[each]


def simulated(config: Mapping[str, Any], seed: int = 0) -> Any:
    """Return the record of the first point of a sweep that varies nothing; it is kept nowhere.

    Parameters
    ----------
    config : mapping
        Engine, machine, workload, policies and options, as a sweep says them.
    seed : int
        Names the random streams of the run.

    Returns
    -------
    The record of the sweep's engine, such as a `PoolRecord`.

    Raises
    ------
    InputError
        The sweep makes no sense.

    Examples
    --------
    >>> record = simulated({"engine": "pool", "workload": {"synthetic": "full_card", "footprint": 1.5}})
    >>> len(record.cards), int(record.asked.max()) <= int(record.capacity.max())
    (3, True)
    """
    plan = make_plan(read_sweep({**config, "seeds": 1}))
    return plan.sweep.mechanism.engine.simulate(plan.points[0].setup, seed)
