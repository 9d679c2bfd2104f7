"""What every probe owes, as tests to join: five lines in a test file, for probes of this package or not.

from workbench.policies.probes.contract import ProbeContract

class TestMyProbe(ProbeContract):
    probe = MyProbe(width=8)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.policies.placement.free_map_text import as_text, bits_text
from workbench.policies.probes.asking import admitted, compiled, digest, longest, plain, states
from workbench.policies.probes.checking import check
from workbench.policies.probes.question import Probe
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process
from workbench.structures.free_map import unpacked

__all__ = ["ProbeContract", "check"]

_FRESH = """
import pickle, sys
probe = pickle.load(sys.stdin.buffer)
from workbench.policies.probes.asking import digest, plain
print(digest(probe, plain))
"""


class ProbeContract(ValueContract):
    """Tests that every probe passes; a subclass names the probe."""

    probe: ClassVar[Probe]
    policy = property(lambda self: self.probe)
    sizes: ClassVar[tuple[int, ...]] = (2, 3, 16, 63, 64, 65, 127, 128, 129, 1824)
    """Resources that are asked about, in blocks; those that the probe cannot be built for are passed over."""
    count: ClassVar[int] = 60
    """States of each."""

    def test_can_be_built_for_some_of_the_sizes(self) -> None:
        assert self._sizes(), f"{self.probe.short()} refuses all of {self.sizes}"

    def test_never_reports_more_than_there_is(self) -> None:
        reports = list(self._reports())
        over = [(n, free) for n, free, report in reports if report > longest(free, n)]
        if self.probe.never_more():
            assert not over, f"reported more than there is in {as_text(over[0][1], over[0][0])}"
        else:
            assert over, "says that it may report more, and never does"
        assert all(0 <= report <= n for n, _, report in reports)

    def test_is_exact_or_says_so(self) -> None:
        short = [(n, free) for n, free, report in self._reports() if report < longest(free, n)]
        for blocks in self._sizes():
            less = [free for n, free in short if n == blocks]
            if self.probe.exact(blocks):
                assert not less, f"reported less than there is in {as_text(less[0], blocks)}"
            else:
                assert less, f"says that it may report less of {blocks} blocks, and never does"

    def test_compiled_and_plain_answers_agree(self) -> None:
        slow = plain(self.probe)
        for blocks, free, report in self._reports():
            again = slow(free, blocks)
            assert again == report, f"{again} plain, {report} compiled, in {as_text(free, blocks)}"

    def test_stays_within_its_arrays(self) -> None:
        check(self.probe)

    def test_leaves_its_inputs_alone(self) -> None:
        ask, params = plain(self.probe), self.probe.parameters()
        for blocks, free in self._states():
            before = free.copy()
            assert ask(free, blocks) == ask(before.copy(), blocks), "reports differ on the same state"
            assert before.tolist() == free.tolist(), f"wrote to the free map {as_text(before, blocks)}"
        assert params.tolist() == self.probe.parameters().tolist(), "wrote to its parameters"

    def test_longest_takes_strings_and_arrays(self) -> None:
        inverted = getattr(self.probe, "encoding", "free1") == "free0"
        for blocks in self._sizes():
            for free in states(blocks, 6):
                bits = unpacked(free, blocks) != inverted
                text = bits_text(bits)
                report = self.probe.ask(free, blocks)
                assert self.probe.longest(text) == self.probe.longest(bits) == report, text

    def test_gates_compute_the_report(self) -> None:
        inverted = getattr(self.probe, "encoding", "free1") == "free0"
        for blocks in (n for n in self._sizes() if n <= 129):
            gates, maps = self.probe.gate_list(blocks), list(states(blocks, 20))
            if gates is None:
                return
            bits = np.array([unpacked(free, blocks) != inverted for free in maps]).T
            reports = [self.probe.ask(free, blocks) for free in maps]
            assert gates.reports(bits).tolist() == reports, f"the gates for {blocks} blocks report otherwise"

    def test_costs_are_counts_and_cycles_are_those_of_a_round(self) -> None:
        if self.probe.gate_list(self._sizes()[0]) is None:
            return
        for blocks in self._sizes():
            cost = self.probe.cost(blocks)
            assert all(isinstance(figure, int) and figure >= 0 for figure in cost), cost
            assert cost.period > 0, cost
            assert cost.cycles == self.probe.round_cycles([blocks]), f"{cost.cycles} cycles for {blocks} blocks"

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        told = told_by_a_fresh_interpreted_process(self.probe, _FRESH)
        assert told == digest(self.probe, compiled)

    def _sizes(self) -> list[int]:
        return admitted(self.probe, self.sizes)

    def _states(self) -> Iterator[tuple[int, np.ndarray]]:
        return ((blocks, free) for blocks in self._sizes() for free in states(blocks, self.count))

    def _reports(self) -> Iterator[tuple[int, np.ndarray, int]]:
        ask = compiled(self.probe)
        return ((blocks, free, ask(free, blocks)) for blocks, free in self._states())
