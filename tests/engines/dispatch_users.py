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

    def answer(free: Any, segments: int, length: int, params: Any, memory: Any) -> int:
        best, middle = -1, (segments - length) // 2
        for start in range(segments - length + 1):
            if is_free(free, start, length) and (best < 0 or abs(start - middle) < abs(best - middle)):
                best = start
        return best


class OneShort(Probe):
    """Report one block less than the longest run."""

    def answer(free: Any, blocks: int, params: Any) -> int:
        longest = run = 0
        for block in range(blocks):
            run = run + 1 if is_free(free, block, 1) else 0
            longest = max(longest, run)
        return max(longest - 1, 0)

    def exact(self, blocks: int) -> bool:
        return False


class EverySeventh(Priority):
    """The order turns round every seven cycles, and long waits count; nobody is told how long an order holds."""

    def answer(cycle: Any, priority: int, levels: int, waited: int, params: Any) -> int:
        turned = levels + 1 - priority if (cycle // 7) % 2 else priority
        return turned - waited // 20


class OddOnesOut(Selection):
    """Take the last group that fits, but nobody while the most urgent rank is odd and someone of it does not fit."""

    def answer(  # type: ignore[no-untyped-def]
        cycle, count, channel, priority, rank, fits, waited, waves, params, memory
    ) -> int:
        best, last = rank[0], -1
        for k in range(count):
            best = min(best, rank[k])
            last = k if fits[k] else last
        for k in range(count):
            if rank[k] == best and best % 2 and not fits[k]:
                return -1
        memory[0] += 1
        return last

    def work_conserving(self) -> bool:
        return False


class Thirds(Stuck):
    """Split into three what has at least three waves."""

    def answer(waves: Any, independent: int, priority: int, levels: int, params: Any) -> int:
        return 3 if independent and waves >= 3 else 0

    def patience(self) -> int:
        return 2

    def look_ahead(self) -> int:
        return 1

    def divides_shared(self) -> bool:
        return True


class FromTheTop(Units):
    """Give each wave to the unit with the fewest, the highest one at a tie; the pointer counts groups."""

    def answer(waves: Any, units: Any, pointer: Any, taken: Any, counts: Any, params: Any) -> int:
        for t in range(units):
            counts[t] = 0
        for _ in range(waves):
            best = units - 1
            for t in range(units - 1, -1, -1):
                if counts[t] + taken[t] < counts[best] + taken[best]:
                    best = t
            counts[best] += 1
        return pointer + 1


class LongestUnused(Choice):
    """Take the module that took a group least lately, the more urgently the less it has free."""

    weight: float = lever(0.5, least=0, most=10, description="how much what is free counts")

    def answer(  # type: ignore[no-untyped-def]
        cycle, count, modules, demand, free, longest, totals, recent, heat, scores, params, memory
    ) -> None:
        for k in range(count):
            module = modules[k]
            scores[k] = -memory[1 + module] - params[0] * free[module * totals.size] / totals[0]

    def chosen(module: int, modules: int, params: Any, memory: Any) -> None:
        memory[0] += 1
        memory[1 + module] = memory[0]

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        return np.zeros(modules + 1, np.int64)


class BusyLately(Choice):
    """Take the module that did most lately; as no window is asked for, of that nothing is told."""

    def answer(  # type: ignore[no-untyped-def]
        cycle, count, modules, demand, free, longest, totals, recent, heat, scores, params, memory
    ) -> None:
        for k in range(count):
            scores[k] = 0.0
            for s in range(6):
                scores[k] += recent[modules[k] * 6 + s]


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
