"""No cache: a driver call for every request."""

from __future__ import annotations

from workbench.policies.pool.cache.question import NEVER, Cache, CacheRules


class NoCache(Cache):
    """Ask the driver at every allocation and give back at every release; there is no block to choose, so no tie.

    References
    ----------
    spec 5, section 7 (driver allocation per request), H5.3.

    Examples
    --------
    >>> NoCache().rules().keeps
    0
    """

    def rules(self) -> CacheRules:
        return CacheRules(least_rest=NEVER, small_least_rest=NEVER, keeps=0)
