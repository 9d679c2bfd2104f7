"""What an entry of the event-driven twin covers: pages of several sizes, groups, runs (docs/translation-rules.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

OUTSIDE_A_GROUP = 2**58
CLASS = 2**59


class Large(NamedTuple):
    """A range of addresses that lies in large pages."""

    begin: int
    end: int
    page_bytes: int


def lies(number: int) -> float:
    """Return the drawn number of a page or a group, at least 0 and below 1."""
    return ((number * 0x9E3779B97F4A7C15) % 2**64 // 2**11) / 2**53


class Tags:
    """Names of entries."""

    def __init__(
        self, page_bytes: int, large: Sequence[Large] = (), group: int = 1, share: float = 1.0, mean_run: float = 0.0
    ) -> None:
        """`mean_run` 0 is `whole_groups`."""
        self.page_bytes, self.large, self.group, self.share, self.mean_run = page_bytes, large, group, share, mean_run
        sizes = sorted({one.page_bytes for one in large})
        self.classes = {size: number for number, size in enumerate(sizes, 1)}
        self.first: dict[int, int] = {}
        """The first page that an entry covers, by tag."""

    def of(self, page: int) -> int:
        """Return what the entry of a page is found by."""
        first, tag = self._entry(page)
        assert self.first.setdefault(tag, first) == first, "two entries of one tag"
        return tag

    def saves(self, page: int) -> int:
        """Return the levels of a walk that a page is too large to need."""
        span, levels = self._size(page) // self.page_bytes, 0
        while 512 ** (levels + 1) <= span:
            levels += 1
        return levels

    def _size(self, page: int) -> int:
        address = page * self.page_bytes
        return next((one.page_bytes for one in self.large if one.begin <= address < one.end), self.page_bytes)

    def _entry(self, page: int) -> tuple[int, int]:
        """Return the first page of an entry and its tag."""
        size = self._size(page)
        if size != self.page_bytes:
            span = size // self.page_bytes
            return page // span * span, page // span + self.classes[size] * CLASS
        if self.group == 1:
            return page, page
        return self._of_run(page) if self.mean_run else self._of_group(page)

    def _of_group(self, page: int) -> tuple[int, int]:
        group = page // self.group
        return (group * self.group, group) if lies(group) < self.share else (page, page + OUTSIDE_A_GROUP)

    def _of_run(self, page: int) -> tuple[int, int]:
        first = page
        while first % self.group and not lies(first) < 1 / self.mean_run:
            first -= 1
        bits = self.group.bit_length() - 1
        return first, first // self.group + first % self.group * 2 ** (48 - bits)
