"""Slow, obvious twins of the free map's kernels: a memory is a list of bools. Nothing here comes from the workbench."""

from __future__ import annotations


def runs(free: list[bool]) -> list[tuple[int, int]]:
    """Every maximal free run as (first, one past its last), in order."""
    result, start = [], None
    for segment, is_free in enumerate([*free, False]):
        if is_free and start is None:
            start = segment
        elif not is_free and start is not None:
            result.append((start, segment))
            start = None
    return result


def starts(free: list[bool], length: int) -> list[int]:
    """Every start of `length` free segments in a row."""
    return [s for s in range(len(free) - length + 1) if False not in free[s : s + length]]


def buddy_blocks(free: list[bool]) -> list[tuple[int, int]]:
    """The free blocks of a buddy allocator as (size, first): aligned, wholly free, and the buddy is not."""

    def is_free(first: int, size: int) -> bool:
        return first + size <= len(free) and False not in free[first : first + size]

    sizes = [2**k for k in range(13)]
    blocks = [(size, first) for size in sizes for first in range(0, len(free), size) if is_free(first, size)]
    return [(size, first) for size, first in blocks if not is_free(first ^ size, size)]
