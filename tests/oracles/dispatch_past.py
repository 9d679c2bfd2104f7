"""What each module executed, cycle by cycle, in units of 2^-20 instructions."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

CLASSES = 6
ONE = 2**20


def rates(instructions: list[int], waves: int, of_waves: int, duration: int) -> list[int]:
    """Instructions of each class in a cycle of a life: a part's share, be it no whole number, to the nearest 2^-20."""
    return [floor(Fraction(count * waves * ONE, of_waves * duration) + Fraction(1, 2)) for count in instructions]


@dataclass
class Past:
    """One module's past: all its cycles, and counters that are halved now and then."""

    cycles: list[list[int]] = field(default_factory=list)
    halved: dict[int, list[int]] = field(default_factory=dict)

    def executed(self, cycle: int, running: list[list[int]]) -> None:
        """The instructions of one cycle; counters of a period are halved in its multiples before they are added."""
        now = [sum(rate[s] for rate in running) for s in range(CLASSES)]
        self.cycles.append(now)
        for period, counters in self.halved.items():
            before = [c // 2 for c in counters] if cycle % period == 0 else counters
            self.halved[period] = [c + n for c, n in zip(before, now, strict=True)]

    def recent(self, history_cycles: int, halving_cycles: int) -> list[float]:
        """Instructions of each class in the last so many cycles, or the counters of the period."""
        if halving_cycles:
            return [c / ONE for c in self.halved.get(halving_cycles, [0] * CLASSES)]
        window = self.cycles[-history_cycles:] if history_cycles else []
        return [sum(cycle[s] for cycle in window) / ONE for s in range(CLASSES)]


@dataclass
class Warmth:
    """How warm the modules are: what a model of heat makes of each step, in plain numbers."""

    step_cycles: int
    keeps: list[list[float]]
    gains: list[list[float]]
    joules: list[float]
    """Of an instruction of each class."""
    idle_watts: float
    seconds: float
    """Of a step."""
    heat: list[float] = field(default_factory=list)

    def step(self, pasts: list[Past]) -> None:
        """A step has ended: the heat follows the mean power of its cycles."""
        every = range(len(pasts))
        watts = [self.watts(past) for past in pasts]
        before = self.heat
        self.heat = [sum(self.keeps[m][k] * before[k] + self.gains[m][k] * watts[k] for k in every) for m in every]

    def watts(self, past: Past) -> float:
        issued = [sum(cycle[s] for cycle in past.cycles[-self.step_cycles :]) for s in range(CLASSES)]
        joules = sum(count / ONE * each for count, each in zip(issued, self.joules, strict=True))
        return joules / self.seconds + self.idle_watts
