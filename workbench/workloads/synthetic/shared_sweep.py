"""All cores sweep one shared array."""

from __future__ import annotations

from workbench.levers import lever
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.page_accesses import SomeShared
from workbench.workloads.synthetic.page_patterns import PagePattern, Scatter, Sweep


class SharedSweep(SomeShared, Generator):
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
