"""What a setup of the engine `translation` decides: policies by slot, and the levers around them.

First the families of levers of translation under load (docs/translation-rules.md): when a core may issue its next
access, who walks the page table, which waiting walk a free walker takes, which entries of the shared TLB are not made.
Each has its base, its neutral answer, the others, and what they must keep to. Then all options, and the slots.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from workbench.engines.kit import Given, slot
from workbench.engines.translation.page_table import Contiguity, OneSize, PageSizes, WholeGroups
from workbench.errors import InputError, wrong_value
from workbench.levers import Family, Spec, lever
from workbench.machine.translation import TranslationMachine
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.fill import Fill
from workbench.policies.translation.locate import Locate
from workbench.policies.translation.peer import Peer
from workbench.policies.translation.remote_fill import RemoteFill


class CoreModel(Family, noun="core model", example="{warps: {count: 8}}"):
    """The base of every core model."""

    def warps(self) -> int:
        """Return the warps of a core, 0 = as many as are needed."""
        return 0

    def gap_cycles(self) -> int:
        """Return the cycles from a warp's translation to its next access."""
        return 0


class Open(CoreModel):
    """Every access is issued at its cycle in the trace, however many are under way.

    >>> Open().warps()
    0
    """


class Warps(CoreModel):
    """A core has so many warps; each waits for its translation before it issues another access.

    The next access of a core goes to the warp that is free first, at the access's cycle in the trace or later. Few
    warps feel every cycle of latency, many hide it (spec 4, H4.6).

    >>> Warps(count=16).warps()
    16
    """

    brief = ("count",)
    count: int = lever(8, least=1, most=1024, scale="log", unit="warps", description="warps of a core")
    gap: int = lever(
        0, least=0, most=1 << 20, unit="cycles", description="work of a warp between a translation and its next"
    )

    def warps(self) -> int:
        return self.count

    def gap_cycles(self) -> int:
        return self.gap


class WalksBy(Family, noun="way to walk", example="{software: {walks: 8}}"):
    """The base of every answer to who walks."""

    def software(self) -> SoftwareWalks:
        """Return the walkers of cores."""
        return SoftwareWalks(0, 0, 0, False)


class Hardware(WalksBy):
    """The machine's walkers walk.

    >>> Hardware().software().walks
    0
    """


class Software(WalksBy):
    """The core that misses walks where no walker is free: slower, but many walks at a time.

    Issue slots and data caches that such a walk takes from the core's program are not modeled.

    References
    ----------
    "SoftWalker: Supporting Software Page Table Walk for Irregular GPU Applications", MICRO 2025 (warps of a core walk;
    there walks are dealt to any core).

    >>> Software(walks=16).software().walks
    16
    """

    brief = ("walks",)
    walks: int = lever(8, least=1, most=1024, scale="log", unit="walks", description="walks of a core at a time")
    start_cycles: int = lever(
        100, least=0, most=1 << 20, unit="cycles", description="to begin a walk in software and to hand its result over"
    )
    level_cycles: int = lever(
        150, least=0, most=1 << 20, unit="cycles", description="to read one level of the page table in software"
    )
    only: bool = lever(False, description="whether the machine's walkers do nothing, so that all walks are in software")

    def software(self) -> SoftwareWalks:
        return SoftwareWalks(self.walks, self.start_cycles, self.level_cycles, self.only)


class SoftwareWalks(NamedTuple):
    """What cores walk, as whole numbers."""

    walks: int
    """Of a core at a time; 0 = cores do not walk."""
    start_cycles: int
    level_cycles: int
    only: bool
    """Whether the machine's walkers do nothing."""


class WalkOrder(Family, noun="walk order", example="{by_node: {most: 8}}"):
    """The base of every order."""

    def batch(self) -> tuple[int, int]:
        """Return the levels that a walk reads which follows another of its node, and the most walks of a batch."""
        return 0, 1


class ByArrival(WalkOrder):
    """Walks are served in the order in which they entered the queue.

    >>> ByArrival().batch()
    (0, 1)
    """


class ByNode(WalkOrder):
    """A walker that ends a walk goes on with one of the same node of the page table, which saves the upper levels.

    The first of that node by entry into the queue; after `most` walks, or where none waits, the head of the queue.

    References
    ----------
    Shin, LeBeane, Solihin, Basu, "Neighborhood-Aware Address Translation for Irregular GPU Applications", MICRO 2018
    (walks that share a line of the page table). Shin, Cox, Oskin, Loh, Solihin, Bhattacharjee, Basu, "Scheduling Page
    Table Walks for Irregular GPU Applications", ISCA 2018 (batches of one instruction; traces have no instructions).

    >>> ByNode(most=4).batch()
    (1, 4)
    """

    level: int = lever(
        1, least=1, most=3, unit="levels", description="levels below the node that walks of a batch share"
    )
    most: int = lever(8, least=1, most=4096, scale="log", unit="walks", description="walks of a batch at most")

    def batch(self) -> tuple[int, int]:
        return self.level, self.most


def check_order(order: WalkOrder, machine: Any) -> None:
    """Refuse a node that all walks of the machine share.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    level = order.batch()[0]
    if level >= machine.walk_levels:
        path = f"options.walk_order.{order.name}.level"
        expected = f"must be below the machine's walk_levels ({machine.walk_levels}), or walks of a batch save none"
        raise wrong_value("", path, expected, level, machine.walk_levels - 1 if machine.walk_levels > 1 else None)


class Bypass(Family, noun="bypass", example="{dead_entries: {threshold: 6}}"):
    """The base of every rule."""

    def prediction(self) -> Prediction:
        """Return the predictor of dead entries."""
        return Prediction(0, 0, 1, 0)


class Never(Bypass):
    """Every walk makes its entry.

    >>> Never().prediction().threshold
    0
    """


class DeadEntries(Bypass):
    """Entries of a region whose last ones left the shared TLB unused are not made.

    A saturating counter a region grows with an entry that left unused and is cleared by one that was used; so it is
    when a page that was bypassed is missed while it is remembered.

    References
    ----------
    Mazumdar, Mitra, Basu, "Dead Page and Dead Block Predictors: Cleaning TLBs and Caches Together", HPCA 2021. There a
    counter is chosen by the instruction's address too, which traces of pages do not have.

    >>> DeadEntries(counters=64).prediction()
    Prediction(threshold=6, counters=64, region_pages=16, remembered=2)
    """

    threshold: int = lever(
        6, least=1, most=255, unit="entries", description="unused entries until a region is bypassed"
    )
    counters: int = lever(1024, least=1, most=1 << 16, scale="power_of_two", unit="counters", description="counters")
    region_pages: int = lever(
        16, least=1, most=1 << 20, scale="power_of_two", unit="pages", description="neighbouring tags of one counter"
    )
    remembered: int = lever(
        2, least=0, most=64, unit="pages", description="bypassed pages whose next miss proves the prediction wrong"
    )

    def prediction(self) -> Prediction:
        return Prediction(self.threshold, self.counters, self.region_pages, self.remembered)


class Prediction(NamedTuple):
    """How dead entries are predicted, as whole numbers."""

    threshold: int
    """From which count on an entry is not made; 0 = every entry is."""
    counters: int
    region_pages: int
    remembered: int


def check_bypass(bypass: Bypass, inclusive: bool, machine: Any) -> None:
    """Refuse to bypass what is not there, and what must hold all that private TLBs hold.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    path = f"options.bypass must be never where {{}}. Got {bypass.name}."
    if bypass.prediction().threshold and machine.shared_entries == 0:
        raise InputError(path.format("there is no shared TLB (shared_entries: 0)"))
    if bypass.prediction().threshold and inclusive:
        raise InputError(path.format("the shared TLB is inclusive: it holds what private ones hold"))


def check_reach(options: Any, machine: Any) -> None:
    """Refuse levels whose entries cover several pages where something else says what an entry covers.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    for level in ("middle", "shared"):
        pages = getattr(machine, f"{level}_pages")
        if pages == 1 or not getattr(machine, f"{level}_entries"):
            continue
        name = f"{machine.name}.{level}_pages"
        if options.pages_an_entry > 1 or options.page_sizes.large():
            expected = "must be 1 where options.pages_an_entry or options.page_sizes says what an entry covers"
            raise wrong_value("", name, expected, pages, 1)
        if options.inclusive and level == "shared":
            raise wrong_value("", name, "must be 1 where the shared TLB is inclusive", pages, 1)


class TranslationOptions(Spec):
    """What the engine `translation` leaves open."""

    cores_issue: CoreModel = lever(Open(), description="when a core issues its next access (spec 4, H4.6)")
    pages_an_entry: int = lever(
        1,
        least=1,
        most=512,
        scale="power_of_two",
        unit="pages",
        description="neighboring pages that one entry covers (coalescing)",
    )
    contiguous_share: float = lever(
        1.0,
        least=0,
        most=1,
        description="share of the groups of neighboring pages whose frames lie together, so that they do",
    )
    contiguity: Contiguity = lever(
        WholeGroups(),
        description="whether groups of neighboring pages lie together as a whole, or in runs of any length",
    )
    page_sizes: PageSizes = lever(
        OneSize(), description="whether ranges of addresses lie in pages larger than the machine's"
    )
    merge_walks: bool = lever(
        True, description="whether a request joins a walk of its page that waits or is under way (spec 4, T5)"
    )
    walk_order: WalkOrder = lever(ByArrival(), description="which waiting walk a walker takes that is free")
    walks_by: WalksBy = lever(Hardware(), description="who walks: walkers of the machine, or its cores as well")
    bypass: Bypass = lever(Never(), description="which entries of the shared TLB are not made, as they would be dead")
    inclusive: bool = lever(
        False, description="whether what leaves the shared TLB leaves private TLBs too (spec 4, E13)"
    )
    shootdown: Literal["targeted", "broadcast"] = lever(
        "targeted",
        description="whether an unmapping tells the holders that a directory names, or every core (spec 4, E15)",
    )
    news: Literal["links", "free"] = lever(
        "links",
        description="whether news for directories keeps links busy like other messages, or rides free (for comparison)",
    )
    sample_accesses: int = lever(
        8192,
        least=1,
        most=1 << 40,
        scale="log",
        unit="accesses",
        description="from one look at who shares what to the next",
    )

    def check(self) -> None:
        if self.contiguity.mean_run() and self.contiguous_share < 1:
            expected = "must be 1 with contiguity: runs, which says itself where frames lie together"
            raise wrong_value("", "translation_options.contiguous_share", expected, self.contiguous_share, 1)


class Slots(NamedTuple):
    """What is decided."""

    locate: Locate = slot("directory")
    peer: Peer = slot("first_bit")
    fill: Fill = slot("push_pair")
    remote_fill: RemoteFill = slot("always")
    eviction: Eviction = slot("lru")
    shared_eviction: Eviction = slot("lru")


Case = Given[Slots, TranslationOptions, TranslationMachine]
