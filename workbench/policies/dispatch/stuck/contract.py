"""What every policy for stuck groups owes, as tests to join: five lines in a test file, for any policy.

from workbench.policies.dispatch.stuck.contract import StuckContract

class TestMySplit(StuckContract):
    policy = MySplit(threshold=16)
"""

from __future__ import annotations

from typing import ClassVar

from workbench.policies.dispatch.stuck.checking import Asked, Speaker, allowed, check, digest, questions
from workbench.policies.dispatch.stuck.question import FOR_EVER, Stuck
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["StuckContract", "check"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.dispatch.stuck.checking import digest
print(digest(policy, False))
"""


class StuckContract(ValueContract):
    """Tests that every policy for stuck groups passes; a subclass names the policy."""

    policy: ClassVar[Stuck]

    def test_splits_independent_waves_only_and_gives_each_part_one(self) -> None:
        speaker = Speaker(self.policy, True)
        for asked in questions():
            assert allowed(asked, speaker.ask(asked)), str(asked)

    def test_no_wave_is_lost(self) -> None:
        for waves in range(1, 70):
            parts = self.policy.parts(waves)
            assert sum(parts) == waves, f"{parts} of {waves}"
            assert min(parts) >= 1, f"{parts} of {waves}"
            assert parts == sorted(parts, reverse=True), "the first sub-groups are the larger ones"
            assert max(parts) - min(parts) <= 1, "shared out evenly"

    def test_compiled_and_plain_answers_agree(self) -> None:
        compiled, plain = Speaker(self.policy, True), Speaker(self.policy, False)
        for asked in questions():
            assert compiled.ask(asked) == plain.ask(asked), str(asked)

    def test_stays_within_its_arrays(self) -> None:
        check(self.policy)

    def test_what_it_asks_of_the_engine(self) -> None:
        ready = self.policy.ready()
        assert 0 <= ready.patience <= FOR_EVER
        assert ready.look_ahead >= 0
        assert ready.sub_priority in (0, 1, 2)
        assert ready.divides_shared in (0, 1)
        assert self.policy.rounds_until_asked() == ready.patience + 1

    def test_leaves_its_parameters_alone(self) -> None:
        speaker = Speaker(self.policy, False)
        before, asked = speaker.params.tolist(), Asked(5, 1, 1, 4)
        assert speaker.ask(asked) == speaker.ask(asked), "answers differ on the same question"
        assert speaker.params.tolist() == before == self.policy.parameters().tolist(), "wrote to its parameters"

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == digest(self.policy, True)
