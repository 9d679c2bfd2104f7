"""Every core sweeps a slab of one grid and the edges of its neighbours' slabs."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.ordinals import Ordinals
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.page_accesses import PageAccesses, PageReader


class StencilHalo(PageAccesses, Generator):
    """A grid is cut into slabs of pages, one a core; each sweeps its slab and a halo of the neighbour on either side.

    `sharing` is how much of a slab its two neighbours read as well: a halo has half of that on each side, in whole
    pages, and the first and the last slab are neighbours. Sharing is thus between neighbours only, of degree 2 or 3.

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
        0.25, least=0, most=1, step=0.05, description="how much of a slab its two neighbours read as well"
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
