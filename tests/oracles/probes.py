"""Slow, obvious twins of the probes: strings and loops, written from the sentences of spec 3.

A free map is a list of bools, True = free. A state is a string in an encoding. Nothing here comes from the workbench.
"""

from __future__ import annotations


def longest_run(free):
    """R33, R36: the longest run of free blocks, 0 where there is none."""
    return max((b - a for a in range(len(free)) for b in range(a + 1, len(free) + 1) if all(free[a:b])), default=0)


def longest_run_by_text(free):
    """The same for large resources: the longest piece between occupied blocks."""
    return max(len(piece) for piece in "".join("01"[bit] for bit in free).split("0"))


def grouped_run(free, groups):
    """R39, R41: groups of N/Z blocks, free where all of their blocks are; the longest run of them times N/Z."""
    size = len(free) // groups
    return size * longest_run_by_text([all(free[z * size : (z + 1) * size]) for z in range(groups)])


def sampled_run(free, lengths):
    """R46: the largest sampled size that does not exceed the true run, 0 if none."""
    return max((length for length in lengths if length <= longest_run_by_text(free)), default=0)


def grouped_sampled_run(free, groups, lengths):
    """R50: the largest sampled number of groups that does not exceed the true run of groups, times N/Z."""
    size = len(free) // groups
    return size * sampled_run([all(free[z * size : (z + 1) * size]) for z in range(groups)], lengths)


def written(free, encoding):
    """The state as a string: 1 = free in `free1`, 1 = occupied in `free0`."""
    return "".join("1" if bit == (encoding == "free1") else "0" for bit in free)


def group_bits(state, groups, encoding):
    """R39, E27: the AND of each group in `free1`, its OR in `free0`."""
    size = len(state) // groups
    pieces = [state[z * size : (z + 1) * size] for z in range(groups)]
    if encoding == "free1":
        return "".join("0" if "0" in piece else "1" for piece in pieces)
    return "".join("1" if "1" in piece else "0" for piece in pieces)


def shifted(state, direction, encoding):
    """R31: the state shifted by 0 to N - 1, the vacated positions filled with "occupied"."""
    fill = "0" if encoding == "free1" else "1"
    n = len(state)
    if direction == "right":
        return [fill * i + state[: n - i] for i in range(n)]
    return [state[i:] + fill * i for i in range(n)]


def chained(shifts, encoding):
    """R32: SA[i] = S[0] AND ... AND S[i], or OR in `free0`."""
    combine = min if encoding == "free1" else max
    return ["".join(combine(column) for column in zip(*shifts[: i + 1], strict=True)) for i in range(len(shifts))]


def reduced(chains, encoding):
    """R33: OR-reduce in `free1`, NAND-reduce in `free0`."""
    if encoding == "free1":
        return "".join("1" if "1" in chain else "0" for chain in chains)
    return "".join("0" if set(chain) == {"1"} else "1" for chain in chains)
