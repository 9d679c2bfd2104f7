"""Dominant resource against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import dispatch_choice as slow
from tests.policies.dispatch.choice.together import assert_same_scores, scenes, scored, told
from workbench.policies.dispatch.choice import DominantResource
from workbench.policies.dispatch.choice.contract import ChoiceContract


class TestDominantResource(ChoiceContract):
    policy = DominantResource()


@given(scenes)
def test_scores_as_its_twin(shown):
    demand, totals = shown.demand.tolist(), shown.totals.tolist()
    assert_same_scores(scored(DominantResource(), shown), [slow.scarcest(m, demand, totals) for m in told(shown)])
