"""Least recent activity against its contract, its twin and least recent energy (spec 6, R16)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.node import policies as slow
from tests.slow import examples
from workbench.errors import InputError
from workbench.policies.dispatch.choice import LeastRecentActivity, LeastRecentEnergy
from workbench.policies.dispatch.choice.contract import ChoiceContract

WEIGHTS = (1, 4, 4, 16, 1, 2, 3, 5)
counts = st.lists(st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=1, max_size=6)


class TestLeastRecentActivity(ChoiceContract):
    policy = LeastRecentActivity()


class TestWaitsAlone(ChoiceContract):
    policy = LeastRecentActivity(weights=(0, 0, 0, 0, 0, 0, 1, 2))


@given(counts)
def test_it_chooses_what_the_twin_chooses(rows):
    energies = [float(sum(w * n for w, n in zip(WEIGHTS, row, strict=True))) for row in rows]
    candidates = [slow.Candidate(m, 0, (0, 0, 0, 0), energy, 0) for m, energy in enumerate(energies)]
    assert LeastRecentActivity(weights=WEIGHTS).choose(rows) == slow.least_energy(candidates)


@examples(8, 300)
@given(counts)
def test_without_weights_of_waits_it_is_least_recent_energy(rows):
    six = [row[:6] for row in rows]
    assert LeastRecentActivity(weights=(*WEIGHTS[:6], 0, 0)).scores(rows) == LeastRecentEnergy(
        weights=WEIGHTS[:6]
    ).scores(six)


def test_six_counts_are_those_of_modules_where_nothing_waited():
    six, eight = [[3, 1, 0, 2, 5, 1]], [[3, 1, 0, 2, 5, 1, 0, 0]]
    assert LeastRecentActivity().scores(six) == LeastRecentActivity().scores(eight)


def test_only_candidates_are_scored():
    assert LeastRecentActivity().choose([[0] * 8, [1] * 8, [2] * 8], modules=[1, 2]) == 1


@pytest.mark.parametrize("rows", [[], [[1] * 5], [[1] * 8, [1] * 6], [[1] * 7 + [1 << 63]]])
def test_refuses_rows_that_are_not_counts_of_all_classes(rows):
    with pytest.raises(InputError, match=r"^(recent must h(ave|old)|choose needs)"):
        LeastRecentActivity().scores(rows)


def test_refuses_other_than_eight_weights():
    with pytest.raises(
        InputError, match=r"least_recent_activity\.weights must be 8 weights, one for each class \(move,"
    ):
        LeastRecentActivity(weights=(1,) * 6)
