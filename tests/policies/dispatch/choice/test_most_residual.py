"""Most residual against its contract, the vectors V32 and V33, and its slow twin (spec 3, R69-R72)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_choice as slow
from tests.policies.dispatch.choice.together import NAMES, assert_same_scores, scenes, scored, told
from workbench.errors import InputError
from workbench.policies.dispatch.choice import MostResidual
from workbench.policies.dispatch.choice.contract import ChoiceContract

WEIGHTS = st.just(()) | st.lists(st.floats(0, 1e6), min_size=5, max_size=5).filter(any).map(tuple)


class TestMostResidual(ChoiceContract):
    policy = MostResidual()


class TestCalibrated(ChoiceContract):
    policy = MostResidual(weights=(3, 1, 0.5, 2, 0), normalise=True)


class TestLongest(ChoiceContract):
    policy = MostResidual(of="longest", weights=(1, 2), normalise=True)
    names = ("vgpr", "waves")


@given(scenes, WEIGHTS, st.booleans(), st.sampled_from(["free", "longest"]))
def test_scores_as_its_twin(shown, weights, normalise, of):
    result = scored(MostResidual(weights=weights, normalise=normalise, of=of), shown)
    totals, each = shown.totals.tolist(), weights or (1,) * 5
    assert_same_scores(result, [slow.residual(m, totals, each, normalise, of) for m in told(shown)])


V32 = [(10, 20, 8, 4), (12, 10, 16, 3), (10, 20, 8, 4)]


def test_v32_scores_and_tie():
    policy = MostResidual(weights=(3, 1, 0.5, 2))
    assert policy.scores(V32) == [62, 60, 62]
    assert policy.choose(V32) == 0
    assert policy.choose(V32, modules=(1, 2)) == 2
    assert policy.choose(V32[:2]) == 0
    assert MostResidual(weights=(3, 1, 0.5, 2), normalise=False).choose(V32[:2]) == 0


def test_v33_raw_sums_follow_the_large_counts():
    rows, totals = [(100, 40, 40, 1), (80, 40, 40, 9)], (128, 64, 48, 10)
    assert MostResidual().scores(rows) == [181, 169]
    assert MostResidual().choose(rows) == 0
    shares = MostResidual(normalise=True)
    assert [round(score, 3) for score in shares.scores(rows, totals=totals)] == [2.340, 2.983]
    assert shares.choose(rows, totals=totals) == 1


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (
            (1, 2),
            r"must be 5 weights, one for each resource \(vgpr, .*\)\. Got \[1\.0, 2\.0\]\. Nearest: \[1, 2, 1, 1, 1\]",
        ),
        ((1, 2, 3, 4, 5, 6), r"must be 5 weights.* Nearest: \[1, 2, 3, 4, 5\]\."),
        ((0, 0, 0, 0, 0, 6), r"must be 5 weights.* Nearest: \[1, 1, 1, 1, 1\]\."),
    ],
)
def test_weights_of_the_wrong_length(weights, says):
    with pytest.raises(InputError, match=r"^a\.yaml: policy\.choice\.most_residual\.weights " + says):
        MostResidual(weights=weights).check_resources(NAMES, "policy.choice.most_residual", "a.yaml")
    with pytest.raises(InputError, match=r"most_residual\.weights must be 5 weights"):
        MostResidual(weights=weights).choose([(1, 2, 3, 4, 5)])


def test_weights_that_weigh_nothing():
    with pytest.raises(
        InputError, match=r"most_residual\.weights must not all be 0\. Got \[0\.0, 0\.0\]\. Nearest: \[1, 1\]"
    ):
        MostResidual(weights=(0, 0))
    with pytest.raises(InputError, match=r"most_residual\.weights\[1\] must be a number from 0"):
        MostResidual(weights=(1, -1))


def test_asked_wrongly():
    with pytest.raises(InputError, match=r"divides by totals; give choose the blocks of each resource"):
        MostResidual(normalise=True).choose([(1, 2)])
    with pytest.raises(InputError, match=r"at least one module"):
        MostResidual().choose([])
    with pytest.raises(InputError, match=r"one row a module, all of one length\. Got rows of \[1, 2\]"):
        MostResidual().choose([(1,), (1, 2)])
    with pytest.raises(InputError, match=r"unknown thing that a choice is shown 'total'; .* Did you mean totals\?"):
        MostResidual().choose([(1,)], total=(3,))
