"""How long is the longest run of free blocks? (spec 3, Em. 4-7)

An answer takes a `ProbeView`. An exact probe returns the longest run; one that saves hardware may return less and never
more: a group that is matched against a report must find what the report promised. A probe remembers nothing: what a
shared probe reports late is the schedule's matter (`SharedRun`), not the answer's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, number, readable, view
from workbench.errors import InputError
from workbench.policies.arguments import whole
from workbench.policies.placement.free_map import MOST_SEGMENTS, Bits, Encoding, as_text, as_words
from workbench.policies.policy import Policy
from workbench.policies.probes.gate_list import GateList, ProbeCost


@view
class ProbeView(NamedTuple):
    """One resource of one unit."""

    free: np.ndarray = readable("uint64", "words", "its free map (see `free_map`), 1 = free")
    blocks: int = number("how many blocks the resource has")
    levers: Any = PARAMS

    def __str__(self) -> str:
        """Return the question in words."""
        return f"the state {as_text(self.free, self.blocks)}"


PROBE = Question(
    "probe",
    ProbeView,
    answers="a number of blocks, from 0 to `blocks`: the longest run that is reported",
    wrong="reported {answer} free blocks in a row, which no map of that size can have",
)


class ReadyProbe(NamedTuple):
    """A probe as engines receive it; the type is the same for every probe."""

    answer: Answer
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
    """The base of every probe; a new one needs an `answer`, and says so where it is not exact."""

    question: ClassVar[str] = "probe"
    asks: ClassVar[Question] = PROBE

    def longest(self, free: Bits) -> int:
        """Return the report of this probe on a state, in blocks.

        Parameters
        ----------
        free : str or array of bool
            The free map, block 0 first; `1` is a free block. Of a probe whose lever `encoding` is `free0` it is an
            occupied one: the text is read as the wires of that circuit carry it, and the report is of the same memory.

        Raises
        ------
        InputError
            The free map cannot be read, or the probe cannot be built for so many blocks.

        Examples
        --------
        >>> from workbench.policies.probes import ExactRun
        >>> ExactRun().longest("0110_1110"), ExactRun().longest([True, True, False])
        (3, 2)
        """
        words, blocks = self._words(free)
        return self.ask(words, blocks)

    def ask(self, words: np.ndarray, blocks: int) -> int:
        """Ask the plain function once, in Python, over words: what to call when a step is to be followed."""
        with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
            return int(self.plain_answer()(ProbeView(words, blocks, self.parameters())))

    def check_blocks(self, blocks: int, path: str = "", where: str = "", resource: str = "") -> None:
        """Refuse a resource that this probe cannot be built for, naming the nearest valid value of the lever.

        Parameters
        ----------
        blocks : int
            Blocks of the resource.
        path, where, resource : str, optional
            The probe's path in the sweep, the sweep file, and the resource's name, for the sentence.
        """

    def check_each(self, blocks: Mapping[str, int], path: str = "", where: str = "") -> None:
        """Refuse resources of which this probe cannot be built for one, the blocks of each by the resource's name.

        A probe whose levers must go with all of them overrides this, to name a value that does.
        """
        for label, count in blocks.items():
            self.check_blocks(count, path, where, label)

    def round_cycles(self, blocks: Sequence[int] = ()) -> int:
        """Return the cycles from one report to the next, for resources of so many blocks that are probed side by side.

        1 for a combinational probe, 3 where a report takes three, more where it depends on the blocks.
        """
        return 1

    def schedule(self, blocks: Sequence[int]) -> Schedule | None:
        """Return the rounds in which each resource of a unit is looked at; None = all of them in every round."""
        return None

    def serving(self, blocks: Sequence[int]) -> tuple[Probe, ...]:
        """Return the probe that reports each resource of a unit: this one, unless it gives way to another (spec 3,
        R55)."""
        return (self,) * len(blocks)

    def of_module(self) -> Probe:
        """Return the probe of a module's own resource, which no unit's probe serves: this one, unless it gives way."""
        return self

    def never_more(self) -> bool:
        """Return whether a report never exceeds the longest run; every probe of this package keeps to it."""
        return True

    def exact(self, blocks: int) -> bool:
        """Return whether every report of a resource is its longest run; one that may report less says so here."""
        return True

    def gate_list(self, blocks: int) -> GateList | None:
        """Return the probe of one resource as gates that can be counted and evaluated; None where there is no model."""
        return None

    def cost(self, blocks: int) -> ProbeCost:
        """Count the hardware of the probe of one resource: gates, registers, gate levels, cycles, counted on its gates.

        Raises
        ------
        InputError
            The probe has no hardware model, or there is no resource of so many blocks that it can be built for.

        Examples
        --------
        >>> from workbench.policies.probes import ExactRun
        >>> cost = ExactRun(chain="doubling", decode="scan").cost(128)
        >>> cost.and_gates, cost.or_gates, cost.registers, cost.cycles
        (8128, 8128, 0, 1)
        """
        blocks = whole("blocks", blocks, 1, MOST_SEGMENTS)
        self.check_blocks(blocks)
        return _counted(self, blocks)

    def ready(self, checked: bool = False) -> ReadyProbe:
        """Return the probe for a run: its compiled function and its parameters."""
        return ReadyProbe(self.ready_answer(checked), self.parameters())

    def _words(self, free: Bits) -> tuple[np.ndarray, int]:
        encoding: Encoding = getattr(self, "encoding", "free1")
        words, blocks = as_words(free, encoding, 1)
        self.check_blocks(blocks)
        return words, blocks


@lru_cache(maxsize=256)
def _counted(probe: Probe, blocks: int) -> ProbeCost:
    gate_list = probe.gate_list(blocks)
    if gate_list is None:
        raise InputError(f"{probe.name} has no hardware model; one that is to be costed defines gate_list.")
    return gate_list.cost()
