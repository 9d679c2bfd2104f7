"""Slow, obvious twins of the placement policies: lists of bools and loops, written from the sentences of spec 1.

A twin is asked `choose(free, m)`, with `free` a list of bools, and answers with a start or None; one that remembers
something is told of grants and releases. Twins with a bookkeeping of their own (free blocks, free lists, a ring) keep
theirs and do not look at `free`. Nothing here comes from the workbench.
"""

from __future__ import annotations

import math


def feasible(free: list[bool], m: int) -> list[int]:
    """R16: every start i such that the segments i .. i + m - 1 are free."""
    return [i for i in range(len(free) - m + 1) if all(free[i : i + m])]


def holes(free: list[bool]) -> list[tuple[int, int]]:
    """Every maximal run of free segments as (first, size), in order."""
    result: list[tuple[int, int]] = []
    for segment, is_free in enumerate(free):
        if not is_free:
            continue
        if segment > 0 and free[segment - 1]:
            first, size = result[-1]
            result[-1] = (first, size + 1)
        else:
            result.append((segment, 1))
    return result


class Twin:
    """A twin that remembers nothing."""

    def __init__(self, segments: int) -> None:
        self.segments = segments

    def choose(self, free: list[bool], m: int) -> int | None:
        raise NotImplementedError

    def granted(self, start: int, m: int) -> None:
        pass

    def released(self, start: int, m: int) -> None:
        pass


class FirstFit(Twin):
    """R32: the lowest feasible start."""

    def choose(self, free, m):
        return min(feasible(free, m), default=None)


class LastFit(Twin):
    """Section 7: the highest feasible start."""

    def choose(self, free, m):
        return max(feasible(free, m), default=None)


class NearestBoundary(Twin):
    """R21: the start s that minimises min(s, N - m - s), smallest s on ties; R20 measures on start bits instead."""

    def __init__(self, segments, distance="window_edge", tie="low"):
        super().__init__(segments)
        self.distance, self.tie, self.turn, self.at_tie = distance, tie, "low", False

    def choose(self, free, m):
        starts = feasible(free, m)
        self.at_tie = False
        if not starts:
            return None
        i, j = starts[0], starts[-1]
        low = i
        high = self.segments - j - m if self.distance == "window_edge" else self.segments - 1 - j
        if low < high:
            return i
        if high < low:
            return j
        self.at_tie = i != j
        side = self.turn if self.tie == "alternate" else self.tie
        return i if side == "low" else j

    def granted(self, start, m):
        if self.at_tie:
            self.turn = "high" if self.turn == "low" else "low"
        self.at_tie = False


class NextFit(Twin):
    """Section 7: first fit resumed from the end of the last grant, then from the bottom."""

    def __init__(self, segments):
        super().__init__(segments)
        self.resume = 0

    def choose(self, free, m):
        starts = feasible(free, m)
        onward = [s for s in starts if s >= self.resume]
        return (onward or starts or [None])[0]

    def granted(self, start, m):
        self.resume = start + m


class BestFit(Twin):
    """Section 7: smallest sufficient free run, low end."""

    def __init__(self, segments, tie="low"):
        super().__init__(segments)
        self.tie = tie

    def choose(self, free, m):
        enough = [(size, first) for first, size in holes(free) if size >= m]
        if not enough:
            return None
        smallest = min(size for size, _ in enough)
        equal = [first for size, first in enough if size == smallest]
        return min(equal) if self.tie == "low" else max(equal)


class WorstFit(Twin):
    """Section 7: largest free run, low end."""

    def __init__(self, segments, tie="low"):
        super().__init__(segments)
        self.tie = tie

    def choose(self, free, m):
        largest = max((size for _, size in holes(free)), default=0)
        equal = [first for first, size in holes(free) if size == largest]
        if largest < m:
            return None
        return min(equal) if self.tie == "low" else max(equal)


class AlternateEnds(Twin):
    """Section 7: low and high by turns regardless of distance."""

    def __init__(self, segments):
        super().__init__(segments)
        self.grants = 0

    def choose(self, free, m):
        starts = feasible(free, m)
        return starts[0 if self.grants % 2 == 0 else -1] if starts else None

    def granted(self, start, m):
        self.grants += 1


class SizeSegregatedEnds(Twin):
    """Section 7: large from one side, small from the other."""

    def __init__(self, segments, threshold):
        super().__init__(segments)
        self.threshold = threshold

    def choose(self, free, m):
        starts = feasible(free, m)
        return starts[-1 if m >= self.threshold else 0] if starts else None


class Counter(Twin):
    """Section 7, field.md 1.2: no addresses; fits when the amount in use plus the request is within the capacity."""

    def __init__(self, segments):
        super().__init__(segments)
        self.used = 0

    def choose(self, free, m):
        return free.index(True) if self.used + m <= self.segments else None

    def granted(self, start, m):
        self.used += m

    def released(self, start, m):
        self.used -= m


class Buddy(Twin):
    """Section 7: power-of-two blocks; a set of free blocks for each size, split on a grant, joined on a release."""

    def __init__(self, segments):
        super().__init__(segments)
        self.free_blocks: dict[int, set[int]] = {2**k: set() for k in range(13)}
        start = 0
        for size in sorted(self.free_blocks, reverse=True):
            if start + size <= segments:
                self.free_blocks[size].add(start)
                start += size

    def choose(self, free, m):
        for size in sorted(self.free_blocks):
            if size >= m and self.free_blocks[size]:
                return min(self.free_blocks[size])
        return None

    def granted(self, start, m):
        size = min(s for s in self.free_blocks if s >= m and start in self.free_blocks[s])
        self.free_blocks[size].remove(start)
        while size > m:
            size //= 2
            self.free_blocks[size].add(start + size)

    def released(self, start, m):
        while start ^ m in self.free_blocks[m]:
            self.free_blocks[m].remove(start ^ m)
            start, m = min(start, start ^ m), 2 * m
        self.free_blocks[m].add(start)


class UnsortedFreeList(Twin):
    """field.md 1.2: first fit over a list of regions [first, last); one without free neighbours goes to the back."""

    def __init__(self, segments):
        super().__init__(segments)
        self.regions = [[0, segments]]

    def choose(self, free, m):
        return next((first for first, last in self.regions if last - first >= m), None)

    def granted(self, start, m):
        region = next(region for region in self.regions if region[0] == start)
        region[0] += m
        if region[0] == region[1]:
            self.regions.remove(region)

    def released(self, start, m):
        below = next((region for region in self.regions if region[1] == start), None)
        above = next((region for region in self.regions if region[0] == start + m), None)
        if below and above:
            below[1] = above[1]
            self.regions.remove(above)
        elif below:
            below[1] = start + m
        elif above:
            above[0] = start
        else:
            self.regions.append([start, start + m])


class SegregatedFit(Twin):
    """Section 7: lists of holes by size class, newest first; the lowest class all of whose holes suffice."""

    def __init__(self, segments, subclasses, own_class):
        super().__init__(segments)
        self.subclasses, self.own_class = subclasses, own_class
        self.newest_first = [(0, segments)]

    def bounds(self, size):
        """The smallest and the largest size of the class that holds a size."""
        if size < self.subclasses:
            return size, size
        power = 2 ** math.floor(math.log2(size))
        width = power // self.subclasses
        smallest = power + (size - power) // width * width
        return smallest, smallest + width - 1

    def choose(self, free, m):
        sure = [hole for hole in self.newest_first if self.bounds(hole[1])[0] >= m]
        if sure:
            lowest = min(self.bounds(size)[0] for _, size in sure)
            return next(first for first, size in sure if self.bounds(size)[0] == lowest)
        unsure = [hole for hole in self.newest_first if hole[1] >= m]
        return unsure[0][0] if unsure and self.own_class == "search" else None

    def granted(self, start, m):
        first, size = next(hole for hole in self.newest_first if hole[0] == start)
        self.newest_first.remove((first, size))
        if size > m:
            self.newest_first.insert(0, (start + m, size - m))

    def released(self, start, m):
        for first, size in list(self.newest_first):
            if first + size == start or start + m == first:
                self.newest_first.remove((first, size))
                start, m = min(start, first), m + size
        self.newest_first.insert(0, (start, m))


class RingBuffer(Twin):
    """field.md 1.4: a FIFO of grants with what each costs; the wrap's padding is paid by the one that wraps."""

    def __init__(self, segments, at_end="fits", when_empty="rewind"):
        super().__init__(segments)
        self.at_end, self.when_empty = at_end, when_empty
        self.tail, self.room = 0, segments
        self.fifo: list[dict] = []

    def plan(self, m):
        """Where the next grant would begin, and what it would cost."""
        end = self.tail + m
        wraps = end > self.segments or (end == self.segments and self.at_end == "wraps")
        return (0, m + self.segments - self.tail) if wraps else (self.tail, m)

    def choose(self, free, m):
        if not self.fifo and self.when_empty == "rewind":
            self.tail = 0
        start, cost = self.plan(m)
        return start if cost <= self.room else None

    def granted(self, start, m):
        start, cost = self.plan(m)
        self.fifo.append({"start": start, "length": m, "cost": cost, "done": False})
        self.room -= cost
        self.tail = (start + m) % self.segments

    def released(self, start, m):
        next(entry for entry in self.fifo if entry["start"] == start and not entry["done"])["done"] = True
        while self.fifo and self.fifo[0]["done"]:
            self.room += self.fifo.pop(0)["cost"]
