"""What every priority policy owes, as tests to join: five lines in a test file, for policies of this package or not.

from workbench.policies.dispatch.priority.contract import PriorityContract

class TestMyPriority(PriorityContract):
    policy = MyPriority(cycles=100)
"""

from __future__ import annotations

from typing import ClassVar

from workbench.policies.dispatch.priority.checking import FAR, LEVELS, Speaker, check, digest, questions, too_late
from workbench.policies.dispatch.priority.question import Priority
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["PriorityContract", "check"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.dispatch.priority.checking import digest
print(digest(policy, False))
"""


class PriorityContract(ValueContract):
    """Tests that every priority policy passes; a subclass names the policy."""

    policy: ClassVar[Priority]
    levels: ClassVar[tuple[int, ...]] = LEVELS
    """Numbers of priorities that the policy is made for."""

    def test_serves_its_numbers_of_priorities(self) -> None:
        for levels in self.levels:
            self.policy.check_levels(levels)

    def test_compiled_and_plain_ranks_agree(self) -> None:
        compiled, plain = Speaker(self.policy, True), Speaker(self.policy, False)
        for levels in self.levels:
            for asked in questions(levels, 300):
                assert compiled.rank(asked) == plain.rank(asked), str(asked)
            for cycle in (*range(70), FAR):
                assert compiled.holds_until(cycle, levels) == plain.holds_until(cycle, levels), f"at cycle {cycle}"

    def test_an_order_holds_as_long_as_it_says(self) -> None:
        speaker = Speaker(self.policy, True)
        for levels in self.levels:
            for cycle in (0, 1, 6, 7, 14, 63, 64, 640, 1023, FAR):
                assert not (broken := too_late(speaker, levels, cycle)), broken

    def test_below_all_is_never_more_urgent_than_the_lowest(self) -> None:
        speaker = Speaker(self.policy, True)
        for levels in self.levels:
            for asked in questions(levels, 100):
                lowest, below = asked._replace(priority=levels), asked._replace(priority=levels + 1)
                assert speaker.rank(lowest) <= speaker.rank(below), str(below)

    def test_stays_within_its_arrays(self) -> None:
        check(self.policy, self.levels)

    def test_leaves_its_parameters_alone(self) -> None:
        speaker = Speaker(self.policy, False)
        before = speaker.params.tolist()
        for asked in questions(self.levels[-1], 50):
            assert speaker.rank(asked) == speaker.rank(asked), "answers differ on the same question"
        assert speaker.params.tolist() == before == self.policy.parameters().tolist(), "wrote to its parameters"

    def test_ranks_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == digest(self.policy, True)
