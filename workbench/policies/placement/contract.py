"""The contract of placement policies: tests that three lines in a test file join, for policies of this package or not.

    from workbench.policies.placement.contract import PlacementContract

    class TestMyFit(PlacementContract):
        policy = MyFit(shift=8)

The subclass names the policy that is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from workbench.policies.contract import SEED, Contract
from workbench.policies.placement.free_map import as_text
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.policies.scenes import ANSWER, KEPT, Request, Say, Scenes, Speaker, compiled, walk
from workbench.structures.bitmaps import all_free, mark_free, mark_taken, unpacked

Ranges = list[tuple[int, int]]


class PlacementContract(Contract):
    """Tests that every placement policy passes; a subclass names the policy."""

    policy: ClassVar[Placement]
    sizes = (2, 3, 16, 63, 64, 65, 127, 128, 129, 1824)
    steps = 300
    sizes_tried = (16, 65, 128)
    tried = 100

    def start_memory(self, policy: Placement, size: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run with so many segments."""
        return policy.start_memory(size, seed)

    def scenes(self, policy: Placement, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about random lengths; take most of what is granted, give something back after a refusal.

        An answer that is no free range is not taken, so the walk goes on.
        """
        free, live = all_free(size), list[Ranges]()
        for _ in range(steps):
            see = _asks(free, size, _length(policy, size, draw))
            answer = yield see
            if holds(policy, see, answer) and draw.random() < 0.9:
                live.append(_ranges(policy, see, answer))
                _mark(free, live[-1], mark_taken)
                yield "granted", _tells(free, size, answer, see.length)
            elif live:
                ranges = live.pop(int(draw.integers(len(live))))
                _mark(free, ranges, mark_free)
                yield "released", _tells(free, size, ranges[0][0], sum(length for _, length in ranges))

    def judge(self, request: Request) -> str:
        """Return a fault where the answer is no free range, or refuses what fits without saying that it may."""
        see, answer = request.see, request.answer
        if request.name != ANSWER:
            return ""
        if answer != REFUSED and not holds(self.policy, see, answer):
            return f"answered {answer} for {see}, but [{answer}, {answer + see.length}) is not free"
        if answer == REFUSED and self.policy.work_conserving() and fits(self.policy, see):
            return f"refused {see}, which fits; one that may do so overrides work_conserving"
        return ""

    def test_refuses_what_fits_if_it_says_that_it_may(self) -> None:
        refused = (a for a in self.requests() if a.name == ANSWER and a.answer == REFUSED)
        may = not self.policy.work_conserving()
        assert not may or any(fits(self.policy, a.see) for a in refused), "may refuse what fits, and never does"

    def test_an_empty_memory_serves_every_request(self) -> None:
        say = compiled(self.policy)
        waits = [(n, m) for n in self.sizes for m in self._admitted(n) if not self._served(say, n, m)]
        after = [(n, m, e) for n in (2, 3, 16) for m in self._admitted(n) for e in self._admitted(n)]
        waits += [(n, m) for n, m, earlier in after if not self._served(say, n, earlier, m)]
        serves = self.policy.serves_empty()
        assert bool(waits) != serves, f"serves_empty() is {serves}; an empty memory does not serve {waits[:5]}"

    def test_footprints_and_durations(self) -> None:
        for segments in self.sizes:
            lengths = np.arange(1, segments + 1)
            taken = np.asarray(self.policy.footprint(lengths, segments))
            lasting = np.asarray(self.policy.lasting(lengths))
            assert (taken >= lengths).all(), "a footprint is not smaller than the request"
            assert taken.tolist() == [int(self.policy.footprint(int(m), segments)) for m in lengths]
            assert lasting.tolist() == [int(self.policy.lasting(int(m))) for m in lengths]
            assert lasting.dtype.kind == "i", "durations are whole cycles"

    def _admitted(self, segments: int) -> list[int]:
        taken = {int(self.policy.footprint(m, segments)) for m in range(1, segments + 1)}
        return sorted(m for m in taken if m <= segments)

    def _served(self, say: Say, segments: int, *lengths: int) -> bool:
        """Return whether each of some lengths is granted in a memory that is empty again after the one before it."""
        speaker = Speaker(self.policy, self.policy.start_memory(segments, SEED), say)
        return all(each.answer != REFUSED for each in walk(speaker, _one_by_one(segments, lengths)))


def _one_by_one(segments: int, lengths: Iterable[int]) -> Scenes:
    free = all_free(segments)
    for length in lengths:
        start = yield _asks(free, segments, length)
        if start != REFUSED:
            mark_taken(free, start, length)
            yield "granted", _tells(free, segments, start, length)
            mark_free(free, start, length)
            yield "released", _tells(free, segments, start, length)


def _asks(free: np.ndarray, segments: int, length: int) -> PlacementView:
    return PlacementView(free, segments, length, *KEPT)


def _tells(free: np.ndarray, segments: int, start: int, length: int) -> PlacementNotice:
    return PlacementNotice(free, segments, start, length, *KEPT)


def holds(policy: Placement, see: PlacementView, start: int) -> bool:
    """Return whether an answer is a grant that the policy's layout allows."""
    bits, end = unpacked(see.free, see.segments), start + see.length
    if policy.layout == "scattered":
        return 0 <= start < see.segments and bool(bits.sum() >= see.length)
    return start >= 0 and end <= see.segments and bool(bits[start:end].all())


def fits(policy: Placement, see: PlacementView) -> bool:
    """Return whether some grant is possible."""
    if policy.layout == "scattered":
        return bool(unpacked(see.free, see.segments).sum() >= see.length)
    return "1" * see.length in as_text(see.free, see.segments)


def _length(policy: Placement, segments: int, draw: np.random.Generator) -> int:
    """Draw a length, small ones often, up to the whole memory; never one that the policy rounds above it."""
    most = int(draw.choice([max(segments // 16, 1), max(segments // 4, 1), segments]))
    length = int(policy.footprint(int(draw.integers(1, most + 1)), segments))
    return length if length <= segments else int(policy.footprint(1, segments))


def _ranges(policy: Placement, see: PlacementView, start: int) -> Ranges:
    if policy.layout != "scattered":
        return [(start, see.length)]
    return [(int(k), 1) for k in np.flatnonzero(unpacked(see.free, see.segments))[: see.length]]


def _mark(free: np.ndarray, ranges: Ranges, mark: Callable[[np.ndarray, int, int], object]) -> None:
    for start, length in ranges:
        mark(free, start, length)
