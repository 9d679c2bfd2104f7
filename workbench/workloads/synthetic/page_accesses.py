"""Cores that access pages without computing anything: so many accesses at a pace, some of shared pages, some of own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads import accesses as blocks
from workbench.workloads.accesses import Accesses
from workbench.workloads.synthetic.paces import Pace, Regular
from workbench.workloads.synthetic.page_patterns import PagePattern
from workbench.workloads.workload import Workload

MOST_ACCESSES = 10**11
PageReader = Callable[[np.ndarray], np.ndarray]
"""From the cores of the next accesses, int32[count], to their pages, int64[count]."""


class PageAccesses(Workload):
    """The base of generators of accesses: `pages` says how many there are, `reader` which come next.

    A longer trace begins with the shorter one, and the order of a core's pages does not depend on the pace.
    """

    count: int = lever(
        48_000, least=1, most=MOST_ACCESSES, scale="log", unit="accesses", description="how many of all cores"
    )
    gap: float = lever(4.0, least=0, most=1e6, unit="cycles", description="mean cycles between two accesses of a core")
    pace: Pace = lever(Regular(), description="when each core accesses a page")
    working_set: float = lever(
        1.5,
        least=0.01,
        most=1e6,
        scale="log",
        description="pages of each array that a core reads, over its private entries",
    )

    def pages(self, machine: Any) -> int:
        """Return how many pages all arrays have together."""
        raise NotImplementedError

    def reader(self, machine: Any, streams: Streams) -> PageReader:
        """Return the pages of the trace from its beginning."""
        raise NotImplementedError

    def array_pages(self, machine: Any) -> int:
        """Return the pages of one array, at least 1."""
        return _pages(self.working_set, machine)

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        needed = self.pages(machine)
        if needed > machine.pages:
            expected = f"gives {needed} pages where the machine's addresses reach {machine.pages}; take a smaller one"
            raise InputError(at(where, f"{path or self.name}.working_set {expected}. Got {self.working_set}."))

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        """Return the accesses, in blocks.

        Raises
        ------
        InputError
            The pages are more than the machine's addresses reach.
        """
        self.check_machine(machine)
        return self._blocks(machine, streams)

    def _blocks(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        clock, pages = self.pace.clock(machine.cores, self.gap, streams), self.reader(machine, streams)
        for first in range(0, self.count, blocks.ROWS):
            cycle, core = clock(min(blocks.ROWS, self.count - first))
            yield Accesses(cycle, core, pages(core))


class SomeShared(PageAccesses):
    """The base of generators that read one array shared by all cores, and one of each core's own behind it."""

    sharing: float = lever(
        0.5, least=0, most=1, step=0.05, description="how much of all accesses are to the shared array"
    )
    own_working_set: float = lever(
        0,
        least=0,
        most=1e6,
        description="pages of each own array, over a core's private entries; 0 = as the shared array",
    )

    def patterns(self) -> tuple[PagePattern, PagePattern]:
        """Return which pages of the shared array, and of an own array, come next."""
        raise NotImplementedError

    def pages(self, machine: Any) -> int:
        """Return the pages of the shared array, then of the array of each core."""
        return self.array_pages(machine) + self.own_pages(machine) * int(machine.cores)

    def own_pages(self, machine: Any) -> int:
        """Return the pages of a core's own array, at least 1."""
        return _pages(self.own_working_set or self.working_set, machine)

    def reader(self, machine: Any, streams: Streams) -> PageReader:
        of_shared, of_own = self.array_pages(machine), self.own_pages(machine)
        patterns = zip(self.patterns(), (of_shared, of_own), strict=True)
        shared, own = (pattern.reader(pages, machine.cores) for pattern, pages in patterns)
        ranks, kinds = streams.flow("pages"), streams.flow("sharing")

        def read(core: np.ndarray) -> np.ndarray:
            rank, is_shared = ranks(len(core)), kinds(len(core)) < self.sharing
            page = np.empty(len(core), np.int64)
            page[is_shared] = shared(core[is_shared], rank[is_shared])
            other = ~is_shared
            page[other] = own(core[other], rank[other]) + core[other].astype(np.int64) * of_own + of_shared
            return page

        return read


def _pages(working_set: float, machine: Any) -> int:
    return max(round(working_set * machine.private_entries), 1)
