"""Two choices against its contract: every pair as often as another, the idler of it wins (spec 3, section 7)."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from scipy import stats

from tests.policies.dispatch.choice.together import NAMES, asked, in_a_run, scenes, scored, told
from workbench.policies.dispatch.choice import TwoChoices
from workbench.policies.dispatch.choice.contract import ChoiceContract
from workbench.policies.dispatch.choice.scene import scene


class TestTwoChoices(ChoiceContract):
    policy = TwoChoices()
    impartial = False


class TestTwoChoicesByGroups(ChoiceContract):
    policy = TwoChoices(load="workgroups")
    impartial = False


@given(scenes)
def test_the_idler_of_two_wins(shown):
    scores = scored(TwoChoices(), shown)
    looked = [k for k, score in enumerate(scores) if score > 0]
    assert len(looked) == min(2, len(scores))
    waves = [told(shown)[k]["free"][NAMES.index("waves")] for k in looked]
    expected = [2.0 if free == max(waves) else 1.0 for free in waves]
    assert [scores[k] for k in looked] == expected


def test_every_pair_is_as_likely_as_another():
    displayed, speaker = scene([(1,) * 5] * 5, "free"), in_a_run(TwoChoices(), 5)
    pairs: Counter[tuple[int, ...]] = Counter()
    for _ in range(5000):
        pairs[tuple(np.flatnonzero(asked(speaker, displayed)).tolist())] += 1
    assert len(pairs) == 10
    assert stats.chisquare(list(pairs.values())).pvalue > 0.001
