"""The levers of the translation engine around its policies."""

from __future__ import annotations

from typing import Literal

from workbench.engines.translation.bypass import Bypass, Never
from workbench.engines.translation.contiguity import Contiguity, WholeGroups
from workbench.engines.translation.core_model import CoreModel, Open
from workbench.engines.translation.page_sizes import OneSize, PageSizes
from workbench.engines.translation.walk_order import ByArrival, WalkOrder
from workbench.engines.translation.walks_by import Hardware, WalksBy
from workbench.errors import wrong_value
from workbench.levers import Spec, lever


class TranslationOptions(Spec):
    """What the engine `translation` leaves open."""

    cores_issue: CoreModel = lever(Open(), description="when a core issues its next access (spec 4, H4.6)")
    pages_an_entry: int = lever(
        1,
        least=1,
        most=512,
        scale="power_of_two",
        unit="pages",
        description="neighbouring pages that one entry covers (coalescing)",
    )
    contiguous_share: float = lever(
        1.0,
        least=0,
        most=1,
        description="share of the groups of neighbouring pages whose frames lie together, so that they do",
    )
    contiguity: Contiguity = lever(
        WholeGroups(),
        description="whether groups of neighbouring pages lie together as a whole, or in runs of any length",
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
