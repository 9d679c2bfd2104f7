"""H2.1 to H2.11: every claim runs, counted ones say the specification's figures, and a claim that is wrong fails."""

from __future__ import annotations

import pytest

from tests.claims.told_apart import told_apart
from tests.slow import thinned
from workbench.claims import malloc
from workbench.claims.claim import Evidence
from workbench.claims.malloc import CLAIMS

BY_ID = {claim.id: claim for claim in CLAIMS}
SEEDS = 3


@pytest.fixture(scope="module")
def evidence():
    """Loads made small: what comes out of them is judged only where it is exact."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(malloc.CHANGED, "threads", 96)
        patched.setattr(malloc, "THREADS", [1, 2, 8, 60, 1000])
        yield Evidence(SEEDS, None, 1, None)


def test_all_eleven_are_there():
    assert list(BY_ID) == [f"H2.{k}" for k in range(1, 12)]


@pytest.mark.parametrize("id", thinned([*BY_ID], 6))
def test_every_claim_has_cases_that_are_told_apart(id, evidence):
    assert all(case.results for case in told_apart(BY_ID[id], evidence, SEEDS))


@pytest.mark.parametrize("id", ["H2.1", "H2.5", "H2.6"])
def test_exact_ones_hold(id, evidence):
    assert {case.side for case in BY_ID[id].parts(evidence)} == {"for"}


def test_the_share_of_atomics_is_counted_where_it_is_not_as_stated(monkeypatch):
    """It was 1/32 whatever was counted. Lanes of a warp share an addition to one word, so both take two atomics."""
    monkeypatch.setattr(malloc, "THREADS", [64])
    words = {"policy.heap": "atomic_pointer", "policy.lock": "word_by_word"}
    (stated,), (other,) = ([*BY_ID["H2.1"].parts(Evidence(1, None, 1, None, levers=levers))] for levers in ({}, words))
    assert (stated.side, stated.estimate, stated.note) == ("for", 1 / 32, "2 atomics against 64: 1/32 of them")
    assert (other.side, other.estimate, other.note) == ("against", 1.0, "2 atomics against 2: 1/1 of them")


def test_it_is_true_by_construction_that_any_lane_may_lead(evidence):
    """All lanes of a request call at one moment and are of one warp, so that every run is the same run."""
    assert BY_ID["H2.8"].kind == "by_construction"
    cases = [*BY_ID["H2.8"].parts(evidence)]
    assert {case.estimate for case in cases} == {1.0} and {case.n for case in cases} == {SEEDS}


def test_aggregation_pays_from_two_lanes_on(evidence):
    for case in BY_ID["H2.4"].costs(evidence):
        assert (case.side, case.estimate) == ("for", 2.0), case.note


def test_overlap_saves_what_the_specification_says(evidence):
    (case,) = BY_ID["H2.5"].parts(evidence)
    assert case.estimate == (malloc.WARPS - 1) * malloc.SPLIT


def test_a_claim_that_is_wrong_fails(evidence, monkeypatch):
    """Equal sizes among those that must differ: the written rule does not break there."""
    monkeypatch.setattr(malloc, "UNEQUAL", ["2 B"])
    cases = BY_ID["H2.6"].parts(evidence)
    assert [case.side for case in cases if case.id == "as_written, 2 B"] == ["against"]
