"""H5.1 to H5.11: every claim runs, what must hold of the definitions does, and a claim that is wrong fails."""

from __future__ import annotations

import pytest

from tests.claims.told_apart import told_apart
from tests.slow import thinned
from workbench.claims import pool
from workbench.claims.cases import point
from workbench.claims.claim import Evidence
from workbench.claims.pool import CLAIMS

BY_ID = {claim.id: claim for claim in CLAIMS}
SEEDS = 3


@pytest.fixture(scope="module")
def short():
    """Jobs made few: what comes out is not judged here, only that it comes out."""
    with pytest.MonkeyPatch.context() as patched:
        for workload in (pool.BUSY, pool.SKEWED):
            patched.setitem(workload, "jobs", 25)
        patched.setitem(pool.FITS, "iterations", 2)
        patched.setattr(pool, "EVERY", ("local_only", "max_bandwidth", "round_robin"))
        for name, few in (("CLIENTS", (1, 2)), ("BLOCKS", SEEDS), ("ALLOCATIONS", 20)):
            patched.setattr(pool, name, few)
        yield Evidence(SEEDS, None, 1, None)


def cases(id, evidence):
    return {case.id: case for case in BY_ID[id].parts(evidence)}


def test_every_hypothesis_of_the_specification_has_a_claim():
    assert [id for id in BY_ID if not id.endswith("b")] == [f"H5.{number}" for number in range(1, 12)]


REAL = [pytest.param(id, marks=pytest.mark.slow) if claim.on_real_service else id for id, claim in BY_ID.items()]
"""The service and its clients as processes take seconds to start."""


@pytest.mark.slow
@pytest.mark.parametrize("id", thinned(REAL, 99))
def test_every_claim_has_cases_that_are_told_apart(id, short):
    told_apart(BY_ID[id], short, SEEDS)


def test_a_full_card_borrows_all_that_it_lacks(short):
    """Spec 5, H5.1: completion is 1 with borrowing, and less without wherever GPU 0 asks for more than it has."""
    assert [case.side for case in cases("H5.1", short).values()] == ["for"] * 3
    result = cases("H5.1b", short)
    assert result["footprint 3, completed_rate"].estimate > result["footprint 2, completed_rate"].estimate > 0


@pytest.mark.slow
def test_without_a_cache_every_request_is_a_driver_call(short):
    result = cases("H5.3", short)
    for workload in (pool.BUSY, pool.FITS):
        regime = workload["regime"]
        caches = {"vary": ["no_cache", "split_and_coalesce"]}
        runs = short.runs(f"pool_cache_{regime}", pool.experiment(workload, cache=caches))
        assert set(runs.values(point(runs, cache="no_cache"), "driver_calls_per_request").values()) == {1}
        case = result[f"{regime}, driver_calls_per_request"]
        assert 0 < case.estimate < 1


@pytest.mark.slow
def test_whole_blocks_keep_the_limit_to_the_byte(short):
    """Spec 5, R29, E5, E7: what is never split goes back whole, so that no card keeps more than the limit."""
    result = cases("H5.8", short)
    for limit in pool.LIMITS:
        case = result[f"whole blocks, {limit >> 20} MiB"]
        assert case.side == "for" and case.estimate <= limit


@pytest.mark.slow
def test_eight_clients_wait_longer_than_one(short):
    results = [*cases("H5.11", short).values()]
    assert results[0].estimate > results[1].estimate > 1


@pytest.mark.slow
def test_a_claim_that_is_wrong_fails(monkeypatch):
    """A lender that lends nothing, and the most free card in the place of the one with the fastest link."""
    monkeypatch.setattr(pool, "BORROWING_LENDING", "local_only")
    monkeypatch.setattr(pool, "BORROWING_ALONE", "max_bandwidth")
    monkeypatch.setattr(pool, "FOOTPRINTS", (2.0,))
    evidence = Evidence(9, None, 1, None)
    assert BY_ID["H5.1"].judged([*BY_ID["H5.1"].parts(evidence)], 1).word == "contradicted"
    (fewer,) = BY_ID["H5.1b"].parts(evidence)
    assert fewer.estimate < 0
    monkeypatch.setattr(pool, "FAST", "most_free")
    monkeypatch.setattr(pool, "TARGET_RIVALS", ("max_bandwidth",))
    assert "against" in {case.side for case in BY_ID["H5.5"].parts(Evidence(8, None, 1, None))}
