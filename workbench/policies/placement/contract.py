"""What every placement policy owes, as tests to join: five lines in a test file, for policies of this package or not.

from workbench.policies.placement.contract import PlacementContract

class TestMyFit(PlacementContract):
    policy = MyFit(shift=8)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.policies.placement.checking import check
from workbench.policies.placement.question import REFUSED, Placement
from workbench.policies.placement.walk import (
    GRANTED,
    RELEASED,
    Asked,
    CompiledSpeaker,
    PlainSpeaker,
    digest,
    fits,
    holds,
    walk,
)
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process
from workbench.structures.free_map import all_free, mark_free, mark_taken

__all__ = ["PlacementContract", "check"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.placement.walk import PlainSpeaker, digest
print(digest(policy, PlainSpeaker))
"""


class PlacementContract(ValueContract):
    """Tests that every placement policy passes; a subclass names the policy."""

    policy: ClassVar[Placement]
    sizes: ClassVar[tuple[int, ...]] = (2, 3, 16, 63, 64, 65, 127, 128, 129, 1824)
    """Memories that are walked through, in segments."""
    steps: ClassVar[int] = 300
    """Questions in each walk."""

    def test_grants_lie_in_free_segments(self) -> None:
        for asked in self._walks():
            fine = asked.answer == REFUSED or holds(self.policy, asked)
            assert fine, f"answered {asked.answer} for {asked.length} in {asked.text}"

    def test_refuses_only_what_it_may(self) -> None:
        refused = [asked for asked in self._walks() if asked.answer == REFUSED and fits(self.policy, asked)]
        if self.policy.work_conserving():
            assert not refused, f"refused {refused[0].length} in {refused[0].text}, which fits"
        else:
            assert refused, "says that it may refuse what fits, and never does"

    def test_an_empty_memory_serves_every_request(self) -> None:
        waits = [(n, m) for n in self.sizes for m in self._admitted(n) if not self._served_when_empty(n, m)]
        after = [(n, m, e) for n in (2, 3, 16) for m in self._admitted(n) for e in self._admitted(n)]
        waits += [(n, m) for n, m, earlier in after if not self._served_when_empty(n, m, earlier)]
        serves = self.policy.serves_empty()
        assert bool(waits) != serves, f"serves_empty() is {serves}; an empty memory does not serve {waits[:5]}"

    def test_compiled_and_plain_answers_agree(self) -> None:
        for segments in self.sizes:
            plain = walk(self.policy, PlainSpeaker(self.policy, segments), segments, self.steps)
            compiled = walk(self.policy, CompiledSpeaker(self.policy, segments), segments, self.steps)
            for one, other in zip(plain, compiled, strict=True):
                assert one.answer == other.answer, f"{one.answer} plain, {other.answer} compiled, in {one.text}"
                assert one.memory.tolist() == other.memory.tolist(), f"memory differs in {one.text}"

    def test_stays_within_its_arrays(self) -> None:
        check(self.policy)

    def test_leaves_its_inputs_alone(self) -> None:
        params = self.policy.parameters()
        for segments in self.sizes:
            speaker = PlainSpeaker(self.policy, segments)
            for asked in walk(self.policy, speaker, segments, self.steps):
                before, speaker.memory = asked.free.copy(), asked.memory.copy()
                assert speaker.ask(asked.free, asked.length) == asked.answer, "answers differ on the same question"
                assert before.tolist() == asked.free.tolist(), f"wrote to the free map in {asked.text}"
        assert params.tolist() == self.policy.parameters().tolist(), "wrote to its parameters"

    def test_memory_belongs_to_the_run(self) -> None:
        first, second = self.policy.start_memory(16, 5), self.policy.start_memory(16, 5)
        assert first.dtype == np.int64, "memory is int64"
        assert first.ndim == 1, "memory is one row"
        assert first is not second, "each run has its own memory"
        assert first.tolist() == second.tolist(), "the same seed gives the same memory"

    def test_footprints_and_durations(self) -> None:
        for segments in self.sizes:
            lengths = np.arange(1, segments + 1)
            taken = np.asarray(self.policy.footprint(lengths, segments))
            lasting = np.asarray(self.policy.lasting(lengths))
            assert (taken >= lengths).all(), "a footprint is not smaller than the request"
            assert taken.tolist() == [int(self.policy.footprint(int(m), segments)) for m in lengths]
            assert lasting.tolist() == [int(self.policy.lasting(int(m))) for m in lengths]
            assert lasting.dtype.kind == "i", "durations are whole cycles"

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        told = told_by_a_fresh_interpreted_process(self.policy, _FRESH)
        assert told == digest(self.policy, CompiledSpeaker)

    def _walks(self) -> Iterator[Asked]:
        for segments in self.sizes:
            yield from walk(self.policy, CompiledSpeaker(self.policy, segments), segments, self.steps)

    def _admitted(self, segments: int) -> list[int]:
        taken = {int(self.policy.footprint(m, segments)) for m in range(1, segments + 1)}
        return sorted(m for m in taken if m <= segments)

    def _served_when_empty(self, segments: int, length: int, earlier: int = 0) -> bool:
        """Whether a length is granted in an empty memory, at the start or after another grant has come and gone."""
        speaker, free = CompiledSpeaker(self.policy, segments), all_free(segments)
        if earlier:
            start = speaker.ask(free, earlier)
            if start == REFUSED:
                return False
            mark_taken(free, start, earlier)
            speaker.tell(GRANTED, free, start, earlier)
            mark_free(free, start, earlier)
            speaker.tell(RELEASED, free, start, earlier)
        return speaker.ask(free, length) != REFUSED
