"""The contract of probes: tests that three lines in a test file join, for probes of this package or not.

    from workbench.policies.probes.contract import ProbeContract

    class TestMyProbe(ProbeContract):
        policy = MyProbe(width=8)

The subclass names the policy that is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.policies.contract import Contract
from workbench.policies.placement.free_map import as_text, bits_text
from workbench.policies.probes.question import Probe, ProbeView
from workbench.policies.scenes import Request, Scenes
from workbench.streams import Streams
from workbench.structures.bitmaps import packed, unpacked


class ProbeContract(Contract):
    """Tests that every probe passes; a subclass names the probe."""

    policy: ClassVar[Probe]
    sizes = (2, 3, 16, 63, 64, 65, 127, 128, 129, 1824)
    """Resources that are asked about, in blocks; those that the probe cannot be built for are passed over."""
    steps = 60
    sizes_tried = (16, 64, 65, 128)

    def scenes(self, policy: Probe, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about states of every kind."""
        if admits(policy, size):
            for free in states(size, steps):
                yield asks(free, size)

    def judge(self, request: Request) -> str:
        """Return a fault where more is reported than there is, or less, without saying that it may be."""
        report, blocks, run = request.answer, request.see.blocks, longest(request.see.free, request.see.blocks)
        if not 0 <= report <= blocks or (report > run and self.policy.never_more()):
            return f"reported {report} for {request.see}, whose longest run is {run}"
        if report < run and self.policy.exact(blocks):
            return (
                f"reported {report} for {request.see}, whose longest run is {run}; one that may do so overrides exact"
            )
        return ""

    def test_can_be_built_for_some_of_the_sizes(self) -> None:
        assert self._sizes(), f"{self.policy.short()} refuses all of {self.sizes}"

    def test_errs_where_it_says_so(self) -> None:
        errors = [(a.see.blocks, a.answer - longest(a.see.free, a.see.blocks)) for a in self.requests()]
        assert self.policy.never_more() or any(error > 0 for _, error in errors), "may report more, and never does"
        for blocks in self._sizes():
            less = any(error < 0 for n, error in errors if n == blocks)
            assert less or self.policy.exact(blocks), f"may report less of {blocks} blocks, and never does"

    def test_longest_takes_strings_and_arrays(self) -> None:
        for blocks in self._sizes():
            for free in states(blocks, 6):
                bits = unpacked(free, blocks) != self._inverted()
                text = bits_text(bits)
                report = self.policy.ask(free, blocks)
                assert self.policy.longest(text) == self.policy.longest(bits) == report, text

    def test_gates_compute_the_report(self) -> None:
        for blocks in (n for n in self._sizes() if n <= 129):
            gates, maps = self.policy.gate_list(blocks), list(states(blocks, 20))
            if gates is None:
                return
            bits = np.array([unpacked(free, blocks) != self._inverted() for free in maps]).T
            reports = [self.policy.ask(free, blocks) for free in maps]
            assert gates.reports(bits).tolist() == reports, f"the gates for {blocks} blocks report otherwise"

    def test_costs_are_counts_and_cycles_are_those_of_a_round(self) -> None:
        if self.policy.gate_list(self._sizes()[0]) is None:
            return
        for blocks in (n for n in self._sizes() if n <= 129):
            cost = self.policy.cost(blocks)
            assert all(isinstance(figure, int) and figure >= 0 for figure in cost), cost
            assert cost.period > 0, cost
            assert cost.cycles == self.policy.round_cycles([blocks]), f"{cost.cycles} cycles for {blocks} blocks"

    def _inverted(self) -> bool:
        return getattr(self.policy, "encoding", "free1") == "free0"

    def _sizes(self) -> list[int]:
        return [size for size in self.sizes if admits(self.policy, size)]


def asks(free: np.ndarray, blocks: int) -> ProbeView:
    """Return the view of a state."""
    levers: Any = None
    return ProbeView(free, blocks, levers)


def admits(probe: Probe, blocks: int) -> bool:
    """Return whether the probe can be built for so many blocks."""
    try:
        probe.check_blocks(blocks)
    except InputError:
        return False
    return True


def states(blocks: int, count: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Yield free maps: none and all free, a single free or occupied block, single blocks and whole ranges at random."""
    draw = Streams(seed)["states"]
    one = np.arange(blocks) == int(draw.integers(blocks))
    yield from (packed(bits) for bits in (one & ~one, one | ~one, one, ~one))
    for k in range(count):
        bits = draw.random(blocks) < (0.125, 0.5, 0.875)[k % 3]
        for _ in range(k % 5):
            start = int(draw.integers(blocks))
            bits[start : start + int(draw.integers(1, blocks + 1))] = draw.random() < 0.7
        yield packed(bits)


def longest(free: np.ndarray, blocks: int) -> int:
    """Return the longest run of free blocks, as the longest piece of the text between occupied blocks."""
    return max(len(piece) for piece in as_text(free, blocks).split("0"))
