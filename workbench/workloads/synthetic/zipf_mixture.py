"""A mixture of shared and private pages, both Zipf."""

from __future__ import annotations

from workbench.levers import lever
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.page_accesses import SomeShared
from workbench.workloads.synthetic.page_patterns import PagePattern, Zipf


class ZipfMixture(SomeShared, Generator):
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
