"""How was a driver allocation cut, when of its blocks only the regions in use are known?"""

from __future__ import annotations

from collections.abc import Mapping


def pieces(start: int, size: int, regions: Mapping[int, int]) -> list[tuple[int, bool]]:
    """Return the blocks of a driver allocation, (bytes, whether in use): what lies between two regions is one block.

    >>> pieces(100, 50, {110: 5, 115: 5, 500: 8})
    [(10, False), (5, True), (5, True), (30, False)]
    """
    blocks, at = [], start
    for region in sorted(it for it in regions if start <= it < start + size):
        blocks += [(region - at, False), (regions[region], True)]
        at = region + regions[region]
    return [piece for piece in [*blocks, (start + size - at, False)] if piece[0]]


def halves(start: int, size: int, regions: Mapping[int, int]) -> list[tuple[int, bool]]:
    """Return the same where blocks are halves of halves: a half without a region is one block.

    >>> halves(0, 64, {16: 16})
    [(16, False), (16, True), (32, False)]
    """
    if regions.get(start) == size:
        return [(size, True)]
    if not any(start <= it < start + size for it in regions):
        return [(size, False)]
    half = size // 2
    return halves(start, half, regions) + halves(start + half, half, regions)
