"""What entries are found by: pages, groups or runs of them, large pages (docs/translation-rules.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.engines.translation.contiguity import drawn, first_of_runs
from workbench.engines.translation.page_sizes import levels_saved
from workbench.engines.translation.shape import LARGE_BITS

PAGE_BITS = 48
"""Pages have numbers below 2**48: 57 bits of address, 512 bytes a page at least."""
ALONE = 1 << 58
"""Added to the tag of a page whose neighbours' frames do not lie beside its own."""


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
