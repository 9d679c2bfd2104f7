"""How a region's runs of frames are cut into pages (spec 6, R10, V4, E9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracles.node.description import KIB, MIB

SIZES = {"4k": 4 * KIB, "64k": 64 * KIB, "2m": 2 * MIB}
LARGEST_FIRST = (2 * MIB, 64 * KIB, 4 * KIB)


class Run(NamedTuple):
    """Frames side by side on one card, in bytes."""

    card: int
    start: int
    length: int


@dataclass(eq=False)
class Page:
    """A page of an application: its tag tells it from every other page of the node."""

    application: int
    address: int
    size: int
    card: int

    @property
    def tag(self) -> int:
        """Return (application, class of size, number of the page), as one number that keeps this order."""
        kind = sorted(LARGEST_FIRST).index(self.size)
        return self.application << 48 | kind << 44 | self.address // self.size


def granule_of(mode: str) -> int:
    """Return what a request is rounded up to: whole pages of a fixed size, 4 KiB under `largest`."""
    return SIZES.get("2m" if mode == "neutral" else mode, 4 * KIB)


def rounded(size: int, granule: int) -> int:
    """Return a number of bytes rounded up to whole granules."""
    return -(-size // granule) * granule


def page_sizes(run: Run, mode: str) -> list[int]:
    """Return the sizes of the pages of a run, in the order of addresses."""
    sizes, at, end = [], run.start, run.start + run.length
    allowed = LARGEST_FIRST if mode == "largest" else (granule_of(mode),)
    while at < end:
        sizes.append(next(size for size in allowed if at % size == 0 and at + size <= end))
        at += sizes[-1]
    return sizes


@dataclass
class AddressSpace:
    """The virtual addresses of an application: each run has the next ones congruent to its frames modulo 2 MiB."""

    application: int
    next_address: int = field(default=0)

    def mapped(self, runs: list[Run], mode: str) -> list[Page]:
        """Return the pages of a region, run by run; no address is ever used again."""
        return [page for run in runs for page in self._of_run(run, mode)]

    def _of_run(self, run: Run, mode: str) -> list[Page]:
        at = self.next_address + (run.start - self.next_address) % (2 * MIB)
        pages = []
        for size in page_sizes(run, mode):
            pages.append(Page(self.application, at, size, run.card))
            at += size
        self.next_address = at
        return pages
