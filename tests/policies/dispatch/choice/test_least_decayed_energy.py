"""Least decayed energy against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracles import dispatch_choice as slow
from tests.policies.dispatch.choice.together import assert_same_scores, scenes, scored, told
from workbench.errors import InputError
from workbench.policies.dispatch.choice import LeastDecayedEnergy
from workbench.policies.dispatch.choice.contract import ChoiceContract


class TestLeastDecayedEnergy(ChoiceContract):
    policy = LeastDecayedEnergy()


@given(scenes)
def test_scores_as_its_twin(shown):
    weights = (1, 0, 4, 0.5, 0, 2)
    result = scored(LeastDecayedEnergy(weights=weights), shown)
    assert_same_scores(result, [slow.energy(m, weights) for m in told(shown)])


def test_what_the_engine_must_keep():
    policy = LeastDecayedEnergy(half_life=300)
    assert (policy.history_cycles(), policy.halving_cycles()) == (0, 300)


def test_weights_of_the_wrong_length():
    with pytest.raises(InputError, match=r"least_decayed_energy\.weights must be 6 weights, one for each class"):
        LeastDecayedEnergy(weights=(1, 2, 3, 4, 5, 6, 7))
