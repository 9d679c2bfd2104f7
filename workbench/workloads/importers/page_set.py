"""How many distinct pages addresses touch, counted batch by batch."""

from __future__ import annotations

import numpy as np


class PageSet:
    """The distinct pages of a size; it grows with the pages, not with the addresses.

    >>> pages = PageSet(4096)
    >>> pages.add(np.array([0, 4095, 4096]))
    >>> pages.add(np.array([4097, 9000]))
    >>> len(pages)
    3
    """

    def __init__(self, page_bytes: int) -> None:
        self._shift = page_bytes.bit_length() - 1
        self._pages = np.empty(0, np.int64)

    def add(self, address: np.ndarray) -> None:
        """Count the pages of some addresses: int64[count]."""
        self._pages = np.union1d(self._pages, address >> self._shift)

    def __len__(self) -> int:
        return len(self._pages)
