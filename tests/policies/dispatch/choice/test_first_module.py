"""First module against its contract (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.policies.dispatch.choice.together import scenes, scored
from workbench.policies.dispatch.choice import FirstModule
from workbench.policies.dispatch.choice.contract import ChoiceContract


class TestFirstModule(ChoiceContract):
    policy = FirstModule()
    impartial = False


@given(scenes)
def test_the_lowest_candidate_wins_without_a_tie(shown):
    scores = scored(FirstModule(), shown)
    assert scores == sorted(set(scores), reverse=True)
