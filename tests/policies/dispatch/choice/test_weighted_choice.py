"""Weighted sums against the contract, their slow twin, and by hand (spec 3, R81, E20)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_choice as slow
from tests.policies.dispatch.choice.together import NAMES, assert_same_scores, scenes, scored
from workbench.errors import InputError
from workbench.policies.dispatch.choice import (
    BestFitModule,
    CoolestFirst,
    DotProduct,
    LeastRecentEnergy,
    LeastWaves,
    MostResidual,
    RandomModule,
    RoundRobin,
    WeightedChoice,
)
from workbench.policies.dispatch.choice.contract import ChoiceContract
from workbench.policies.dispatch.choice.scene import summed
from workbench.policies.policy import read_policy


class TestWeightedChoice(ChoiceContract):
    policy = WeightedChoice()


class TestSumOfSums(ChoiceContract):
    policy = WeightedChoice(
        choices=(
            WeightedChoice(weights=(1, 2)),
            CoolestFirst(),
            WeightedChoice(choices=(RandomModule(),), weights=(3,)),
        ),
        weights=(0.5, 0, 1),
    )
    impartial = False


LEAVES = {c.name: c for c in (BestFitModule(), CoolestFirst(), DotProduct(), LeastRecentEnergy(), MostResidual())}
TREES = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0]), inner), min_size=1, max_size=3
    ).filter(lambda tree: any(weight for weight, _ in tree)),
    max_leaves=6,
)


def built(tree):
    if isinstance(tree, str):
        return LEAVES[tree]
    return WeightedChoice(choices=[built(inner) for _, inner in tree], weights=[weight for weight, _ in tree])


@given(TREES)
def test_sums_within_sums_are_laid_flat(tree):
    if isinstance(tree, str):
        tree = [(1.0, tree)]
    assert [(term.name, weight) for term, weight in built(tree).terms()] == slow.flattened(tree)


@given(scenes, TREES)
def test_the_sum_is_its_twins(shown, tree):
    policy = built(tree)
    terms = [(np.array(scored(term, shown)), weight) for term, weight in policy.terms()]
    exact = [[weight * score for score in slow.normalised(scores.tolist())] for scores, weight in terms]
    by_twin = [sum(column) for column in zip(*exact, strict=True)] if len(terms) > 1 else terms[0][0].tolist()
    assert_same_scores(summed(terms), by_twin)


def test_e20_by_hand():
    """Residuals 90, 10, 80 are 1, 0, 0.875; energies 9, 3, 5 are 1, 0, 1/3, and the least is best."""
    rows, counts = [(90,), (10,), (80,)], [(9, 0, 0, 0, 0, 0), (3, 0, 0, 0, 0, 0), (5, 0, 0, 0, 0, 0)]
    assert WeightedChoice().scores(rows, recent=counts) == pytest.approx([0.5, 0.5, 0.5 * 0.875 + 0.5 * 2 / 3])
    winners = [WeightedChoice(weights=(1 - w, w)).choose(rows, recent=counts) for w in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert winners == [0, 2, 2, 1, 1]


def test_alike_candidates_score_nothing():
    assert WeightedChoice().scores([(5,), (5,)], recent=[(1, 0, 0, 0, 0, 0)] * 2) == [0, 0]


def test_terms_that_remember_are_told():
    policy = WeightedChoice(choices=(MostResidual(), RoundRobin()), weights=(1, 10))
    assert [policy.choose([(5,), (6,), (7,)], after=after) for after in ((), (0,), (0, 1), (2,))] == [0, 1, 2, 0]


def test_says_what_its_choices_need():
    policy = WeightedChoice(choices=(CoolestFirst(), RandomModule()), weights=(1, 1))
    assert policy.needs_heat()
    assert policy.draws
    assert not WeightedChoice().needs_heat()
    assert not WeightedChoice().draws
    assert [term.history_cycles() for term, _ in WeightedChoice().terms()] == [0, 1024]


def test_binds_its_choices():
    policy = WeightedChoice(choices=(LeastWaves(), MostResidual()), weights=(1, 1))
    assert policy.bound(("vgpr", "waves")).choices[0].load_at == 1
    assert policy.bound(NAMES).terms()[0][0].load_at == 2


@pytest.mark.parametrize(
    ("levers", "says"),
    [
        (
            {"weights": (1,)},
            r"weights must be 2 weights, one for each of the choices \(most_residual, .*Nearest: \[1, 1\]",
        ),
        ({"weights": (0, 0)}, r"weights must not all be 0\. Got \[0\.0, 0\.0\]\. Nearest: \[1, 1\]"),
        (
            {"choices": (), "weights": ()},
            r"choices must name at least one choice\. Got \[\]\. Nearest: \[most_residual\]",
        ),
        ({"choices": ["no_such"], "weights": (1,)}, r"choices\[0\]: unknown choice policy 'no_such'"),
        ({"weights": (1, -1)}, r"weights\[1\] must be a number from 0"),
    ],
)
def test_refuses(levers, says):
    with pytest.raises(InputError, match=r"weighted_choice\." + says):
        WeightedChoice(**levers)


def test_says_which_choice_does_not_go_with_the_machine():
    policy = WeightedChoice(
        choices=(WeightedChoice(choices=(MostResidual(weights=(1, 2)),), weights=(1,)),), weights=(1,)
    )
    place = r"policy\.choice\.choices\[0\]\.weighted_choice\.choices\[0\]\.most_residual\.weights must be 5 weights"
    with pytest.raises(InputError, match=place):
        policy.check_resources(NAMES, "policy.choice")


def test_read_from_a_sweep_file():
    given = {"weighted_choice": {"choices": ["least_waves", {"most_residual": {"normalise": True}}], "weights": [1, 2]}}
    policy = read_policy("choice", given)
    assert policy == WeightedChoice(choices=(LeastWaves(), MostResidual(normalise=True)), weights=(1, 2))
