"""Random module against its contract: every candidate, each as often as another (spec 3, section 7)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from scipy import stats

from tests.policies.dispatch.choice.together import asked, in_a_run, scenes, scored
from workbench.policies.dispatch.choice import RandomModule
from workbench.policies.dispatch.choice.contract import ChoiceContract
from workbench.policies.dispatch.choice.scene import scene


class TestRandomModule(ChoiceContract):
    policy = RandomModule()
    impartial = False


@given(scenes)
def test_one_candidate_is_drawn(shown):
    assert sorted(scored(RandomModule(), shown)) == [0.0] * (shown.modules.size - 1) + [1.0]


def test_every_candidate_is_as_likely_as_another():
    displayed, speaker = scene([(1,)] * 9, "free", modules=(0, 2, 3, 7, 8)), in_a_run(RandomModule(), 9)
    wins = np.zeros(5)
    for _ in range(5000):
        wins += asked(speaker, displayed)
    assert stats.chisquare(wins).pvalue > 0.001
