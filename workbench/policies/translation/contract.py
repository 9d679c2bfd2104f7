"""What every policy of translation owes, as tests to join, for policies of this package or not.

from workbench.policies.translation.contract import EvictionContract

class TestMyEviction(EvictionContract):
    policy = MyEviction()
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.compiled import RAISED
from workbench.policies.translation.fill.question import REFUSED
from workbench.policies.translation.fill.view import FillView
from workbench.policies.translation.walk import Asked, scenes, walk
from workbench.policies.value_contract import ValueContract

__all__ = ["EvictionContract", "FillContract", "LocateContract", "PeerContract", "RemoteFillContract"]


class _AnswerContract(ValueContract):
    """What every policy with an answer owes."""

    policy: ClassVar[Any]
    steps: ClassVar[int] = 60
    """Scenes that are asked about."""

    def test_answers_are_allowed(self) -> None:
        for asked in walk(self._asked(), True, self.steps):
            assert asked.answer != RAISED, f"raised when asked {asked.scene}"
            assert self.allowed(asked), f"answered {asked.answer} when asked {asked.scene}"

    def test_compiled_and_plain_answers_agree(self) -> None:
        both = zip(walk(self._asked(), True, self.steps), walk(self._asked(), False, self.steps), strict=True)
        for one, other in both:
            assert one[1:] == other[1:], f"compiled {one}, plain {other}"

    def test_stays_within_its_arrays(self) -> None:
        for asked in walk(self._asked(), True, self.steps, checked=True):
            assert asked.answer != RAISED, asked

    def test_leaves_its_inputs_alone(self) -> None:
        policy = self._asked()
        params, answer, memory = policy.parameters(), policy.plain_answer(), self._memory(1)
        for scene in scenes(policy, self.steps):
            shown = scene[:-1] if policy.question == "fill" else scene
            before = [np.copy(part) for part in shown]
            answer(policy.asks.see(*scene, params, memory))
            assert all(map(np.array_equal, before, shown)), "wrote to what it was shown"
        assert params.tolist() == policy.parameters().tolist(), "wrote to its parameters"

    def test_memory_belongs_to_the_run(self) -> None:
        first, second = self._memory(5), self._memory(5)
        assert (first.dtype, first.ndim) == (np.dtype(np.int64), 1), "memory is one row of int64"
        assert first is not second, "each run has its own memory"
        assert first.tolist() == second.tolist(), "the same seed gives the same memory"
        assert (first.tolist() != self._memory(6).tolist()) == self._asked().draws, f"draws is {self._asked().draws}"

    def allowed(self, asked: Asked) -> bool:
        """Whether the question allows the answer."""
        raise NotImplementedError

    def _asked(self) -> Any:
        return self.policy

    def _memory(self, seed: int) -> np.ndarray:
        memory: np.ndarray = self._asked().start_memory(8, seed)
        return memory


class PeerContract(_AnswerContract):
    """Tests that every choice of a peer passes."""

    def allowed(self, asked: Asked) -> bool:
        return 0 <= asked.answer < 8 and bool(int(asked.scene[2][0]) >> asked.answer & 1)


class FillContract(_AnswerContract):
    """Tests that every fill rule passes."""

    def allowed(self, asked: Asked) -> bool:
        pushed = asked.written[: max(asked.answer, 0)]
        others = set(range(8)) - {asked.scene[0]}
        return REFUSED <= asked.answer < 8 and set(pushed) <= others and len(set(pushed)) == len(pushed)

    def test_counts_only_where_it_says_so(self) -> None:
        for asked in walk(self.policy, False, self.steps):
            core, cores, entries, held, _, pairs, push = asked.scene
            seen = (core, cores, entries, held, 0, 0 * pairs, push.copy())
            again = self.policy.plain_answer()(FillView(*seen, self.policy.parameters(), self._memory(1)))
            if not self.policy.counts():
                assert again >= 0, "a rule that reads no counts does not depend on them"


class RemoteFillContract(_AnswerContract):
    """Tests that every rule for copies after a remote hit passes."""

    def allowed(self, asked: Asked) -> bool:
        return asked.answer in (0, 1)


class EvictionContract(_AnswerContract):
    """Tests that every eviction policy passes."""

    def allowed(self, asked: Asked) -> bool:
        return 0 <= asked.answer < 5

    def test_proposes_every_entry_once(self) -> None:
        for ways in (1, 2, 3, 4, 8):
            names = list(range(ways))
            for touched in ([], names[:1], names[::-1], names[ways // 2 :]):
                assert sorted(self.policy.order(names, touched)) == names

    def _asked(self) -> Any:
        return self.policy.base_policy()

    def _memory(self, seed: int) -> np.ndarray:
        memory: np.ndarray = self._asked().start_memory(4, 8, seed)
        return memory


class LocateContract(ValueContract):
    """Tests that every way to look near by passes."""

    policy: ClassVar[Any]

    def test_plans_in_whole_numbers(self) -> None:
        for entries in (1, 32, 1024):
            assert all(isinstance(figure, int) for figure in self.policy.plan(entries))
