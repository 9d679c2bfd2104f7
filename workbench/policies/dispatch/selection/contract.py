"""What every selection policy owes, as tests to join: five lines in a test file, for policies of this package or not.

from workbench.policies.dispatch.selection.contract import SelectionContract

class TestMySelection(SelectionContract):
    policy = MySelection(turns=3)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.policies.dispatch.selection.checking import check
from workbench.policies.dispatch.selection.question import NOBODY, Selection
from workbench.policies.dispatch.selection.walk import Asked, CompiledSpeaker, PlainSpeaker, digest, walk
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["SelectionContract", "check"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.dispatch.selection.walk import digest
print(digest(policy, False, {channels}))
"""


class SelectionContract(ValueContract):
    """Tests that every selection policy passes; a subclass names the policy."""

    policy: ClassVar[Selection]
    channels: ClassVar[tuple[int, ...]] = (1, 2, 3, 8, 64)
    """Numbers of channels that the policy is made for."""
    levels: ClassVar[int] = 4
    steps: ClassVar[int] = 150
    """Rounds in each walk."""

    def test_chooses_a_group_that_fits(self) -> None:
        for asked in self._walks():
            assert asked.in_order, f"answered {asked.answer} at {asked.round}"

    def test_chooses_nobody_only_if_it_may(self) -> None:
        nobody = [asked for asked in self._walks() if asked.answer == NOBODY]
        if self.policy.work_conserving():
            assert not nobody, f"chose nobody at {nobody[0].round}"
        else:
            assert nobody, "says that it may choose nobody, and always chooses somebody"

    def test_nobody_is_not_remembered_and_stays_nobody_while_time_passes(self) -> None:
        for channels in self.channels:
            speaker = PlainSpeaker(self.policy, channels, self.levels)
            for asked in walk(speaker, channels, self.levels, self.steps):
                if asked.answer == NOBODY:
                    assert asked.before.tolist() == asked.after.tolist(), f"remembered nobody at {asked.round}"
                    later = asked.round._replace(cycle=asked.round.cycle + 10_000, waited=asked.round.waited + 10_000)
                    assert speaker.ask(later) == NOBODY, f"chose somebody some cycles after {asked.round}"

    def test_compiled_and_plain_answers_agree(self) -> None:
        for channels in self.channels:
            plain = walk(PlainSpeaker(self.policy, channels, self.levels), channels, self.levels, self.steps)
            compiled = walk(CompiledSpeaker(self.policy, channels, self.levels), channels, self.levels, self.steps)
            for one, other in zip(plain, compiled, strict=True):
                assert one.answer == other.answer, f"{one.answer} plain, {other.answer} compiled, at {one.round}"
                assert one.after.tolist() == other.after.tolist(), f"memory differs after {one.round}"

    def test_stays_within_its_arrays(self) -> None:
        check(self.policy, self.channels, self.levels)

    def test_leaves_its_inputs_alone(self) -> None:
        params = self.policy.parameters()
        for channels in self.channels:
            speaker = PlainSpeaker(self.policy, channels, self.levels)
            for asked in walk(speaker, channels, self.levels, self.steps):
                copies, speaker.memory = [column.copy() for column in asked.round[2:]], asked.before.copy()
                assert speaker.ask(asked.round) == asked.answer, "answers differ on the same question"
                for name, column, copy in zip(asked.round._fields[2:], asked.round[2:], copies, strict=True):
                    assert column.tolist() == copy.tolist(), f"wrote to {name} at {asked.round}"
        assert params.tolist() == self.policy.parameters().tolist(), "wrote to its parameters"

    def test_memory_belongs_to_the_run(self) -> None:
        for channels in self.channels:
            first, second = (self.policy.start_memory(channels, self.levels, 5) for _ in range(2))
            assert first.dtype == np.int64, "memory is int64"
            assert first.ndim == 1, "memory is one row"
            assert first is not second, "each run has its own memory"
            assert first.tolist() == second.tolist(), "the same seed gives the same memory"

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        channels = self.channels[-1]
        told = told_by_a_fresh_interpreted_process(self.policy, _FRESH.format(channels=channels))
        assert told == digest(self.policy, True, channels)

    def _walks(self) -> Iterator[Asked]:
        for channels in self.channels:
            speaker = CompiledSpeaker(self.policy, channels, self.levels)
            yield from walk(speaker, channels, self.levels, self.steps)
