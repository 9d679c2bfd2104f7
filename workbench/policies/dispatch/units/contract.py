"""What every policy for units owes, as tests to join, for policies of this package or not.

from workbench.policies.dispatch.units.contract import UnitsContract

class TestMySplit(UnitsContract):
    policy = MySplit()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.compiled import RAISED
from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.view import UnitsView
from workbench.policies.dispatch.units.walk import Asked, compiled, digest, plain, walk
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["UnitsContract"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.dispatch.units.walk import digest, plain
print(digest(policy, plain(policy)))
"""


class UnitsContract(ValueContract):
    """Tests that every policy for units passes; a subclass names the policy."""

    policy: ClassVar[Units]
    sizes: ClassVar[tuple[int, ...]] = (1, 2, 4, 7, 64)
    """Units of the modules that are walked through."""
    steps: ClassVar[int] = 80
    """Questions in each walk."""
    evenly: ClassVar[bool] = True
    """Whether the units' shares of a single group differ by at most one wave."""

    def test_shares_out_every_wave(self) -> None:
        for asked in self._walks():
            assert asked.after != RAISED, f"raised when asked {asked}"
            assert sum(asked.counts) == asked.waves, asked
            assert min(asked.counts) >= 0, asked

    def test_evenly_or_not(self) -> None:
        uneven = [asked for asked in self._walks() if max(asked.counts) - min(asked.counts) > 1]
        assert bool(uneven) != self.evenly, f"evenly is {self.evenly}, {len(uneven)} groups are not: {uneven[:1]}"

    def test_answers_the_same_whenever_asked_the_same(self) -> None:
        ask = compiled(self.policy)
        for asked in self._walks():
            counts = np.full(asked.units, 99, np.int64)
            after = ask(asked.waves, asked.units, asked.pointer, np.array(asked.taken), counts)
            assert (tuple(counts.tolist()), after) == (asked.counts, asked.after), asked

    def test_the_pointer_alone_counts_where_it_says_so(self) -> None:
        for asked in self._walks():
            counts = self.policy.split(asked.waves, asked.units, asked.pointer)[0]
            assert not self.policy.by_pointer() or tuple(counts) == asked.counts, asked

    def test_compiled_and_plain_answers_agree(self) -> None:
        for units in self.sizes:
            mine = walk(self.policy, compiled(self.policy), units, self.steps)
            for one, other in zip(mine, walk(self.policy, plain(self.policy), units, self.steps), strict=True):
                assert one == other, f"compiled {one}, plain {other}"

    def test_stays_within_its_arrays(self) -> None:
        for units in (1, 3, 8):
            for asked in walk(self.policy, compiled(self.policy, checked=True), units, self.steps):
                assert asked.after != RAISED, asked

    def test_leaves_its_inputs_alone(self) -> None:
        params = self.policy.parameters()
        for asked in self._walks():
            taken, given = np.array(asked.taken), params.copy()
            counts = np.zeros(asked.units, np.int64)
            self.policy.plain_answer()(UnitsView(asked.waves, asked.units, asked.pointer, taken, counts, given))
            assert tuple(taken.tolist()) == asked.taken, "wrote to the units' loads"
            assert given.tolist() == params.tolist(), "wrote to its parameters"

    def test_first_pointers_follow_from_the_seed(self) -> None:
        first = [[self.policy.first_pointer(module, seed) for module in range(8)] for seed in (1, 1, 2)]
        assert first[0] == first[1], "the same seed gives the same pointers"
        assert (first[0] != first[2]) == self.policy.draws, f"draws is {self.policy.draws}"

    def test_no_waves_change_nothing(self) -> None:
        assert self.policy.split(waves=0, units=4, at=3) == ([0, 0, 0, 0], 3)

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        told = told_by_a_fresh_interpreted_process(self.policy, _FRESH)
        assert told == digest(self.policy, compiled(self.policy))

    def _walks(self) -> Iterator[Asked]:
        ask = compiled(self.policy)
        for units in self.sizes:
            yield from walk(self.policy, ask, units, self.steps)
