"""H6.1 to H6.8: every claim runs on nodes made tiny, its cases are told apart, and a claim that is wrong fails."""

from __future__ import annotations

import numpy as np
import pytest

from tests.node_families import tiny_regimes
from workbench.claims import node
from workbench.claims.claim import Evidence
from workbench.claims.node import CLAIMS
from workbench.explain.factorial import Effect, Factorial
from workbench.statistics import compare, judge
from workbench.workloads import generators, workload_key

BY_ID = {claim.id: claim for claim in CLAIMS}
SEEDS = 2
CASES = {"H6.1": 3, "H6.1b": 3, "H6.2": 4, "H6.3": 3, "H6.4": 16, "H6.5": 10, "H6.6": 2, "H6.7": 2, "H6.8": 2}
"""Of the families and thresholds that are left below."""


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Evidence:
    """Nodes of two cards of two modules, families of a handful of groups."""
    small = tiny_regimes()
    known = generators.regimes
    for module in (generators, workload_key):
        monkeypatch.setattr(
            module, "regimes", lambda wants="workgroups": small if wants == "applications" else known(wants)
        )
    machine = {"cards": 2, "modules": 2, "left_mib": 4}
    monkeypatch.setattr(node, "MACHINE", machine)
    monkeypatch.setattr(node, "SHORT", machine)
    monkeypatch.setattr(node, "ENOUGH", {**machine, "left_mib": 1024})
    monkeypatch.setattr(node, "FAMILIES", ["gather", "small_kernels"])
    monkeypatch.setattr(node, "COMPUTE", (5_000, 500))
    monkeypatch.setattr(node, "BORROWING", ("gather",))
    monkeypatch.setattr(node, "AT_LEISURE", {**node.AT_LEISURE, "footprint": 1.5})
    monkeypatch.setattr(node, "THRESHOLDS", [16])
    few = {"kernel_groups": 3, "count": 2, "lanes": 2}
    monkeypatch.setattr(node, "CALLING", {**node.CALLING, **few})
    return Evidence(SEEDS, None, 1, None)


def test_every_hypothesis_of_the_specification_has_a_claim_in_order():
    assert [id for id in BY_ID if id != "H6.1b"] == [f"H6.{number}" for number in range(1, 9)]
    assert all(claim.family == "H6" and claim.kind == "tested" for claim in CLAIMS)


@pytest.mark.slow
@pytest.mark.parametrize("id", BY_ID)
def test_every_claim_has_cases_that_are_told_apart(id, tiny):
    claim = BY_ID[id]
    cases = list(claim.parts(tiny))
    whole = claim.judged(cases, len(BY_ID))
    messages = [case.id for case in [*cases, *claim.costs(tiny)]]
    assert len(cases) == CASES[id]
    assert len({(case.id, case.measure) for case in [*cases, *claim.costs(tiny)]}) == len(messages)
    compared = [case for case in cases if not case.note.startswith("not judged: no gain or loss of ")]
    assert len(compared) == (0 if id == "H6.2" else len(cases))  # so few seeds establish no gain of one alone
    assert all(case.n == SEEDS for case in compared) and not any(case.missing for case in cases)
    assert whole.word in ("holds", "holds_where", "undecided", "fails_where", "contradicted")


def test_larger_tlbs_have_the_bits_of_a_directory():
    """Spec 4, V16: 64 records of 41 bits are worth 31 entries of 84 bits."""
    entries = node.machine()["private_entries"]["vary"]
    assert entries == [32 + 64 * (36 + 4 + 1) // 84, 32]


def effect(gains, *factors):
    against = compare(np.zeros(len(gains)), gains, better="higher")
    return Effect("", factors, judge({"": against})[""], np.array(gains, float))


def test_a_mechanism_that_costs_time_contradicts_h6_5(monkeypatch, tiny):
    """A main effect below zero on every seed is a case against; interactions are no part of the verdict."""
    factors = ("directory", "nearest_boundary", "warp_aggregated", "static_priority", "split_and_coalesce")
    noise = np.random.default_rng(1).normal(0, 0.1, 12)
    mains = [effect(5 + noise, one) for one in factors[:4]] + [effect(-5 + noise, factors[4])]
    made = Factorial("makespan_cycles", factors, ("",), tuple(mains))

    class Runs:
        class plan:
            class sweep:
                name = "by hand"

    monkeypatch.setattr(node, "_design", lambda evidence, family: (Runs, made))
    monkeypatch.setattr(node, "FAMILIES", ["gather"])
    cases = list(BY_ID["H6.5"].parts(tiny))
    assert [case.side for case in cases] == ["for"] * 4 + ["against"]
    names = ["translation", "placement", "malloc", "dispatch", "pool"]  # directories and entries step first
    assert [case.id for case in cases] == [f"gather, {name}" for name in names]
    assert BY_ID["H6.5"].judged(cases, 8).word == "fails_where"


def test_an_interaction_beyond_its_margin_is_not_additive(monkeypatch, tiny):
    """Both mechanisms gain 20 each and 60 together: as much beyond the sum as one alone, four times the margin."""
    draws = np.random.default_rng(2)
    makespans = {(0, 0): 1000, (0, 1): 980, (1, 0): 980, (1, 1): 940}

    def by_hand(runs, point, measure):
        return dict(enumerate((makespans[point] + draws.normal(0, 1, 12)).tolist()))

    class Runs:
        seeds = list(range(12))

        class plan:
            class sweep:
                name = "by hand"

    levels = {node.FIRST: 0, node.BOUNDARY: 1, node.NONE: 0, node.DIRECTORY: 1}
    monkeypatch.setattr(node, "_additive_runs", lambda evidence, family, cycles: Runs)
    monkeypatch.setattr(node, "point", lambda runs, placement, locate: (levels[placement], levels[locate]))
    monkeypatch.setattr(node, "by_seed", by_hand)
    case = BY_ID["H6.2"].parts(tiny)[0]
    assert case.estimate == pytest.approx(1, abs=0.1) and case.side == "against"
    makespans[1, 1] = 960
    case = BY_ID["H6.2"].parts(tiny)[0]
    assert case.estimate == pytest.approx(0, abs=0.1) and case.side == "for"
    makespans[1, 0] = 1000
    case = BY_ID["H6.2"].parts(tiny)[0]
    assert (case.n, case.is_tested, case.side) == (0, False, "neither")
    assert case.note == "not judged: no gain or loss of placement alone is established here"
