"""H3.1 to H3.18: every claim runs, counted ones say the specification's figures, and a claim that is wrong fails."""

from __future__ import annotations

import importlib

import pytest

from tests.claims.told_apart import told_apart
from workbench.claims import dispatch, dispatch_choice, dispatch_probes
from workbench.claims.cases import counts
from workbench.claims.claim import Evidence
from workbench.claims.dispatch import CLAIMS
from workbench.claims.dispatch_choice import calibrated_recent, calibrated_residual

BY_ID = {claim.id: claim for claim in CLAIMS}
SEEDS = 3


@pytest.fixture(scope="module")
def evidence():
    return Evidence(SEEDS, None, 1, None)


@pytest.fixture(scope="module")
def short(evidence):
    """Long runs made short: what comes out is not judged here, only that it comes out."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(dispatch.STUCK, "count", 200)
        patched.setitem(dispatch_choice.HISTORY_LONG, "count", 2000)
        patched.setattr(dispatch_choice, "NX", [16, 256, 1024])
        patched.setattr(dispatch, "SHORT", 500)
        patched.setattr(dispatch, "STARVATION_LONG", 1000)
        yield evidence


@pytest.mark.slow
@pytest.mark.parametrize("id", BY_ID)
def test_every_claim_has_cases_that_are_told_apart(id, short):
    told_apart(BY_ID[id], short, SEEDS)


def cases(id, evidence):
    return {case.id: case for case in BY_ID[id].parts(evidence)}


def test_grouping_at_the_demands_of_the_document(evidence):
    """Spec 3, section 4: at half occupancy 8.9e-7 at demand 4, 0.998 at 5; at 60 % occupancy 0.182 at demand 4."""
    result = cases("H3.10", evidence)
    assert result["50 % occupied, demands 1 to 4"].estimate == pytest.approx(8.887e-7, rel=1e-3)
    assert result["50 % occupied, demands 5 to 8"].estimate == pytest.approx(0.998, abs=5e-4)
    assert result["60 % occupied, demands 1 to 4"].estimate == pytest.approx(0.182, abs=5e-4)
    assert [case.side for case in result.values()].count("against") >= 3


def test_sampled_probes_are_chosen_by_their_gates_alone():
    """0.4 took the best of 20 probes after it had seen what each loses."""
    from workbench.claims.dispatch_probes import LONGEST, within_budget

    for budget in (3000, 6000, 12000):
        gates, probe = within_budget(budget)
        assert gates <= budget and max(probe.run_lengths) == LONGEST
    assert within_budget(3000)[0] <= within_budget(12000)[0]


def test_resources_are_weighed_by_what_their_blocks_hold():
    weights = dict(zip(("vgpr", "sgpr"), calibrated_residual()["most_residual"]["weights"], strict=False))
    assert weights["vgpr"] > weights["sgpr"] >= 1


@pytest.mark.slow
def test_a_shared_probe_saves_what_the_document_counts(evidence):
    """Spec 3, section 4: 27.9 % of the chain's gates, at two periods a round."""
    case = cases("H3.12", evidence)
    with_masks = case["the document's 128, 64 and 48 blocks, masks of every shift"]
    assert with_masks.note.startswith("27.9% of the chain's gates saved, -8.4% with the masks")
    assert with_masks.note.endswith("2 periods a round")


def test_probe_timings(evidence, monkeypatch):
    """Spec 3, section 4: 8,128 AND and 8,128 OR gates for 128 blocks."""
    monkeypatch.setattr(dispatch_probes, "HARDWARE_SIZES", (128,))
    case = next(iter(BY_ID["H3.9"].parts(evidence)))
    assert case.id == "N = 128, running chain" and case.note.startswith("16256 gates and 0 registers")
    assert "1 or 3 cycles against 128" in cases("H3.8", evidence)["N = 128"].note


@pytest.mark.slow
def test_circuits_as_synthesised_say_other_things_than_gates_as_written(evidence):
    """The three-cycle form is clocked higher at every size; a shared probe saves area, but against no tree."""
    words = {id: BY_ID[id].judged([*BY_ID[id].parts(evidence)], 1).word for id in ("H3.8c", "H3.9b", "H3.9c", "H3.10c")}
    assert words == {"H3.8c": "holds", "H3.9b": "fails_where", "H3.9c": "holds", "H3.10c": "holds"}
    apart, trees = (cases(id, evidence) for id in ("H3.12c", "H3.12d"))
    assert {case.side for case in apart.values()} == {"for"} and {case.side for case in trees.values()} == {"against"}
    assert apart["64 and 32 and 24 blocks, first crossing"].estimate == pytest.approx(1 - 6075.5 / 7332)


@pytest.mark.slow
def test_three_cycles_are_judged_up_to_the_blocks_of_the_document_where_it_cuts(evidence):
    """Spec 3, section 2: 128 blocks. As synthesised each wire is held once: 128 of the state, 8,256 of the chain."""
    case = cases("H3.9c", evidence)
    assert [*case] == [f"N = {n}, {chain} chain" for chain in ("running", "doubling") for n in (16, 32, 64, 128)]
    largest = case["N = 128, running chain"]
    assert (largest.side, largest.estimate) == ("for", pytest.approx(41 / 31.4))
    assert largest.note == "an area of 18378 against 70372 with 8384 flip-flops; a clock 1.31 times as high"
    assert BY_ID["H3.9c"].verdict_id == "H3.9c-cut-128"
    assert "where the source document cuts" in BY_ID["H3.9c"].statement


@pytest.mark.slow
def test_shared_probes_are_judged_at_the_resources_of_the_document(evidence):
    """Spec 3, section 4: 128, 64 and 48 blocks in two periods; masks of every shift eat most of what is saved."""
    apart, trees = (cases(id, evidence) for id in ("H3.12c", "H3.12d"))
    sets = ("64 and 32", "64 and 32 and 24", "128 and 64", "128 and 64 and 48")
    assert [*apart] == [*trees] == [f"{n} blocks, {m}" for n in sets for m in ("every shift", "first crossing")]
    every, first = (apart[f"128 and 64 and 48 blocks, {masks}"] for masks in ("every shift", "first crossing"))
    assert every.note == "an area of 26403 against 27668; 2 periods a round"
    assert (every.estimate, first.estimate) == (
        pytest.approx(1 - 26403 / 27668.5),
        pytest.approx(1 - 19538.5 / 27668.5),
    )
    assert {case.side for case in apart.values()} == {"for"} and {case.side for case in trees.values()} == {"against"}
    assert apart["128 and 64 blocks, every shift"].note.endswith(
        "one a resource: no bit crosses, and no mask is needed"
    )
    assert [BY_ID[id].verdict_id for id in ("H3.12c", "H3.12d")] == ["H3.12c-128", "H3.12d-128"]


@pytest.mark.parametrize("id", ["H3.9c", pytest.param("H3.12c", marks=pytest.mark.slow)])
def test_another_synthesiser_is_not_kept_busy_for_what_the_package_knows(id, evidence, monkeypatch):
    """It took a quarter of an hour, and gave figures of its own."""
    monkeypatch.setattr(dispatch_probes, "CIRCUIT_SIZES", (16, 32))
    counts.cache_clear()
    room = importlib.import_module("workbench.circuits.synthesis")
    monkeypatch.setattr(room, "_installed", lambda: "yosys")
    monkeypatch.setattr(room, "synthesised_here", lambda circuit, seconds: pytest.fail(f"{circuit.name} anew"))
    assert {case.side for case in BY_ID[id].parts(evidence)} == {"for"}


def test_a_sampled_probe_is_chosen_by_its_area_alone():
    from workbench.claims.cases import area
    from workbench.claims.dispatch_probes import within_area
    from workbench.policies.probes import GroupedRun

    grouped = area((GroupedRun(groups=32), 128))
    assert area((within_area(grouped, 128), 128)) <= grouped
    assert len(within_area(4 * grouped, 128).run_lengths) > len(within_area(grouped, 128).run_lengths)


def test_the_more_channels_the_more_reports_are_saved(evidence):
    saved = [case.estimate for case in BY_ID["H3.2"].parts(evidence)]
    assert saved == sorted(saved)
    assert saved[0] == pytest.approx(1 / 2, abs=0.05)


@pytest.mark.slow
def test_a_claim_that_is_wrong_fails(monkeypatch):
    """Plain random in the place of the marks: it serves less evenly, and waits longer than 2c - 1 services."""
    monkeypatch.setattr(dispatch, "FAIR", {"vary": ["served_marks", "plain_random"]})
    monkeypatch.setattr(dispatch, "CHANNELS", [4])
    result = list(BY_ID["H3.3"].parts(Evidence(8, None, 1, None)))
    assert BY_ID["H3.3"].judged(result, 1).word in ("fails_where", "contradicted")
    assert result[1].side == "against" and result[0].estimate < 0


def test_windows_are_compared_with_static_priority_apart_from_how_both_grow(short):
    """The growth follows from the load, which never lets a static priority come to the lowest."""
    compared, grown = cases("H3.5", short), cases("H3.5b", short)
    waits = ("wait_p99_cycles[4]", "wait_max_cycles[4]")
    assert [*compared] == [f"windows against static, {wait}" for wait in waits]
    assert [*grown] == [f"{name}, {wait}" for wait in waits for name in ("windows", "static")]
    assert [BY_ID[id].kind for id in ("H3.5", "H3.5b")] == ["tested", "by_construction"]


def test_the_slowest_urgent_groups_are_judged_with_the_mean(evidence):
    """A mean of 1.18 times hid what the slowest of one hundred urgent groups wait."""
    urgent = [id for id in cases("H3.1", evidence) if id.endswith("[1]")]
    assert urgent == [
        f"{name}, {wait}"
        for name in dispatch.MATCHING_WORKLOADS
        for wait in ("wait_mean_cycles[1]", "wait_p99_cycles[1]")
    ]


def test_most_residual_is_judged_by_one_measure_a_load(evidence):
    """Which of several measures tells was open before, so that one of them was bound to."""
    assert [*cases("H3.14", evidence)] == [
        "load 0.5, utilisation_cv_over_time",
        "load 0.9, utilisation_cv_over_time",
        "all queued, groups_per_kilocycle",
    ]
    assert len(list(BY_ID["H3.14"].costs(evidence))) == len(dispatch_choice.LOADS)


def test_calibrated_weights_have_the_ratios_of_the_power_model():
    weights = calibrated_recent()["least_recent_energy"]["weights"]
    assert weights[3] / weights[0] == pytest.approx(10_290 / 306)
    assert min(weights) == 1


def test_a_mixture_of_nothing_is_what_is_left_alone():
    assert dispatch_choice.mixture(0.25)["weighted_choice"]["weights"] == [0.75, 0.25]
