"""Cores that access pages without computing anything: at a pace, some pages shared, some private."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads import workload as blocks
from workbench.workloads.synthetic.access_pace import Pace, Regular
from workbench.workloads.synthetic.page_patterns import PagePattern, Scatter, Sweep, Zipf
from workbench.workloads.warp_pages import Ordinals
from workbench.workloads.workload import Accesses, Generator, Workload

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
        """Return the number of pages of all arrays together."""
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


def _pages(working_set: float, machine: Any) -> int:
    return max(round(working_set * machine.private_entries), 1)


class SharedAndPrivate(PageAccesses):
    """The base of generators that read one array shared by all cores, then a private array of each core."""

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
        """Return the next pages of the shared array, and of a private array."""
        raise NotImplementedError

    def pages(self, machine: Any) -> int:
        """Return the pages of the shared array, then of the array of each core."""
        return self.array_pages(machine) + self.private_pages(machine) * int(machine.cores)

    def private_pages(self, machine: Any) -> int:
        """Return the pages of a core's private array, at least 1."""
        return _pages(self.own_working_set or self.working_set, machine)

    def reader(self, machine: Any, streams: Streams) -> PageReader:
        shared_size, private_size = self.array_pages(machine), self.private_pages(machine)
        patterns = zip(self.patterns(), (shared_size, private_size), strict=True)
        shared, private = (pattern.reader(pages, machine.cores) for pattern, pages in patterns)
        ranks, kinds = streams.flow("pages"), streams.flow("sharing")

        def read(core: np.ndarray) -> np.ndarray:
            rank, is_shared = ranks(len(core)), kinds(len(core)) < self.sharing
            page = np.empty(len(core), np.int64)
            page[is_shared] = shared(core[is_shared], rank[is_shared])
            other = ~is_shared
            page[other] = private(core[other], rank[other]) + core[other].astype(np.int64) * private_size + shared_size
            return page

        return read


class PrivateArrays(PageAccesses, Generator):
    """Every core reads an array of its own, of which no other core ever has a page: nothing to share (H4.7).

    References
    ----------
    spec 4, section 6: per-core private arrays; pilot trace "cyclic 48 private pages".

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> machine = TranslationMachine(cores=2, private_entries=2)
    >>> (block,) = PrivateArrays(count=8).accesses(machine, Streams(0))
    >>> block.page.tolist()
    [0, 3, 1, 4, 2, 5, 0, 3]
    """

    pattern: PagePattern = lever(Sweep(), description="which page of its array a core reads next")

    def pages(self, machine: Any) -> int:
        return self.array_pages(machine) * int(machine.cores)

    def reader(self, machine: Any, streams: Streams) -> PageReader:
        of_array = self.array_pages(machine)
        private, ranks = self.pattern.reader(of_array, machine.cores), streams.flow("pages")
        return lambda core: private(core, ranks(len(core))) + core.astype(np.int64) * of_array


class SharedSweep(SharedAndPrivate, Generator):
    """Every core reads one shared array page after page and from its beginning again; the rest are pages of its own.

    With `sharing` 1 nothing else is read: a working set of 1.5 private TLBs is then what least-recently-used never
    hits and what a peer always has.

    References
    ----------
    spec 4, section 6: all cores sweep one shared array; pilot traces "cyclic 48 shared pages" and "half shared loop,
    half private random".

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.streams import Streams
    >>> machine = TranslationMachine(cores=2, private_entries=2)
    >>> (block,) = SharedSweep(count=8).accesses(machine, Streams(0))
    >>> block.core.tolist(), block.page.tolist()
    ([0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2, 0, 0])
    """

    sharing: float = lever(
        1.0, least=0, most=1, step=0.05, description="how much of all accesses are to the shared array"
    )
    own: PagePattern = lever(Scatter(), description="which page of its own array a core reads next")

    def patterns(self) -> tuple[PagePattern, PagePattern]:
        return Sweep(), self.own


class StencilHalo(PageAccesses, Generator):
    """A grid is cut into slabs of pages, one a core; each sweeps its slab and a halo of the neighbor on either side.

    `sharing` is the part of a slab that its two neighbors read as well. A halo has half of that on each side, in whole
    pages, and the first and the last slab are neighbors. Sharing is thus between neighbors only, of degree 2 or 3.

    References
    ----------
    spec 4, section 6: stencil with halo sharing.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> machine = TranslationMachine(cores=2, private_entries=4)
    >>> halo = StencilHalo(count=12, working_set=1, sharing=0.5)
    >>> (block,) = halo.accesses(machine, Streams(0))
    >>> block.page[block.core == 0].tolist()  # its slab is 0 to 3, a halo has one page
    [7, 0, 1, 2, 3, 4]
    """

    sharing: float = lever(
        0.25, least=0, most=1, step=0.05, description="how much of a slab its two neighbors read as well"
    )

    def pages(self, machine: Any) -> int:
        return self.array_pages(machine) * int(machine.cores)

    def reader(self, machine: Any, streams: Streams) -> PageReader:
        slab, ordinals = self.array_pages(machine), Ordinals(machine.cores)
        halo, total = round(self.sharing * slab / 2), self.pages(machine)

        def read(core: np.ndarray) -> np.ndarray:
            place = ordinals.of(core) % (slab + 2 * halo) - halo
            return (core.astype(np.int64) * slab + place) % total

        return read


class ZipfMixture(SharedAndPrivate, Generator):
    """Each access is to a shared page with the chance `sharing`, else to a page of the core's own; both by Zipf's law.

    References
    ----------
    spec 4, section 6: Zipf mixture of shared and private pages; pilot trace "Zipf, 60 % shared".

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.streams import Streams
    >>> machine = TranslationMachine(cores=4, private_entries=32)
    >>> (block,) = ZipfMixture(count=1000, sharing=0.25).accesses(machine, Streams(7))
    >>> round(float((block.page < 48).mean()), 2), int(block.page.max()) < ZipfMixture().pages(machine)
    (0.26, True)
    """

    sharing: float = lever(
        0.6, least=0, most=1, step=0.05, description="how much of all accesses are to the shared array"
    )
    alpha: float = lever(
        1.0, least=0, most=8, step=0.1, description="how much more often the first pages of an array come"
    )

    def patterns(self) -> tuple[PagePattern, PagePattern]:
        return Zipf(alpha=self.alpha), Zipf(alpha=self.alpha)


class ProducerConsumer(PageAccesses, Generator):
    """Cores in groups: the first of each writes a ring of pages, the others read each page some accesses later.

    With the chance `sharing` an access is to the group's ring, where a core goes one page on each time and a consumer
    is `lag` pages behind; else it is to a page of the core's own, each with the same chance. Between groups nothing is
    shared; a last group of one core has no peer to share with.

    References
    ----------
    spec 4, section 6: producer-consumer groups.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> machine = TranslationMachine(cores=4, private_entries=4)
    >>> (block,) = ProducerConsumer(count=12, group=2, lag=1, sharing=1).accesses(machine, Streams(0))
    >>> [block.page[block.core == core].tolist() for core in range(4)]  # rings of 6 pages
    [[0, 1, 2], [5, 0, 1], [6, 7, 8], [11, 6, 7]]
    """

    sharing: float = lever(
        0.75, least=0, most=1, step=0.05, description="how much of all accesses are to the group's ring"
    )
    group: int = lever(4, least=1, most=1024, unit="cores", description="cores of a group, its producer included")
    lag: int = lever(8, least=0, most=1 << 30, unit="pages", description="how far consumers are behind their producer")

    def pages(self, machine: Any) -> int:
        """Return the pages of the ring of each group, then of the array of each core."""
        return self.array_pages(machine) * (self._groups(machine) + int(machine.cores))

    def reader(self, machine: Any, streams: Streams) -> PageReader:
        of_array, ordinals, private_from = self.array_pages(machine), Ordinals(machine.cores), self._groups(machine)
        ranks, kinds = streams.flow("pages"), streams.flow("sharing")

        def read(core: np.ndarray) -> np.ndarray:
            to_ring = kinds(len(core)) < self.sharing
            page = (ranks(len(core)) * of_array).astype(np.int64) + (private_from + core.astype(np.int64)) * of_array
            member = core[to_ring].astype(np.int64)
            behind = np.where(member % self.group, self.lag, 0)
            page[to_ring] = (ordinals.of(member) - behind) % of_array + member // self.group * of_array
            return page

        return read

    def _groups(self, machine: Any) -> int:
        return -(-int(machine.cores) // self.group)
