"""How long is the longest run of free blocks? (spec 3, Em. 4-7)

An answer is a plain function `answer(free, blocks, params)`:

free    readonly uint64[words], the free map of one resource (`workbench.structures.free_map`), 1 = free
blocks  int64, how many blocks the resource has
params  readonly float64[levers], the probe's parameters

It returns a number of blocks from 0 to `blocks`. An exact probe returns the longest run; one that saves hardware may
return less and never more: a group that is matched against a report must find what the report promised.
A probe remembers nothing: what a shared probe reports late is the schedule's matter (`SharedRun`), not the answer's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Question
from workbench.policies.policy import Policy

PROBE = Question("probe", free="readonly uint64[]", blocks="int64", params="readonly float64[]")


class ReadyProbe(NamedTuple):
    """A probe as engines receive it; the type is the same for every probe."""

    answer: Any
    params: np.ndarray


class Schedule(NamedTuple):
    """When a probe that serves several resources in turn looks at each (spec 3, R51-R54)."""

    period: np.ndarray
    """int64[resources], the period of a round in which each resource is probed, from 0."""
    periods: int
    """Periods of a round."""
    cycles_a_period: int
    forget: bool
    """Whether a report counts as 0 from an allocation until the resource is probed again (spec 3, E18)."""


class Probe(Policy, abstract=True):
    """The base of every probe; a new one needs an `answer`."""

    question: ClassVar[str] = "probe"

    def check_blocks(self, blocks: int, path: str = "", where: str = "") -> None:
        """Refuse a resource that this probe cannot be built for, naming the nearest valid value of the lever."""

    def round_cycles(self) -> int:
        """Cycles from one report to the next: 1 for a combinational probe, 3 where a report takes three."""
        return 1

    def schedule(self, blocks: Sequence[int]) -> Schedule | None:
        """When each resource of a unit is looked at; None = all of them in every round."""
        return None

    def never_more(self) -> bool:
        """Whether a report never exceeds the longest run; every probe of this room keeps to it."""
        return True

    def ready(self, checked: bool = False) -> ReadyProbe:
        """The probe for a run: its compiled function and its parameters."""
        return ReadyProbe(PROBE.ready(self.function(), checked), self.parameters())
