"""H7.1 to H7.3: every claim runs, what it is about is decided before a rule runs, and a planted reversal turns it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.claims.told_apart import told_apart
from workbench.claims import between
from workbench.claims.between import CLAIMS, can_be_co_resident, turned, winner_changed
from workbench.claims.claim import Evidence
from workbench.machine import Machine
from workbench.workloads.workload import Groups

BY_ID = {claim.id: claim for claim in CLAIMS}
SEEDS = 12
CASES = {"H7.1": 8, "H7.2": 1, "H7.3": 1}
"""Of the sets, rules and laws that are left below."""


@pytest.fixture(scope="module")
def short():
    """One law of sets, one rule, one law of rates, two short mixes of three choices."""
    with pytest.MonkeyPatch.context() as patched:
        levers, measure = between.MIXES["mixed, queued"]
        few = {name: ({**levers, "count": 60, **more}, measure) for name, more in (("a", {}), ("b", {"channels": 2}))}
        patched.setattr(between, "MIXES", few)
        patched.setattr(between, "SETS", {"few": {"count": 20, "shared_segments": 0}})
        patched.setattr(between, "RULES", {"exclusive": between.RULES["exclusive"]})
        patched.setattr(between, "LAWS", {"linear": between.LAWS["linear 0.1 of groups"]})
        yield Evidence(SEEDS, None, 1, None)


@pytest.mark.parametrize("id", BY_ID)
def test_every_claim_has_cases_that_are_told_apart(id, short):
    cases = told_apart(BY_ID[id], short, SEEDS)
    assert len(cases) == CASES[id]
    assert all(case.n + case.missing == SEEDS and case.interval is not None for case in cases)


def test_the_share_of_hangs_is_shown_with_its_interval_and_decides_nothing(short):
    shares = list(BY_ID["H7.1"].costs(short))
    assert [case.id for case in shares] == [f"few, {choice}" for choice in between.CHOICES]
    assert all(case.side == "neither" and not case.is_tested for case in shares)
    assert all(0 <= case.interval.low <= case.estimate <= case.interval.high <= 1 for case in shares)


def set_of(waves: list[int]) -> Groups:
    each = np.array(waves)
    zeros = np.zeros(each.size, np.int64)
    return Groups(zeros, zeros, zeros + 1, each, zeros > 0, zeros + 1, {}, np.zeros((each.size, 6), np.int64))


@pytest.mark.parametrize(
    ("waves", "able"),
    [([2, 3, 3, 2, 3, 3], True), ([5, 5, 5], False), ([6, 2, 2, 6], True), ([8, 8], True), ([8, 8, 1], False)],
)
def test_a_set_can_be_co_resident_if_first_fit_decreasing_places_it(waves, able):
    """Two modules of eight wave slots."""
    machine = Machine.read({"compute_units": 2, "simds_a_unit": 1, "waves_a_unit": 8, "sgprs_a_unit": 0})
    assert can_be_co_resident(set_of(waves), machine) == able


def test_a_module_has_one_unit_where_placements_are_counted():
    assert Machine.read(between.UNITS_ALIKE).simds_a_unit == 1


def test_sets_that_cannot_be_co_resident_are_left_out(monkeypatch):
    """Of 60 groups no set can; each hangs under every choice, and none is counted."""
    monkeypatch.setattr(between, "SETS", {"full": {"count": 60, "shared_segments": 0}})
    cases = list(BY_ID["H7.1"].parts(Evidence(3, None, 1, None)))
    assert {(case.n, case.missing, case.side) for case in cases} == {(0, 3, "neither")}


def test_spreading_in_the_place_of_packing_turns_the_verdict(monkeypatch):
    """The sets are those of which the pilot saw choices that hang and others that do not."""
    monkeypatch.setattr(between, "SETS", {"few": {"count": 28, "shared_segments": 0}})
    monkeypatch.setattr(between, "CHOICES", ["first_module", "least_waves"])
    evidence = Evidence(200, None, 1, None, 100)
    sides = {}
    for packing, spreading in (("first_module", "least_waves"), ("least_waves", "first_module")):
        monkeypatch.setattr(between, "PACKING", (packing,))
        monkeypatch.setattr(between, "SPREADING", (spreading,))
        cases = list(BY_ID["H7.1"].parts(evidence))
        sides[packing] = BY_ID["H7.1"].judged(cases, 1).word
    assert sides == {"first_module": "holds", "least_waves": "contradicted"}


UP, DOWN, NONE, MIXED = (np.array(signs, float) for signs in ([1] * 20, [-1] * 20, [0] * 20, [1, -1] * 10))


@pytest.mark.parametrize(
    ("before", "after", "seen", "says"),
    [
        (UP, DOWN, True, "yes"),
        (DOWN, UP, True, "yes"),
        (UP, UP, False, "no"),
        (NONE, DOWN, False, "no"),
        (UP, NONE, False, "no"),
        (UP, MIXED, False, "open"),
        (MIXED, MIXED, False, "open"),
    ],
)
def test_a_sign_turns_where_both_signs_are_established(before, after, seen, says):
    cell = turned("here", before, after)
    assert (cell.seen, cell.p_yes < 1e-4, cell.p_no < 1e-4) == (seen, says == "yes", says == "no")


def mix(*values: float) -> list[dict[int, float]]:
    return [{seed: value + seed / 100 for seed in range(40)} for value in values]


@pytest.mark.parametrize(
    ("after", "seen", "says", "named"),
    [
        ((2, 1, 3), True, "yes", "a, then b in here"),
        ((1, 2, 3), False, "no", "a in here"),
        ((1, 1, 3), False, "no", "a in here"),
        ((np.inf, 1, 3), True, "yes", "a, then b in here"),
    ],
)
def test_a_winner_changes_where_each_beats_the_other_on_its_side(after, seen, says, named):
    cell = winner_changed("here", mix(1, 2, 3), mix(*after), "abc")
    assert cell.name == named
    assert (cell.seen, cell.p_yes < 1e-4, cell.p_no < 1e-4) == (seen, says == "yes", says == "no")


def test_the_seeds_that_choose_a_winner_do_not_judge_it():
    """Afterwards the second choice is far ahead at even seeds, which choose, and behind at odd ones, which judge."""
    after = [dict.fromkeys(range(40), 1.0), {seed: 2.0 * (seed % 2) for seed in range(40)}]
    cell = winner_changed("here", mix(1, 2), after, "ab")
    assert (cell.name, cell.seen, cell.p_yes) == ("a, then b in here", False, 1.0)


@pytest.mark.parametrize(("rule", "word"), [("turns", "holds"), ("stays", "contradicted")])
def test_a_planted_reversal_turns_the_verdict_on_signs_and_winners(monkeypatch, rule, word):
    """The runs of a rule are those of the neutral answer, with the choices in the reverse order where it turns."""
    mixes = {"a": mix(1, 2, 3), "b": mix(3, 1, 2)}
    after = {name: values[::-1] for name, values in mixes.items()} if rule == "turns" else mixes

    class Runs:
        seeds = range(40)

    monkeypatch.setattr(between, "CHOICES", ["x", "y", "z"])
    monkeypatch.setattr(between, "MIXES", mixes)
    monkeypatch.setattr(between, "RULES", {"rule": {}})
    monkeypatch.setattr(between, "LAWS", {"law": {}})
    monkeypatch.setattr(
        between, "_mixes", lambda evidence, name, changed: (Runs, mixes if name == "neutral" else after)
    )
    monkeypatch.setattr(between, "of", lambda runs, case, measure, unit: case._replace(measure=measure, unit=unit))
    for id in ("H7.2", "H7.3"):
        cases = list(BY_ID[id].parts(Evidence(40, None, 1, None)))
        assert BY_ID[id].judged(cases, len(CLAIMS)).word == word
        assert cases[0].estimate == (0 if rule == "stays" else pytest.approx(2 / 3 if id == "H7.2" else 1 / 2))
