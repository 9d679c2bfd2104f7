"""Every core reads an array of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.page_accesses import PageAccesses, PageReader
from workbench.workloads.synthetic.page_patterns import PagePattern, Sweep


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
        own, ranks = self.pattern.reader(of_array, machine.cores), streams.flow("pages")
        return lambda core: own(core, ranks(len(core))) + core.astype(np.int64) * of_array
