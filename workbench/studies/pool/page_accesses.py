"""A pool's run as accesses to pages: what the cores that use the regions ask of their TLBs (spec 5, section 8).

A region is physical pages and its pointer a virtual address, so each driver allocation has virtual pages of its own
from when it is made until it goes back to the driver. A logical release keeps the mapping, and whoever is granted the
cached block next finds its translations still there; a physical release unmaps every page of the allocation, which
takes them out of all TLBs and directories.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.levers import Spec, lever
from workbench.metrics.pool_regions import freed_at
from workbench.records.pool import BYTES, CARD, IDENTIFIER, ROW, STITCHED, PoolRecord, granted
from workbench.workloads.accesses import Accesses
from workbench.workloads.write_file import write_file

MOST_ROWS = 20_000_000
MIB = 1 << 20


class Touches(Spec):
    """How applications touch the regions that they have."""

    page_bytes: int = lever(2 * MIB, least=512, most=1 << 30, scale="power_of_two", unit="bytes", says="bytes a page")
    accesses_per_mib: float = lever(
        1.0, least=1e-6, most=1e6, scale="log", unit="accesses", says="for each MiB of a region over its life"
    )
    cores_per_card: int = lever(16, least=1, most=1024, unit="cores", says="cores of a card, which take turns")
    clock_mhz: float = lever(1000.0, least=1, most=100_000, unit="MHz", says="the clock in which cycles are counted")


def pool_accesses(record: PoolRecord, touches: Touches | None = None, card: str | None = None) -> Accesses:
    """What the applications of all cards, or of one, ask of their TLBs during a pool's run.

    A region is swept once from its first page to its last between its grant and its free (or the end of the run), in
    accesses that are evenly spaced and that the cores of the application's card take in turns; a region has one at
    least. A driver allocation of which such a region was part loses each of its pages when it goes back to the driver,
    by the first core of the card whose request made it go. Of one cycle accesses come before unmappings. Regions that
    are stitched of several blocks are left out: the record has only their first address.

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
    """
    how, chosen = touches or Touches.read({}), _cards(record, card)
    mapped = _mapped(record, how.page_bytes)
    first_core = np.full(len(record.cards), -1, np.int64)
    first_core[chosen] = np.arange(len(chosen)) * how.cores_per_card
    rows = np.flatnonzero(granted(record) & (record.outcome != STITCHED) & (first_core[record.borrower] >= 0))
    found = mapped.of(record.card[rows], record.identifier[rows])
    accessed = _sweeps(record, rows, mapped, found, first_core, how)
    unmapped = _unmappings(record, mapped, np.unique(found), first_core)
    columns = [np.concatenate(pair) for pair in zip(accessed, unmapped, strict=True)]
    unmap = np.arange(columns[0].size) >= accessed[0].size
    order = np.lexsort((unmap, columns[0]))
    cycle = (columns[0][order] * how.clock_mhz / 1000).astype(np.int64)
    return Accesses(cycle, columns[1][order].astype(np.int32), columns[2][order], unmap[order])


def write_pool_accesses(accesses: Accesses, out: Path | str) -> None:
    """Write accesses as a file of pages that the engine `translation` reads (`workload: {file: ...}`).

    Raises
    ------
    InputError
        The file cannot be written.
    """
    unmap = np.zeros(accesses.cycle.size, bool) if accesses.unmap is None else accesses.unmap
    write_file([{**accesses._asdict(), "unmap": unmap.astype(np.int64)}], out)


def _cards(record: PoolRecord, card: str | None) -> np.ndarray:
    """int64[cards], those whose applications count."""
    if card is None:
        return np.unique(record.borrower)
    if card not in record.cards:
        raise unknown_name("", "card", card, record.cards)
    return np.array([record.cards.index(card)])


class _Mapped(NamedTuple):
    """The driver allocations of a run in the order of their cards and addresses, which are given out once."""

    key: np.ndarray
    address: np.ndarray
    first_page: np.ndarray
    pages: np.ndarray
    span: int
    page_bytes: int

    def of(self, card: np.ndarray, address: np.ndarray) -> np.ndarray:
        """The allocation in which each address lies."""
        place: np.ndarray = np.searchsorted(self.key, card * self.span + address, side="right") - 1
        return place

    def page(self, allocation: np.ndarray, address: np.ndarray) -> np.ndarray:
        """The virtual page of each address."""
        inside: np.ndarray = (address - self.address[allocation]) // self.page_bytes
        return self.first_page[allocation] + inside


def _mapped(record: PoolRecord, page_bytes: int) -> _Mapped:
    """Whole virtual pages for every driver allocation, in the order in which they are made."""
    made = record.calls[record.calls[:, BYTES] > 0]
    pages = -(-made[:, BYTES] // page_bytes)
    span = int((made[:, IDENTIFIER] + made[:, BYTES]).max(initial=0)) + 1
    key = made[:, CARD] * span + made[:, IDENTIFIER]
    order = np.argsort(key)
    first = np.cumsum(pages) - pages
    return _Mapped(key[order], made[order, IDENTIFIER], first[order], pages[order], span, page_bytes)


_Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Nanoseconds, cores, pages."""


def _sweeps(
    record: PoolRecord, rows: np.ndarray, mapped: _Mapped, found: np.ndarray, first_core: np.ndarray, how: Touches
) -> _Rows:
    size, begin = record.asked[rows], record.done[rows]
    until = np.append(record.time, record.done[-1:])[freed_at(record)[rows]]
    count = np.maximum(np.ceil(size * (how.accesses_per_mib / MIB)), 1).astype(np.int64)
    _check_rows(int(count.sum()))
    region, turn = _spread(count)
    first = mapped.page(found, record.identifier[rows])
    pages = mapped.page(found, record.identifier[rows] + size - 1) - first + 1
    lasts = np.maximum(until - begin, 0)
    when = begin[region] + turn * lasts[region] // count[region]
    core = first_core[record.borrower[rows]][region] + turn % how.cores_per_card
    return when, core, first[region] + turn * pages[region] // count[region]


def _spread(count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each number as often as it says, with the turns 0, 1, 2, ... beside it.

    >>> [column.tolist() for column in _spread(np.array([2, 0, 3]))]
    [[0, 0, 2, 2, 2], [0, 1, 0, 1, 2]]
    """
    each = np.repeat(np.arange(count.size), count)
    return each, np.arange(each.size) - (np.cumsum(count) - count)[each]


def _unmappings(record: PoolRecord, mapped: _Mapped, touched: np.ndarray, first_core: np.ndarray) -> _Rows:
    back = record.calls[record.calls[:, BYTES] < 0]
    gone = mapped.of(back[:, CARD], back[:, IDENTIFIER])
    known = np.isin(gone, touched)
    back, gone = back[known], gone[known]
    _check_rows(int(mapped.pages[gone].sum()))
    release, page = _spread(mapped.pages[gone])
    core = np.maximum(first_core[record.borrower[back[:, ROW]]], 0)
    return record.done[back[:, ROW]][release], core[release], mapped.first_page[gone][release] + page


def _check_rows(count: int) -> None:
    if count > MOST_ROWS:
        cure = "take larger pages, fewer accesses_per_mib or a shorter run"
        raise InputError(f"a file of pages takes at most {MOST_ROWS:,} rows of a kind. Got {count:,}; {cure}.")
