"""Coolest first against its contract (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.policies.dispatch.choice.together import scenes, scored, told
from workbench.policies.dispatch.choice import CoolestFirst
from workbench.policies.dispatch.choice.contract import ChoiceContract


class TestCoolestFirst(ChoiceContract):
    policy = CoolestFirst()


@given(scenes)
def test_scores_by_temperature_alone(shown):
    assert scored(CoolestFirst(), shown) == [-module["heat"] for module in told(shown)]


def test_asks_for_heat():
    assert CoolestFirst().needs_heat()
