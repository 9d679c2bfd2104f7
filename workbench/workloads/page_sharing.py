"""How much do cores and warps share pages? What the order of dispatch does to a trace before any TLB sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.workloads.accesses import Accesses
from workbench.workloads.warp_pages import WarpPages, changes


class PageSharing(NamedTuple):
    """Who touches which pages of a trace."""

    pages: int
    """Distinct pages."""
    pages_of_core: np.ndarray
    """int64[cores], distinct pages that each core touches."""
    pages_by_degree: np.ndarray
    """int64[cores + 1], pages that so many cores touch; none that no core does."""
    accesses_by_degree: np.ndarray
    """int64[cores + 1], accesses to such pages."""
    shared_pages: np.ndarray
    """int64[cores, cores], pages that two cores both touch; on the diagonal those of each."""

    @property
    def mean_degree(self) -> float:
        """Return the cores that touch a page, on average over pages."""
        return float((np.arange(len(self.pages_by_degree)) * self.pages_by_degree).sum() / max(self.pages, 1))


def page_sharing(accesses: Iterable[Accesses], cores: int) -> PageSharing:
    """Count who touches which pages; rows that unmap a page are not counted.

    Memory grows with the distinct pages of each core, not with the trace.

    References
    ----------
    spec 4, glossary (sharing degree = number of holders); section 8: sharing degree per page is the metric that spec 2,
    spec 3 and spec 4 have in common.

    Examples
    --------
    >>> block = Accesses(np.zeros(4, np.int64), np.array([0, 1, 1, 1]), np.array([7, 7, 9, 9]))
    >>> found = page_sharing([block], cores=2)
    >>> found.pages_of_core.tolist(), found.pages_by_degree.tolist(), found.accesses_by_degree.tolist()
    ([1, 2], [0, 1, 1], [0, 2, 2])
    """
    keys, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for block in accesses:
        keys, counts = _merged(keys, counts, _keys(block, cores))
    page, place = np.unique(keys // cores, return_inverse=True)
    core, degree = keys % cores, np.bincount(place, minlength=len(page))
    holders = np.zeros((cores, cores), np.int64)
    for one in range(cores):
        of_one = np.isin(place, place[core == one])
        holders[one] = np.bincount(core[of_one], minlength=cores)
    return PageSharing(
        pages=len(page),
        pages_of_core=np.bincount(core, minlength=cores),
        pages_by_degree=np.bincount(degree, minlength=cores + 1),
        accesses_by_degree=np.bincount(degree[place], counts, cores + 1).astype(np.int64),
        shared_pages=holders,
    )


def pages_of_warps(touched: Iterable[WarpPages]) -> np.ndarray:
    """Return the distinct pages of each warp that touches any: int64[warps], in parts as they come.

    References
    ----------
    spec 4, section 8: packing a warp's pieces lowers the distinct pages per warp.

    Examples
    --------
    >>> zero = np.zeros(3, np.int64)
    >>> pages_of_warps([WarpPages(zero, np.arange(3), zero, np.array([0, 0, 1]), np.array([5, 5, 6]), zero)]).tolist()
    [1, 1]
    """
    parts = [np.empty(0, np.int64)]
    for rows in touched:
        order = np.lexsort((rows.page, rows.warp, rows.workgroup))
        workgroup, warp, page = rows.workgroup[order], rows.warp[order], rows.page[order]
        new_warp = changes(workgroup) | changes(warp)
        new_page = new_warp | changes(page)
        parts.append(np.add.reduceat(new_page, np.flatnonzero(new_warp), dtype=np.int64))
    return np.concatenate(parts)


def _keys(block: Accesses, cores: int) -> np.ndarray:
    keys = block.page * cores + block.core
    return keys if block.unmap is None else keys[~block.unmap]


def _merged(keys: np.ndarray, counts: np.ndarray, more: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys with how often each came, so many further ones counted."""
    own, often = np.unique(more, return_counts=True)
    every, place = np.unique(np.concatenate([keys, own]), return_inverse=True)
    return every, np.bincount(place, np.concatenate([counts, often]), len(every)).astype(np.int64)
