"""Aggregation of small requests alone; a large one, or one alone in its warp, stays as it is (spec 2, section 7)."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.malloc.aggregation import MOST_ALIGN, adjusted
from workbench.policies.malloc.serve import Serve, ServeView, tree_steps


class SmallAggregated(Serve):
    """Ask once for the small requests of a warp, and once for each other one; of the small ones the first lane asks.

    A request below `below_bytes` is small. A warp with one small request asks for it as it is. The pieces of the small
    ones follow one another in the order of the lanes, each with its header. The header of the block is in front of the
    first one. Between the requests of a warp the one of the lower lane asks first in a tie.

    References
    ----------
    spec 2, section 7; X. Huang, C. Rodrigues, S. Jones, I. Buck and W. Hwu, "XMalloc: A Scalable Lock-free Dynamic
    Memory Allocator for Many-core Machines", CIT 2010, section III: requests of 256 bytes and more are not coalesced.

    Examples
    --------
    >>> policy = SmallAggregated(warp_size=4, below_bytes=16, align=4, block_header_bytes=4, piece_header_bytes=4)
    >>> policy.offsets([8, 20, 4, 8])
    [(36, [0, 16, 24]), (20, [0])]
    >>> policy.offsets([8, 20])
    [(8, [0]), (20, [0])]
    """

    warp_size: int = lever(32, least=1, most=1024, unit="threads", description="threads of a warp")
    below_bytes: int = lever(256, least=1, most=1 << 30, unit="bytes", description="smaller requests are aggregated")
    align: int = lever(
        8, least=1, most=MOST_ALIGN, scale="power_of_two", unit="bytes", description="pieces are rounded up to this"
    )
    block_header_bytes: int = lever(4, least=0, most=4096, unit="bytes", description="of an aggregated block")
    piece_header_bytes: int = lever(4, least=0, most=4096, unit="bytes", description="of each piece of such a block")
    min_alloc: int = lever(4, least=1, most=1 << 20, unit="bytes", description="smaller requests are raised to this")

    @staticmethod
    def answer(see: ServeView) -> int:
        least, align = see.levers.min_alloc, see.levers.align
        small = parts = 0
        for k in range(see.lanes.size):
            small += see.asked[k] < see.levers.below_bytes
        shared = -1
        total = 0
        for k in range(see.lanes.size):
            see.offset[k] = 0
            if small < 2 or see.asked[k] >= see.levers.below_bytes:
                see.part[k], see.leader[parts], see.size[k] = parts, k, adjusted(see.asked[k], least, align)
                parts += 1
                continue
            bytes_here = adjusted(max(see.asked[k], least) + see.levers.piece_header_bytes, 1, align)
            if shared < 0:
                shared, see.leader[parts] = parts, k
                parts += 1
                bytes_here += adjusted(see.levers.block_header_bytes, 0, align)
            see.part[k], see.offset[k], see.size[k] = shared, total, bytes_here
            total += bytes_here
        return parts

    def unit(self) -> int:
        return self.warp_size

    def scan_steps(self) -> int:
        return tree_steps(self.warp_size)

    def divides(self) -> bool:
        return True
