"""The signed-rank test: against all sign patterns written out, against scipy, exact with ties and zeros."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tests.depth import deeper
from workbench.errors import InputError
from workbench.studies.statistics import wilcoxon
from workbench.studies.statistics.wilcoxon import EXACT_UP_TO, signed_ranks

tied = st.lists(st.integers(-4, 4), min_size=1, max_size=9)
zero_rules = st.sampled_from(["pratt", "wilcox"])


def by_all_signs(differences, zeros):
    """Rank by counting, then try every sign pattern of the non-zero differences."""
    ranked = [d for d in differences if d != 0 or zeros == "pratt"]
    sizes = [abs(d) for d in ranked]
    rank = {s: sum(o < s for o in sizes) + (sizes.count(s) + 1) / 2 for s in sizes}
    ranks = [rank[abs(d)] for d in ranked if d != 0]
    plus = sum(rank[d] for d in ranked if d > 0)
    sums = [sum(r for r, up in zip(ranks, ups) if up) for ups in product([0, 1], repeat=len(ranks))]
    high, low = sum(s >= plus for s in sums), sum(s <= plus for s in sums)
    return plus, min(1.0, 2 * min(high, low) / len(sums))


@deeper(60, 400)
@given(tied, zero_rules)
def test_exact_with_ties_and_zeros(differences, zeros):
    got = wilcoxon(differences, zeros=zeros)
    assert (got.statistic, got.p_value) == pytest.approx(by_all_signs(differences, zeros))
    assert (got.method, got.n) == ("exact", sum(d != 0 for d in differences))


@pytest.mark.parametrize("size", [5, 20, 50, 200])
def test_exact_without_ties_agrees_with_scipy(size):
    differences = np.random.default_rng(size).normal(0.1, 1, size)
    expected = scipy.stats.wilcoxon(differences, method="exact")
    got = wilcoxon(differences)
    assert got.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert min(got.statistic, size * (size + 1) / 2 - got.statistic) == expected.statistic


@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
def test_normal_agrees_with_scipy(zeros):
    differences = np.random.default_rng(8).integers(-20, 22, 2 * EXACT_UP_TO).astype(float)
    expected = scipy.stats.wilcoxon(differences, zero_method=zeros, correction=True, method="asymptotic")
    got = wilcoxon(differences, zeros=zeros)
    assert got.method == "normal"
    assert got.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_exact_and_normal_meet():
    rng = np.random.default_rng(4)
    for shift in (0, 1, 2):
        differences = rng.integers(-15, 16, 400) + shift
        nonzero = np.flatnonzero(differences)
        at_edge = differences[nonzero[:EXACT_UP_TO]]
        exact, normal = wilcoxon(at_edge), wilcoxon(np.append(at_edge, [1, -1]))
        assert (exact.method, normal.method) == ("exact", "normal")
        assert normal.p_value == pytest.approx(exact.p_value, rel=0.05, abs=0.01)


def test_by_hand():
    # sizes 1 2 2 5 -> ranks 1 2.5 2.5 4; negative: 1 -> W+ = 9, W- = 1; patterns with sum <= 1: two (none, the 1 alone)
    assert wilcoxon([-1, 2, 2, 5])[:2] == (9.0, 2 * 2 / 16)


def test_zero_rules_differ_as_published():
    # Pratt: the four zeros take ranks 1-4, so -1 ranks 5 of 6; Wilcoxon: it ranks 1 of 2
    differences = [0, 0, 0, 0, -1, 2]
    assert signed_ranks(differences)[1:] == (6.0, 5.0)
    assert signed_ranks(differences, zeros="wilcox")[1:] == (2.0, 1.0)
    assert signed_ranks(differences).biserial == pytest.approx(1 / 11)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), zero_rules, st.integers(1, 100))
def test_mirrored_and_scaled(differences, zeros, scale):
    was = wilcoxon(differences, zeros=zeros)
    assert wilcoxon([-scale * d for d in differences], zeros=zeros).p_value == was.p_value
    ranks = signed_ranks(differences, zeros=zeros)
    assert signed_ranks([-d for d in differences], zeros=zeros).biserial == -ranks.biserial
    assert -1 <= ranks.biserial <= 1
    assert 0 < was.p_value <= 1


def test_one_side_only():
    assert signed_ranks([1, 2, 0, 3]).biserial == 1.0
    assert wilcoxon(np.arange(1, EXACT_UP_TO + 1)).p_value == 2.0 ** (1 - EXACT_UP_TO)


def test_only_zeros_and_nothing():
    for differences in ([0.0], [0.0] * 300):
        assert wilcoxon(differences) == (0.0, 1.0, "exact", 0)
        assert signed_ranks(differences).biserial == 0.0
    assert wilcoxon([]).n == 0 and math.isnan(wilcoxon([]).p_value)


def test_mistakes():
    with pytest.raises(InputError, match=r"unknown rule for zeros 'prat'; .* Did you mean pratt\?"):
        wilcoxon([1, 2], zeros="prat")
    with pytest.raises(InputError, match=r"differences\[1\] must be a number"):
        wilcoxon([1, float("nan")])
