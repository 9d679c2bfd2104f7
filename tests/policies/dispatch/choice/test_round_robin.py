"""Round robin against its contract and its slow twin (spec 3, R82)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_choice as slow
from workbench.policies.dispatch.choice import RoundRobin
from workbench.policies.dispatch.choice.contract import ChoiceContract


class TestRoundRobin(ChoiceContract):
    policy = RoundRobin()
    impartial = False


@given(st.integers(1, 20), st.data())
def test_takes_turns_as_its_twin(modules, data):
    taken: list[int] = []
    for _ in range(10):
        candidates = sorted(data.draw(st.sets(st.integers(0, modules - 1), min_size=1)))
        result = RoundRobin().choose([(1,)] * modules, after=taken, modules=candidates)
        assert result == slow.turn(modules, candidates, taken[-1] if taken else -1)
        taken.append(result)


def test_every_module_in_turn():
    taken: list[int] = []
    for _ in range(9):
        taken.append(RoundRobin().choose([(1,)] * 4, after=taken))
    assert taken == [0, 1, 2, 3, 0, 1, 2, 3, 0]
