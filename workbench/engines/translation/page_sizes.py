"""How large are pages? All as the machine's, or larger ones in ranges of addresses (docs/translation-rules.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from workbench.engines.translation.shape import LEVEL_BITS
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
