"""The dispatcher of `dispatch_full` as a SimPy model: a dispatcher, and one process a running group.

Free maps are whole numbers of Python, reports are kept until a map changes, and a round that failed is tried again when
something was released: what somebody who cares about speed would write with SimPy.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Generator
from typing import Any

import simpy

Process = Generator[simpy.Event, None, None]
WINDOWS = (8, 4, 2, 1)
SLOTS, GROUPS_A_MODULE = 10, 16


def longest_run(free: int) -> int:
    """By doubling: runs of 1, 2, 4, ... blocks, then back down to the longest."""
    doubled, length = [], 1
    while free:
        doubled.append((length, free))
        free &= free >> length
        length *= 2
    longest, starts = 0, -1
    for length, free in reversed(doubled):
        if starts & (free >> longest):
            starts &= free >> longest
            longest += length
    return longest


def nearest_boundary(free: int, blocks: int, length: int) -> int:
    """The feasible start nearest to either end, the low one at a tie."""
    done, starts = 1, free
    while done < length:
        step = min(done, length - done)
        starts &= starts >> step
        done += step
    low, high = (starts & -starts).bit_length() - 1, starts.bit_length() - 1
    return low if low <= blocks - high - length else high


class Map:
    """The free blocks of one contiguous resource."""

    def __init__(self, blocks: int) -> None:
        self.blocks, self.free, self.longest = blocks, (1 << blocks) - 1, blocks

    def take(self, length: int) -> int:
        taken = ((1 << length) - 1) << nearest_boundary(self.free, self.blocks, length)
        self.free ^= taken
        self.longest = longest_run(self.free)
        return taken

    def give(self, taken: int) -> None:
        self.free |= taken
        self.longest = longest_run(self.free)


class Module:
    """Four units, a memory, what was executed lately."""

    def __init__(self, units: int, vgpr: int, sgpr: int, shared: int) -> None:
        self.vgpr, self.sgpr = [Map(vgpr) for _ in range(units)], [Map(sgpr) for _ in range(units)]
        self.shared, self.slots, self.groups, self.pointer = Map(shared), [SLOTS] * units, GROUPS_A_MODULE, 0
        self.lives: list[tuple[int, int, float]] = []
        self.free = [units * vgpr, units * sgpr, units * SLOTS, shared, GROUPS_A_MODULE]

    def counts(self, waves: int) -> list[int]:
        """The balanced split, rotated by the tail pointer (spec 3, R60-R63)."""
        units = len(self.slots)
        each, over, first = waves // units, waves % units, (self.pointer + 1) % units
        return [each + ((unit - first) % units < over) for unit in range(units)]

    def fits(self, group: Any) -> bool:
        if self.groups == 0 or self.shared.longest < group.shared:
            return False
        for unit, waves in enumerate(self.counts(group.waves)):
            if self.slots[unit] < waves or self.vgpr[unit].longest < waves * group.vgpr:
                return False
            if self.sgpr[unit].longest < waves * group.sgpr:
                return False
        return True

    def energy(self, now: int, nx: int) -> float:
        """Weighted instructions of the last nx cycles."""
        self.lives = [life for life in self.lives if life[1] > now - nx]
        return sum(rate * max(0, min(end, now) - max(begin, now - nx)) for begin, end, rate in self.lives)


class Dispatcher:
    """Rounds over the heads of the channels until all channels are empty."""

    def __init__(self, modules: list[Module], channels: list[deque[Any]], nx: int, seed: int) -> None:
        self.env = simpy.Environment()
        self.released = self.env.event()
        self.modules, self.channels, self.nx, self.random = modules, channels, nx, random.Random(seed)
        self.marks: set[tuple[int, int]] = set()
        self.dispatched = 0
        self.last_end = 0

    def run(self) -> None:
        self.env.process(self.rounds())
        self.env.run()

    def rounds(self) -> Process:
        while any(self.channels):
            matched = []
            for channel, queue in enumerate(self.channels):
                fitting = [module for module in self.modules if module.fits(queue[0])] if queue else []
                if fitting:
                    matched.append((channel, queue[0], fitting))
            if not matched:
                yield self.released
                continue
            channel, group, fitting = self.target(matched)
            self.channels[channel].popleft()
            self.env.process(self.life(group, self.module(fitting)))
            self.dispatched += 1
            yield self.env.timeout(1)

    def target(self, matched: list[tuple[int, Any, list[Module]]]) -> tuple[int, Any, list[Module]]:
        """The most urgent priority of the window, taking turns by marks (spec 3, R10, R18)."""
        at, top = self.env.now % sum(WINDOWS), 0
        while at >= WINDOWS[top]:
            at -= WINDOWS[top]
            top += 1
        best = min(matched, key=lambda m: (m[1].priority != top + 1, m[1].priority))[1].priority
        equal = [m for m in matched if m[1].priority == best]
        if len(equal) == 1:
            return equal[0]
        fresh = [m for m in equal if (m[0], best) not in self.marks]
        taken = self.random.choice(fresh or equal)
        if not fresh:
            self.marks -= {(m[0], best) for m in equal}
        self.marks.add((taken[0], best))
        return taken

    def module(self, fitting: list[Module]) -> Module:
        """Most residual and least recent energy, each normalised over the candidates, half and half (spec 3, E20)."""
        residual = [float(sum(module.free)) for module in fitting]
        energy = [-module.energy(self.env.now, self.nx) for module in fitting]
        sums = [0.5 * r + 0.5 * e for r, e in zip(_normalised(residual), _normalised(energy), strict=True)]
        return fitting[sums.index(max(sums))]

    def life(self, group: Any, module: Module) -> Process:
        """A group's: take everything, run, give everything back."""
        counts, units = module.counts(group.waves), range(len(module.slots))
        module.pointer = (module.pointer + group.waves) % len(counts)
        vgpr = [module.vgpr[u].take(counts[u] * group.vgpr) if counts[u] * group.vgpr else 0 for u in units]
        sgpr = [module.sgpr[u].take(counts[u] * group.sgpr) if counts[u] * group.sgpr else 0 for u in units]
        shared = module.shared.take(group.shared) if group.shared else 0
        amounts = [group.waves * group.vgpr, group.waves * group.sgpr, group.waves, group.shared, 1]
        module.slots = [s - c for s, c in zip(module.slots, counts, strict=True)]
        module.groups -= 1
        module.free = [f - a for f, a in zip(module.free, amounts, strict=True)]
        module.lives.append((self.env.now, self.env.now + group.duration, group.energy / group.duration))
        yield self.env.timeout(group.duration)
        for u in units:
            module.vgpr[u].give(vgpr[u])
            module.sgpr[u].give(sgpr[u])
        module.shared.give(shared)
        module.slots = [s + c for s, c in zip(module.slots, counts, strict=True)]
        module.groups += 1
        module.free = [f + a for f, a in zip(module.free, amounts, strict=True)]
        self.last_end = self.env.now
        self.released.succeed()
        self.released = self.env.event()


def _normalised(scores: list[float]) -> list[float]:
    least, most = min(scores), max(scores)
    return [(score - least) / (most - least) if most > least else 0.0 for score in scores]
