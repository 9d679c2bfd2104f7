"""Correlated durations: the stated rule number by number, the correlation asked for, and an unchanged law."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, spearmanr

from tests.junk import refusal
from tests.oracles.laws import weights_of
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import Correlated, Exponential, Law, Uniform

DRAWS = 100_000
TOP = 1 - 2.0**-53
RANKS = st.floats(2.0**-53, TOP)


def by_the_rule(correlation: float, own: float, size: float) -> float:
    """The rank of a duration, from the class's own sentence."""
    normal = NormalDist()
    r = 2 * math.sin(math.pi * correlation / 6)
    return normal.cdf(r * normal.inv_cdf(size) + math.sqrt(max(1 - r * r, 0)) * normal.inv_cdf(own))


@given(st.floats(-1, 1), RANKS, RANKS)
def test_the_rank_is_the_one_that_the_rule_gives(correlation, own, size):
    result = Correlated(rank_correlation=correlation).ranks(np.array([own]), np.array([size]))[0]
    assert result == pytest.approx(by_the_rule(correlation, own, size), abs=1e-7)
    assert 0 <= result < 1


@pytest.mark.parametrize("correlation", [-1.0, -0.5, 0.0, 0.3, 0.8, 1.0])
def test_ranks_have_the_correlation_that_was_asked_for(correlation):
    streams = Streams(5)
    sizes, own = streams.uniforms("sizes", DRAWS), streams.uniforms("durations", DRAWS)
    result = spearmanr(Correlated(rank_correlation=correlation).ranks(own, sizes), sizes).statistic
    assert result == pytest.approx(correlation, abs=5 / math.sqrt(DRAWS))


@pytest.mark.parametrize("correlation", [-1.0, -0.6, 0.9, 1.0])
@pytest.mark.parametrize("law", [Uniform(low=1, high=20), Exponential(mean=5)], ids=str)
def test_how_often_each_duration_comes_stays_the_laws(law, correlation):
    streams = Streams(6)
    correlated = Correlated(law=law, rank_correlation=correlation)
    ranks = correlated.ranks(streams.uniforms("durations", DRAWS), streams.uniforms("sizes", DRAWS))
    drawn = correlated.draw(ranks)
    expected = {number: weight * DRAWS for number, weight in weights_of(law) if weight * DRAWS > 20}
    seen = np.array([(drawn == number).sum() for number in expected])
    wanted = np.array(list(expected.values()))
    assert chisquare([*seen, DRAWS - seen.sum() + 1e-3], [*wanted, DRAWS - wanted.sum() + 1e-3]).pvalue > 1e-4


def test_without_correlation_the_ranks_are_the_streams_own_to_the_bit():
    own, sizes = Streams(1).uniforms("durations", 50), Streams(1).uniforms("sizes", 50)
    assert Correlated(rank_correlation=0).ranks(own, sizes) is own
    assert Uniform().ranks(own, sizes) is own


@pytest.mark.parametrize("correlation", [-1, -0.5, 0.5, 1])
def test_extreme_ranks_stay_inside(correlation):
    law = Correlated(law={"uniform": [1, 100]}, rank_correlation=correlation)
    ends = np.array([0.0, 0.0, TOP, TOP])
    ranks = law.ranks(ends, np.array([0.0, TOP, 0.0, TOP]))
    assert (ranks >= 0).all()
    assert (ranks < 1).all()
    assert set(law.draw(ranks).tolist()) <= set(range(1, 101))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rank_correlation": 1.2}, "duration.correlated.rank_correlation must be a number from -1 to 1. Got 1.2."),
        ({"law": {"correlated": {}}}, "duration.correlated.law must be another law than correlated itself."),
        ({"law": {"unifrm": 1}}, "duration.correlated.law: unknown law 'unifrm'"),
        (0.8, "duration.correlated must be a mapping of law, rank_correlation. Got 0.8."),
    ],
)
def test_what_is_wrong_is_said_with_its_path(given, says):
    assert refusal(Law.read, {"correlated": given}, "duration").startswith(says)
