"""Size classes: a slab allocator's free lists."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.question import APART, NEVER, Cache, CacheRules


class SizeClasses(Cache):
    """Round every request up to a class; blocks are neither split nor joined. A tie is up to `cache_fit: exact_fit`.

    References
    ----------
    spec 5, section 7 (buddy, slab and size classes); H5.4.

    Examples
    --------
    >>> SizeClasses(classes=4).block_bytes(70), SizeClasses(classes=1).block_bytes(70)
    (80, 128)
    """

    classes: int = lever(
        4, least=1, most=64, scale="power_of_two", unit="classes", description="sizes to each doubling"
    )

    def rules(self) -> CacheRules:
        return CacheRules(classes=self.classes, least_rest=NEVER, small_least_rest=NEVER, joins=APART)
