"""Stitching: GMLake's pool, in which blocks that lie apart serve one request."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.question import Cache, CacheRules


class Stitching(Cache):
    """As a caching allocator, but where no block is large enough several are mapped side by side, the largest first.

    Of equal blocks the lowest address goes first; the last of them is the smallest that completes the request, split if
    it is larger. Blocks below `least_piece` are not stitched. At a release each part is cached where it came from.

    Mapping costs calls of the driver: one for each chunk of each part, and one for each part that sets access; at the
    release again one for each chunk.

    References
    ----------
    spec 5, section 7; Guo et al., "GMLake", ASPLOS 2024. What differs is in DEVIATIONS.md.

    Examples
    --------
    >>> Stitching().block_bytes(100), Stitching().segment_bytes(3 << 20)
    (512, 4194304)
    """

    least_piece: int = lever(
        1 << 21,
        least=1,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="smallest block that is stitched",
    )

    chunk: int = lever(
        1 << 21,
        least=1,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="what one call of the driver maps",
    )

    def rules(self) -> CacheRules:
        return CacheRules(
            granule=512,
            small_most=1 << 20,
            small_segment=2 << 20,
            segment_granule=2 << 20,
            least_rest=2 << 20,
            small_least_rest=512,
            stitches=self.least_piece,
            chunk=self.chunk,
            flushes=1,
        )
