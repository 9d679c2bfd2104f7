"""What every policy for idle memory owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.idle.contract import IdleContract

class TestMyRelease(IdleContract):
    policy = MyRelease()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.policies.pool.idle.question import NO_LIMIT, RELEASE, IdleRelease, chained
from workbench.policies.pool.idle.view import IdleView
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process
from workbench.streams import Streams

__all__ = ["IdleContract"]
_release = RELEASE.ask
_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.pool.idle.contract import answers
print(answers(policy, False))
"""


@kernel
def _asked(answer, excess, oldest, origins, params):  # type: ignore[no-untyped-def]
    return _release(answer, IdleView(excess, oldest, origins, params))


class IdleContract(ValueContract):
    """Tests that every policy for idle memory passes; a subclass names the policy."""

    policy: ClassVar[IdleRelease]

    def test_names_what_is_wholly_cached_or_none(self) -> None:
        for (_, order, _), found in zip(_asked_about(), answers(self.policy, False), strict=True):
            assert found in (-1, *order)

    def test_compiled_and_plain_answers_agree_and_stay_within_their_arrays(self) -> None:
        for checked in (False, True):
            assert answers(self.policy, True, checked) == answers(self.policy, False)

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == str(answers(self.policy, True))

    def test_keeps_within_its_limit_or_keeps_all(self) -> None:
        assert 0 <= self.policy.limit_bytes() <= NO_LIMIT
        for excess, order, origins in _asked_about():
            sizes = origins[::4][order].tolist()
            gone = self.policy.returned(sizes, max(sum(sizes) - excess, 0))
            assert not gone or sum(sizes) - sum(gone) <= sum(sizes) - excess

    def test_leaves_its_inputs_alone(self) -> None:
        for excess, order, origins in _asked_about():
            before = origins.tobytes()
            _plain(self.policy, excess, order, origins)
            assert origins.tobytes() == before, "wrote to what it was shown"


def answers(policy: IdleRelease, compiled: bool, checked: bool = False) -> list[int]:
    """The driver allocation that a policy names in each of some cases, asked compiled or in plain Python."""
    if not compiled:
        return [_plain(policy, *about) for about in _asked_about()]
    ready, found = policy.ready(checked), []
    for excess, order, origins in _asked_about():
        found.append(int(_asked(ready.answer, excess, order[0], origins, ready.params)))
        assert found[-1] != RAISED, f"raised at an excess of {excess}"
    return found


def _plain(policy: IdleRelease, excess: int, order: list[int], origins: np.ndarray) -> int:
    return int(policy.plain_answer()(IdleView(excess, order[0], origins, policy.parameters())))


def _asked_about() -> Iterator[tuple[int, list[int], np.ndarray]]:
    """Driver allocations of sizes alike and not, some of them wholly cached."""
    draw = Streams(0)["idle"]
    for _ in range(40):
        sizes = draw.integers(1, int(2 ** draw.uniform(1, 30)) + 1, 8)
        sizes[draw.integers(0, 8, 3)] = sizes[0]
        order = draw.permutation(8)[: draw.integers(1, 9)].tolist()
        yield int(draw.integers(1, sizes[order].sum() + 1)), order, chained(sizes.tolist(), order)
