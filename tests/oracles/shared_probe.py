"""A slow, obvious twin of the shared probe, from the sentences of spec 3, R51-R59; nothing is from the workbench.

Each resource is shifted by itself, so there is no border for a bit to cross and no mask: what the masks must achieve.
"""

from __future__ import annotations


def sequence(free: list[bool]) -> str:
    """SAR of one resource: is there a run of e + 1 free blocks, e = 0 .. n - 1? (R33)"""
    n = len(free)
    return "".join("1" if any(all(free[k : k + e + 1]) for k in range(n - e)) else "0" for e in range(n))


def chain(free: list[bool], left: bool) -> list[list[bool]]:
    """SA[e], True = free: block k and its neighbours up to distance e, blocks beyond the end taken (R31, R32)."""
    n = len(free)

    def at(k: int) -> bool:
        return 0 <= k < n and free[k]

    return [[all(at(k - d if left else k + d) for d in range(e + 1)) for k in range(n)] for e in range(n)]


def word(resources: list[list[bool]], width: int, taken_is_one: bool) -> list[bool]:
    """D0: the concatenation, occupied beyond it (R56, V22)."""
    free = [bit for resource in resources for bit in resource]
    free += [False] * (width - len(free))
    return [not bit for bit in free] if taken_is_one else free


def number(bits: list[bool]) -> int:
    """Bit 0 is the lowest."""
    return sum(2**k for k, bit in enumerate(bits) if bit)


def packed(blocks: list[int], width: int) -> list[list[int]]:
    """First-fit decreasing as everybody knows it: the sizes of each bin, largest first."""
    bins: list[list[int]] = []
    for size in sorted(blocks, reverse=True):
        for one in bins:
            if sum(one) + size <= width:
                one.append(size)
                break
        else:
            bins.append([size])
    return bins
