"""What one entry covers: sizes of pages, neighbors whose frames lie together, and the tags of entries.

All pages are as large as the machine's, or larger ones lie in ranges of addresses; pages whose frames are contiguous
share an entry, which is found by their tag (docs/translation-rules.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from workbench.engines.translation.state import LARGE_BITS, LEVEL_BITS
from workbench.errors import InputError, wrong_value
from workbench.levers import Family, Spec, lever

MOST_SIZES = 3
"""Sizes of large pages at a time."""
_LAST_ADDRESS = 1 << 57
_FIRST = {"begin": 0, "end": 1 << 30, "page_bytes": 2 << 20}
"""A gibibyte of pages of 2 MiB."""


class PageRange(Spec):
    """Addresses that lie in large pages, from `begin` on and before `end`.

    >>> PageRange(begin=2 << 20, end=6 << 20, page_bytes=2 << 20).begin
    2097152
    >>> PageRange(begin=4096)
    Traceback (most recent call last):
    workbench.errors.InputError: page_range.begin must be a multiple of page_bytes (2097152). Got 4096. Nearest: 0.
    """

    begin: int = lever(0, least=0, most=_LAST_ADDRESS, unit="bytes", description="the first address")
    end: int = lever(1 << 30, least=1, most=_LAST_ADDRESS, unit="bytes", description="the address behind the last")
    page_bytes: int = lever(
        2 << 20, least=1 << 10, most=1 << 40, scale="power_of_two", unit="bytes", description="bytes a page"
    )

    def check(self) -> None:
        for name in ("begin", "end"):
            self._check_multiple(name, getattr(self, name))
        if self.end <= self.begin:
            raise wrong_value("", "page_range.end", f"must be above begin ({self.begin})", self.end)

    def _check_multiple(self, name: str, given: int) -> None:
        if given % self.page_bytes:
            near = (given + self.page_bytes // 2) // self.page_bytes * self.page_bytes
            expected = f"must be a multiple of page_bytes ({self.page_bytes})"
            raise wrong_value("", f"page_range.{name}", expected, given, near)


class PageSizes(Family, noun="page sizes", example="{by_range: [[{begin: 0, end: 1073741824, page_bytes: 2097152}]]}"):
    """The base of every layout of page sizes."""

    def large(self) -> tuple[PageRange, ...]:
        """Return the ranges of large pages in the order of their addresses."""
        return ()

    def sizes(self) -> list[int]:
        """Return the bytes of large pages, each size once, increasing.

        >>> ByRange().sizes()
        [2097152]
        """
        return sorted({part.page_bytes for part in self.large()})


class OneSize(PageSizes):
    """Every page has the machine's `page_bytes`.

    >>> OneSize().large()
    ()
    """


class ByRange(PageSizes):
    """Ranges of addresses lie in large pages, all other addresses in the machine's.

    A large page has one entry, one miss and one walk, which reads a level less for each factor of 512.

    >>> ByRange(ranges=[PageRange(end=2 << 20), {"begin": 2 << 20, "end": 3 << 20, "page_bytes": 65536}]).sizes()
    [65536, 2097152]
    """

    ranges: tuple[PageRange, ...] = lever(
        (PageRange(**_FIRST),), description="the ranges of large pages, which do not overlap"
    )

    def large(self) -> tuple[PageRange, ...]:
        return tuple(sorted(self.ranges, key=lambda part: part.begin))

    def check(self) -> None:
        parts = self.large()
        for one, other in pairwise(parts):
            if other.begin < one.end:
                raise InputError(
                    f"by_range.ranges must not overlap. Got one that ends at {one.end} and one that begins at "
                    f"{other.begin}."
                )
        if len(self.sizes()) > MOST_SIZES:
            raise wrong_value("", "by_range.ranges", f"must have {MOST_SIZES} sizes of pages at most", self.sizes())


def levels_saved(page_bytes: int, base_bytes: int) -> int:
    """Return the levels of the page table that a walk of a large page does not read: one a factor of 512.

    >>> [levels_saved(size, 4096) for size in (65536, 2 << 20, 1 << 30)]
    [0, 1, 2]
    """
    return ((page_bytes // base_bytes).bit_length() - 1) // LEVEL_BITS


def check_sizes(sizes: PageSizes, machine: Any) -> None:
    """Refuse pages that are not larger than the machine's, or so large that a walk reads nothing.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    least, most = 2 * machine.page_bytes, machine.page_bytes * (512**machine.walk_levels // 2)
    for k, part in enumerate(_as_given(sizes)):
        if not least <= part.page_bytes <= most:
            path = f"options.page_sizes.by_range.ranges[{k}].page_bytes"
            expected = (
                f"must be above the machine's page_bytes ({machine.page_bytes}) and leave a walk of "
                f"{machine.walk_levels} levels one to read ({least} to {most})"
            )
            raise wrong_value("", path, expected, part.page_bytes, min(max(part.page_bytes, least), most))


def _as_given(sizes: PageSizes) -> Sequence[PageRange]:
    return sizes.ranges if isinstance(sizes, ByRange) else ()


_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)


def drawn(number: np.ndarray) -> np.ndarray:
    """Return the draws for pages or groups, once for all runs: float64 in [0, 1).

    >>> drawn(np.array([0, 1, 2])).round(3).tolist()
    [0.0, 0.618, 0.236]
    """
    # The product wraps at 64 bits. A float64 holds its upper 53 bits exactly.
    return np.asarray(((number.astype(np.uint64) * _GOLDEN) >> np.uint64(11)) * 2.0**-53)


class Contiguity(Family, noun="contiguity", example="{runs: {mean: 8}}"):
    """The base of every way in which frames lie together."""

    def mean_run(self) -> float:
        """Return the mean pages of a run, 0 = a group of neighboring pages lies together or not at all."""
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
    # The loop ends at the latest at the first page of a group, which begins a run.
    while inside.size:
        first[inside] -= 1
        inside = inside[_goes_on(first[inside], group, mean)]
    return np.asarray(first[place.reshape(-1)])


def _goes_on(page: np.ndarray, group: int, mean: float) -> np.ndarray:
    """Return whether each page goes on with the run of the page before it."""
    return np.asarray((page % group != 0) & (drawn(page) >= 1 / mean))


PAGE_BITS = 48
"""Pages have numbers below 2**48: 57 bits of address, 512 bytes a page at least."""
ALONE = 1 << 58
"""Added to the tag of a page whose neighbors' frames are not next to its own."""


class Tags:
    """The tags of one run, as a machine and its options say."""

    def __init__(self, machine: Any, options: Any) -> None:
        large, sizes = options.page_sizes.large(), options.page_sizes.sizes()
        base = machine.page_bytes
        self._group, self._contiguous = options.pages_an_entry, options.contiguous_share
        self._mean = options.contiguity.mean_run()
        self._begin = np.array([part.begin // base for part in large], np.int64)
        self._end = np.array([part.end // base for part in large], np.int64)
        self._class = np.array([1 + sizes.index(part.page_bytes) for part in large], np.int64)
        self._span = np.array([1, *(size // base for size in sizes)], np.int64)

    def of(self, page: np.ndarray) -> np.ndarray:
        """Return the tags of pages: int64; the pages themselves, where nothing covers several."""
        if not self._begin.size:
            return self._small(page)
        kind = self._kind(page)
        return np.where(kind > 0, page // self._span[kind] + (kind << LARGE_BITS), self._small(page))

    def first_pages(self, tag: np.ndarray) -> np.ndarray:
        """Return the first page that an entry with each tag covers."""
        kind = tag >> LARGE_BITS
        large = (tag & ((1 << LARGE_BITS) - 1)) * self._span[kind]
        return np.where(kind > 0, large, self._first_small(tag))

    def _kind(self, page: np.ndarray) -> np.ndarray:
        """Return the class of the size of each page's large page, 0 = it is a base page."""
        part = np.searchsorted(self._begin, page, side="right") - 1
        return np.where((part >= 0) & (page < self._end[part]), self._class[part], 0)

    def _small(self, page: np.ndarray) -> np.ndarray:
        if self._group == 1:
            return page
        if self._mean:
            first, bits = first_of_runs(page, self._group, self._mean), self._group.bit_length() - 1
            return first // self._group + ((first % self._group) << (PAGE_BITS - bits))
        group = page // self._group
        return np.where(drawn(group) < self._contiguous, group, page + ALONE)

    def _first_small(self, tag: np.ndarray) -> np.ndarray:
        bits = self._group.bit_length() - 1
        here = tag & ((1 << PAGE_BITS - bits) - 1)
        return np.where(tag >= ALONE, tag - ALONE, here * self._group + (tag >> PAGE_BITS - bits) * (self._mean > 0))


def packed_savings(machine: Any, options: Any) -> int:
    """Return the levels that walks of each class of large pages save, two bits a class from class 1 on."""
    return sum(
        levels_saved(size, machine.page_bytes) << 2 * (k + 1) for k, size in enumerate(options.page_sizes.sizes())
    )
