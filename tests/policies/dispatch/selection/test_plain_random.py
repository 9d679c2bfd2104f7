"""Plain random against its contract and its slow twin, roll by roll (spec 3, section 7)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import dice, prepared, walk_far, walk_together, walks
from tests.slow import LONG
from workbench.policies.dispatch import PlainRandom
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestPlainRandom(SelectionContract):
    policy = PlainRandom()


@given(st.sampled_from(AMONG), walks)
def test_walks_with_its_twin(among, walk):
    policy = PlainRandom(among=among)
    walk_together(policy, lambda: twins.PlainRandom(dice(policy), among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
def test_walks_far_with_its_twin(among):
    policy = PlainRandom(among=among)
    walk_far(policy, lambda channels: twins.PlainRandom(dice(policy, channels), among))


def test_every_candidate_is_as_likely_as_another_and_seeds_differ():
    picks = {}
    for seed in (1, 2):
        rounds = PlainRandom().rounds(channels=5, seed=seed)
        picks[seed] = [rounds.pick(0, 2, 4) for _ in range(3000 if LONG else 750)]
        assert set(picks[seed]) == {0, 2, 4}
        assert stats.chisquare(np.unique(picks[seed], return_counts=True)[1]).pvalue > 0.001
    assert picks[1] != picks[2]
