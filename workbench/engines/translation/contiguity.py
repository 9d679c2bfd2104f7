"""Which neighbouring pages have frames that lie together, so that one entry covers them? (docs/translation-rules.md)"""

from __future__ import annotations

import numpy as np

from workbench.levers import Family, lever

_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)


def drawn(number: np.ndarray) -> np.ndarray:
    """Return what is drawn for pages or groups, once for all runs: float64 in [0, 1).

    >>> drawn(np.array([0, 1, 2])).round(3).tolist()
    [0.0, 0.618, 0.236]
    """
    return np.asarray(((number.astype(np.uint64) * _GOLDEN) >> np.uint64(11)) * 2.0**-53)


class Contiguity(Family, noun="contiguity", example="{runs: {mean: 8}}"):
    """The base of every way in which frames lie together."""

    def mean_run(self) -> float:
        """Return the mean pages of a run, 0 = a group of neighbouring pages lies together or not at all."""
        return 0.0


class WholeGroups(Contiguity):
    """The frames of an aligned group lie together or not at all, by chance `contiguous_share`.

    >>> WholeGroups().mean_run()
    0.0
    """


class Runs(Contiguity):
    """A group is cut into runs of pages whose frames lie together, of any length; an entry covers a run.

    So are entries that coalesce what contiguity they find, and entries of ranges.

    References
    ----------
    Pham, Vaidyanathan, Jaleel, Bhattacharjee, "CoLT: Coalesced Large-Reach TLBs", MICRO 2012. Karakostas et al.,
    "Redundant Memory Mappings for Fast Access to Large Memories", ISCA 2015 (there ranges have a TLB of their own).

    >>> Runs(mean=8).mean_run()
    8.0
    """

    brief = ("mean",)
    mean: float = lever(
        8.0,
        least=1,
        most=512,
        scale="log",
        unit="pages",
        description="mean pages of a run, before groups end it; 1 = none lie together",
    )

    def mean_run(self) -> float:
        return self.mean


def first_of_runs(page: np.ndarray, group: int, mean: float) -> np.ndarray:
    """Return the first page of the run that each page is in: int64, in groups of a power of two.

    >>> first_of_runs(np.arange(8), 4, 2.0).tolist()  # 2, 4 and 5 are drawn below one half
    [0, 0, 2, 2, 4, 5, 5, 7]
    """
    pages, place = np.unique(page, return_inverse=True)
    first = pages.copy()
    inside = np.flatnonzero(_goes_on(first, group, mean))
    while inside.size:
        first[inside] -= 1
        inside = inside[_goes_on(first[inside], group, mean)]
    return np.asarray(first[place.reshape(-1)])


def _goes_on(page: np.ndarray, group: int, mean: float) -> np.ndarray:
    """Return whether each page goes on with the run of the page before it."""
    return np.asarray((page % group != 0) & (drawn(page) >= 1 / mean))
