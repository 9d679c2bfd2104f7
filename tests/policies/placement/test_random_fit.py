"""Random fit against its contract: every feasible start, each as often as another (spec 1, section 7)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles.placement import feasible
from tests.policies.placement.together import Asked
from tests.slow import LONG
from workbench.policies.placement import RandomFit
from workbench.policies.placement.contract import PlacementContract
from workbench.structures.bitmaps import packed

states = st.lists(st.booleans(), min_size=2, max_size=300)


class TestRandomFit(PlacementContract):
    policy = RandomFit()


def draws(free: list[bool], m: int, count: int, seed: int = 0) -> list[int]:
    speaker = Asked(RandomFit(), len(free), seed)
    words = packed(np.array(free))
    return [speaker.asked(words, m) for _ in range(count)]


@given(states, st.data())
def test_takes_feasible_starts_and_only_those(free, data):
    m = data.draw(st.integers(1, len(free)))
    assert set(draws(free, m, 20)) <= set(feasible(free, m) or [-1])


def test_every_start_is_as_likely_as_another():
    free = [k % 11 > 2 for k in range(130)]
    starts = feasible(free, 4)
    counts = np.bincount(draws(free, 4, 60_000 if LONG else 15_000))
    assert np.flatnonzero(counts).tolist() == starts
    assert stats.chisquare(counts[starts]).pvalue > 0.001


def test_successive_draws_are_independent():
    free = [True] * 8
    drawn = draws(free, 1, 80_001 if LONG else 20_001)
    pairs = np.zeros((8, 8))
    np.add.at(pairs, (drawn[:-1], drawn[1:]), 1)
    assert stats.chisquare(pairs.ravel()).pvalue > 0.001


def test_seeds_give_different_draws_and_the_same_ones_again():
    free = [True] * 64
    assert draws(free, 1, 50, seed=1) == draws(free, 1, 50, seed=1) != draws(free, 1, 50, seed=2)


@given(states, st.data())
def test_a_refusal_draws_nothing(free, data):
    m = data.draw(st.integers(1, len(free)))
    speaker = Asked(RandomFit(), len(free))
    before = speaker.memory.copy()
    speaker.asked(packed(np.array(free)), m)
    assert (speaker.memory.tolist() == before.tolist()) == (len(feasible(free, m)) < 2)
