"""Groups of cores in which one writes pages that the others read soon after."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.ordinals import Ordinals
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.page_accesses import PageAccesses, PageReader


class ProducerConsumer(PageAccesses, Generator):
    """Cores in groups: the first of each writes a ring of pages, the others read each page some accesses later.

    With the chance `sharing` an access is to the group's ring, where a core goes one page on each time and a consumer
    is `lag` pages behind; else it is to a page of the core's own, each with the same chance. Between groups nothing is
    shared; a last group of one core has nobody to share with.

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
        of_array, ordinals, own_from = self.array_pages(machine), Ordinals(machine.cores), self._groups(machine)
        ranks, kinds = streams.flow("pages"), streams.flow("sharing")

        def read(core: np.ndarray) -> np.ndarray:
            to_ring = kinds(len(core)) < self.sharing
            page = (ranks(len(core)) * of_array).astype(np.int64) + (own_from + core.astype(np.int64)) * of_array
            member = core[to_ring].astype(np.int64)
            behind = np.where(member % self.group, self.lag, 0)
            page[to_ring] = (ordinals.of(member) - behind) % of_array + member // self.group * of_array
            return page

        return read

    def _groups(self, machine: Any) -> int:
        return -(-int(machine.cores) // self.group)
