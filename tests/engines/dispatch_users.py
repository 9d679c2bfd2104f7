"""Policies as a user would write them in a notebook: one a question, each of another kind than the registered ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.choice import Choice
from workbench.policies.dispatch.priority import Priority
from workbench.policies.dispatch.selection import Selection
from workbench.policies.dispatch.stuck import Stuck
from workbench.policies.dispatch.units import Units
from workbench.policies.placement import Placement
from workbench.policies.probes import Probe
from workbench.structures.bitmaps import is_free


class MiddleFirst(Placement):
    """Take the feasible start nearest to the middle; the lower one wins a tie."""

    def answer(see: Any) -> int:
        best, middle = -1, (see.segments - see.length) // 2
        for start in range(see.segments - see.length + 1):
            if is_free(see.free, start, see.length) and (best < 0 or abs(start - middle) < abs(best - middle)):
                best = start
        return best


class OneShort(Probe):
    """Report one block less than the longest run."""

    def answer(see: Any) -> int:
        longest = run = 0
        for block in range(see.blocks):
            run = run + 1 if is_free(see.free, block, 1) else 0
            longest = max(longest, run)
        return max(longest - 1, 0)

    def exact(self, blocks: int) -> bool:
        return False


class EverySeventh(Priority):
    """The order turns round every seven cycles, and long waits count; nobody is told how long an order holds."""

    def answer(see: Any) -> int:
        turned = see.levels + 1 - see.priority if (see.cycle // 7) % 2 else see.priority
        return turned - see.waited // 20


class OddOnesOut(Selection):
    """Take the last group that fits, but nobody while the most urgent rank is odd and someone of it does not fit."""

    def answer(see: Any) -> int:
        best, last = see.rank[0], -1
        for k in range(see.count):
            best = min(best, see.rank[k])
            last = k if see.fits[k] else last
        for k in range(see.count):
            if see.rank[k] == best and best % 2 and not see.fits[k]:
                return -1
        see.memory[0] += 1
        return last

    def work_conserving(self) -> bool:
        return False


class Thirds(Stuck):
    """Split into three what has at least three waves."""

    def answer(see: Any) -> int:
        return 3 if see.independent and see.waves >= 3 else 0

    def patience(self) -> int:
        return 2

    def look_ahead(self) -> int:
        return 1

    def divides_shared(self) -> bool:
        return True


class FromTheTop(Units):
    """Give each wave to the unit with the fewest, the highest one at a tie; the pointer counts groups."""

    def answer(see: Any) -> int:
        for t in range(see.units):
            see.counts[t] = 0
        for _ in range(see.waves):
            best = see.units - 1
            for t in range(see.units - 1, -1, -1):
                if see.counts[t] + see.taken[t] < see.counts[best] + see.taken[best]:
                    best = t
            see.counts[best] += 1
        return see.pointer + 1


class LongestUnused(Choice):
    """Take the module that took a group least lately, the more urgently the less it has free."""

    weight: float = lever(0.5, least=0, most=10, description="how much what is free counts")

    def answer(see: Any) -> None:
        for k in range(see.count):
            module = see.modules[k]
            see.scores[k] = -see.memory[1 + module] - see.levers[0] * see.free[module * see.totals.size] / see.totals[0]

    def chosen(see: Any) -> None:
        see.memory[0] += 1
        see.memory[1 + see.module] = see.memory[0]

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        return np.zeros(modules + 1, np.int64)


class BusyLately(Choice):
    """Take the module that did most lately; as no window is asked for, of that nothing is told."""

    def answer(see: Any) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
            for s in range(6):
                see.scores[k] += see.recent[see.modules[k] * 6 + s]


USERS: dict[str, Any] = {
    "probe": OneShort(),
    "placement": MiddleFirst(),
    "shared_placement": MiddleFirst(),
    "priority": EverySeventh(),
    "selection": OddOnesOut(),
    "stuck": Thirds(),
    "units": FromTheTop(),
    "choice": LongestUnused(),
}
