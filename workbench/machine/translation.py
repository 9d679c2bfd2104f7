"""Cores with private TLBs, the network between them, the TLBs that they share, and the walkers behind them (spec 4).

Between the private TLBs and the shared one there may be a middle level: groups of cores that share a TLB each.

The defaults are the sizes at which the directory's speed is stated. A shared access costs twelve private ones, which
is within the source document's range; a walk is the sum of its levels, 400 cycles, which is far below it: there a walk
costs 200 to 900 shared accesses (spec 4, section 2). The preset `patent_translation` has both ratios.
"""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from workbench.errors import InputError, wrong_value
from workbench.levers import lever
from workbench.machine.presets import Described

MOST_CORES = 1024


class TranslationMachine(Described):
    """Frozen description of an address-translation hierarchy; a core is one CU (AMD) or one SM (NVIDIA).

    >>> TranslationMachine().walk_cycles
    400
    >>> TranslationMachine(private_entries=48, private_ways=32)
    Traceback (most recent call last):
    workbench.errors.InputError: translation_machine.private_ways must divide private_entries (48). Got 32. Nearest: 24.
    """

    cores: int = lever(16, least=1, most=MOST_CORES, unit="cores", description="cores, each with a private TLB")
    wave_size: int = lever(
        64, least=8, most=64, scale="power_of_two", unit="threads", description="threads a wave (warp) of its cores"
    )
    page_bytes: int = lever(
        4096, least=512, most=1 << 30, scale="power_of_two", unit="bytes", description="bytes a page"
    )
    address_bits: int = lever(48, least=20, most=57, unit="bits", description="width of a virtual address")
    private_entries: int = lever(32, least=1, most=1 << 20, unit="entries", description="entries of a private TLB")
    private_ways: int = lever(
        0, least=0, most=1 << 20, unit="ways", description="entries of a set of a private TLB; 0 = fully associative"
    )
    private_cycles: int = lever(1, least=0, most=10_000, unit="cycles", description="a look-up in a private TLB")
    private_ports: int = lever(
        0,
        least=0,
        most=64,
        unit="ports",
        description="look-ups that a private TLB starts a cycle, peers' included; 0 = all",
    )
    private_mshrs: int = lever(
        64,
        least=1,
        most=4096,
        unit="pages",
        description="pages that a core may wait for at once (miss-status registers)",
    )
    middle_entries: int = lever(
        0,
        least=0,
        most=1 << 20,
        unit="entries",
        description="entries of a middle TLB, which a group of cores asks before the shared one; 0 = there is none",
    )
    middle_ways: int = lever(
        0, least=0, most=1 << 20, unit="ways", description="entries of a set of a middle TLB; 0 = fully associative"
    )
    middle_cycles: int = lever(
        6, least=0, most=100_000, unit="cycles", description="an access to a middle TLB with the way there and back"
    )
    middle_ports: int = lever(
        0, least=0, most=64, unit="ports", description="accesses that a middle TLB starts a cycle; 0 = all that come"
    )
    middle_pages: int = lever(
        1,
        least=1,
        most=1 << 16,
        scale="power_of_two",
        unit="pages",
        description="neighboring pages that an entry of a middle TLB covers",
    )
    middle_cores: int = lever(
        1, least=1, most=MOST_CORES, unit="cores", description="cores of a group, which follow each other"
    )
    shared_groups: str = lever(
        "",
        description="which cores share a middle TLB, such as 0 2 4, 1 3; empty = middle_cores that follow each other",
    )
    shared_entries: int = lever(
        512, least=0, most=1 << 22, unit="entries", description="entries of the shared TLB; 0 = there is none"
    )
    shared_ways: int = lever(
        0, least=0, most=1 << 22, unit="ways", description="entries of a set of the shared TLB; 0 = fully associative"
    )
    shared_cycles: int = lever(
        12, least=0, most=100_000, unit="cycles", description="an access to the shared TLB with the way there and back"
    )
    shared_banks: int = lever(
        1, least=1, most=1024, scale="power_of_two", unit="banks", description="banks of the shared TLB"
    )
    shared_ports: int = lever(
        0, least=0, most=64, unit="ports", description="accesses that a bank starts a cycle; 0 = all that come"
    )
    shared_pages: int = lever(
        1,
        least=1,
        most=1 << 16,
        scale="power_of_two",
        unit="pages",
        description="neighboring pages that an entry of the shared TLB covers",
    )
    walkers: int = lever(8, least=1, most=4096, unit="walkers", description="page-table walks at a time")
    walk_queue: int = lever(
        0, least=0, most=1 << 20, unit="walks", description="walks that may wait for a walker; 0 = as many as come"
    )
    walk_levels: int = lever(4, least=1, most=4, unit="levels", description="levels of the page table")
    level_cycles: int = lever(
        100, least=0, most=1 << 20, unit="cycles", description="to read one level of the page table"
    )
    walk_cache_entries: int = lever(
        0,
        least=0,
        most=1 << 16,
        unit="entries",
        description="upper levels that the page-walk cache holds; 0 = there is none",
    )
    network: Literal["mesh", "ring", "crossbar"] = lever("mesh", description="how private TLBs are connected")
    hop_cycles: int = lever(1, least=0, most=1000, unit="cycles", description="from one router to the next")
    link_cycles: int = lever(
        0, least=0, most=1000, unit="cycles", description="how long a message keeps a link busy; 0 = links never queue"
    )
    clock_mhz: float = lever(
        1000.0, least=1, most=100_000, unit="MHz", description="the clock in which cycles are counted"
    )

    shown: ClassVar[tuple[str, ...]] = (
        "cores",
        "page_bytes",
        "private_entries",
        "shared_entries",
        "shared_cycles",
        "walkers",
        "walk_levels",
        "level_cycles",
    )
    may_omit: ClassVar[tuple[str, ...]] = (
        "middle_entries",
        "middle_ways",
        "middle_cycles",
        "middle_ports",
        "middle_pages",
        "middle_cores",
        "shared_groups",
        "shared_pages",
    )

    def check(self) -> None:
        for level in ("private", "middle", "shared"):
            self._check_ways(f"{level}_ways", f"{level}_entries")
        if self.shared_groups:
            self._check_groups()

    def _check_ways(self, ways: str, entries: str) -> None:
        given, total = getattr(self, ways), getattr(self, entries)
        if given and total % given:
            near = min((d for d in range(1, total + 1) if total % d == 0), key=lambda d: (abs(d - given), d))
            raise InputError(f"{self.name}.{ways} must divide {entries} ({total}). Got {given}. Nearest: {near}.")

    def _check_groups(self) -> None:
        """Refuse groups in which not every core stands once, and groups that are told in two ways."""
        if self.middle_cores != 1:
            expected = "must be 1 where shared_groups says which cores share"
            raise wrong_value("", f"{self.name}.middle_cores", expected, self.middle_cores, 1)
        named = re.findall(r"\d+", self.shared_groups)
        legible = re.fullmatch(r"\d+( \d+)*(, ?\d+( \d+)*)*", self.shared_groups)
        if not legible or sorted(map(int, named)) != list(range(self.cores)):
            expected = f"must name each core from 0 to {self.cores - 1} once, such as 0 2 4, 1 3"
            raise wrong_value("", f"{self.name}.shared_groups", expected, self.shared_groups)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return the cores of each group that shares a middle TLB, whether there are such TLBs or not.

        >>> TranslationMachine(cores=5, shared_groups="0 2 4, 1 3").groups
        ((0, 2, 4), (1, 3))
        >>> TranslationMachine(cores=3, middle_cores=2).groups
        ((0, 1), (2,))
        """
        if self.shared_groups:
            return tuple(tuple(map(int, group.split())) for group in self.shared_groups.split(","))
        firsts = range(0, self.cores, self.middle_cores)
        return tuple(tuple(range(first, min(first + self.middle_cores, self.cores))) for first in firsts)

    @property
    def walk_cycles(self) -> int:
        """Return the cycles of a walk through every level."""
        return self.walk_levels * self.level_cycles

    @property
    def pages(self) -> int:
        """Return the number of virtual pages."""
        return max((1 << self.address_bits) // self.page_bytes, 1)
