"""Split and coalesce: the document's cache with the specification's recommendations."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.question import APART, NEIGHBOURS, NEVER, Cache, CacheRules


class SplitAndCoalesce(Cache):
    """Cut a request off the lower end of a block, keep the rest cached, join cached neighbours at a release.

    The driver is asked for what is needed, no more. Which block is cut, and ties, are up to `cache_fit`.

    References
    ----------
    spec 5, R11-R13, R28, E3-E5, E25; source document ¶29-31.

    Examples
    --------
    >>> SplitAndCoalesce().block_bytes(100), SplitAndCoalesce(align=64).block_bytes(100)
    (100, 128)
    """

    split: bool = lever(True, description="whether a larger block is split (spec 5, R12)")
    min_remainder: int = lever(
        1, least=1, most=1 << 40, unit="bytes", description="a block is split if so much remains (spec 5, E25)"
    )
    align: int = lever(
        1, least=1, most=1 << 30, unit="bytes", description="requests are rounded up to a multiple of it"
    )
    coalesce: bool = lever(True, description="whether cached neighbours are joined (spec 5, E4); off = as written")
    flush_before_remote: bool = lever(
        False, description="whether the own card's cached blocks go back before another card is asked (spec 5, E2)"
    )

    def rules(self) -> CacheRules:
        rest = self.min_remainder if self.split else NEVER
        joins = NEIGHBOURS if self.coalesce else APART
        return CacheRules(
            granule=self.align,
            least_rest=rest,
            small_least_rest=rest,
            joins=joins,
            flushes=int(self.flush_before_remote),
        )
