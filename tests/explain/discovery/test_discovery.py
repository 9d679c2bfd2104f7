"""Scenario discovery on the points of a sweep: planted boxes come back, noise has none, and both are said so."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import workbench as wb
from tests.explain.discovery.made_up import SWEEP, runs_of
from workbench.errors import InputError
from workbench.explain.discovery import Interest, cases_of, discover
from workbench.explain.discovery.cases import column
from workbench.explain.discovery.prim import peel
from workbench.explain.discovery.scenario import clearest, corrected
from workbench.explain.discovery.sentences import sentence

search = importlib.import_module("workbench.explain.discovery.scenario")


@pytest.fixture(autouse=True)
def _few_shuffles(monkeypatch):
    monkeypatch.setattr(search, "SHUFFLES", 79)


def planted(point):
    law = point.setup.workload.size.name
    return point.setup.machine.segments >= 256 and point.setup.workload.count <= 300 and law != "uniform"


@pytest.mark.slow
def test_a_planted_box_comes_back_with_its_categories_and_nothing_else():
    found = discover(runs_of(planted))
    (one,) = found.scenarios
    assert (one.box.coverage, one.box.density, one.p_value) == (1, 1, 1 / 80)
    limits = {row["lever"]: (row["side"], row["value"]) for row in found.boxes.to_dict("records")}
    assert limits == {
        "machine.segments": (">=", 256),
        "workload.count": ("<=", 300),
        "workload.size": ("in", "constant(4), constant(8)"),
    }
    inside = found.cases[found.cases["inside"]]
    assert len(inside) == 12
    assert inside["hit"].all()


@pytest.mark.slow
def test_two_planted_boxes_come_back_one_after_the_other():
    def corners(point):
        segments, count = point.setup.machine.segments, point.setup.workload.count
        return (segments >= 512 and count >= 300) or (segments <= 128 and count <= 100)

    found = discover(runs_of(corners), boxes=3)
    assert [one.is_box for one in found.scenarios] == [True, True]
    assert [one.box.density for one in found.scenarios] == [1, 1]
    assert [one.box.size for one in found.scenarios] == [9, 6]
    assert "of the losses outside of the box above" in found.sentences()[1]


@pytest.mark.slow
def test_scattered_losses_have_no_box_and_the_sentence_says_so():
    draws = np.random.default_rng(4)
    scattered = {}
    found = discover(runs_of(lambda point: scattered.setdefault(point.id, draws.random() < 0.4)))
    (one,) = found.scenarios
    assert not one.is_box
    assert one.p_value > 0.05
    assert len(found.boxes) == 0
    assert "no box is better than that base rate: undecided" in found.sentences()[0]


@pytest.mark.parametrize(("loses", "words"), [(True, "at all 60 points"), (False, "at none of 60 points")])
def test_where_all_points_or_none_are_losses_there_is_nothing_to_search(loses, words):
    assert words in discover(runs_of(lambda point: loses)).sentences()[0]


@pytest.mark.slow
def test_false_alarms_of_a_search_in_noise_are_as_rare_as_promised():
    draws, alarms = np.random.default_rng(0), 0
    for _ in range(40):
        columns = tuple(column(name, draws.random(40).tolist()) for name in "ab")
        hit = draws.permutation(np.arange(40) < 12)
        alarms += search.p_by_chance(columns, hit, clearest(peel(columns, hit)).contrast, 39) < 0.05
    assert alarms <= 6  # 2 are expected; more than 6 have a chance of 0.4 %


@pytest.mark.slow
def test_the_same_runs_give_the_same_words_and_lines_fit():
    first, again = (discover(runs_of(planted)) for _ in range(2))
    assert first.sentences() == again.sentences()
    text = sentence(first.scenarios[0])
    assert max(map(len, text.splitlines())) <= 80
    assert text.split("\n")[0].startswith("nearest_boundary loses in drain_cycles where segments >= 256")
    assert "100 % of the losses" in first.sentences()[0]


def test_wins_are_what_is_neither_lost_nor_tied_and_thresholds_need_no_baseline():
    def tied(point):
        return point.setup.machine.segments == 64

    runs = runs_of(planted, gain=0.0)
    assert not cases_of(runs, "drain_cycles", Interest("win"))[0].hit.any()
    assert not cases_of(runs, "drain_cycles", Interest("lose"))[0].hit.any()
    above = cases_of(runs_of(tied), "drain_cycles", Interest("above", 1005.0))
    assert {cases.policy: int(cases.hit.sum()) for cases in above} == {"first_fit": 0, "nearest_boundary": 15}


def test_only_decided_losses_count_when_they_must_be_clear():
    runs = runs_of(planted)
    assert not cases_of(runs, "drain_cycles", Interest("lose", clear=True))[0].hit.any()  # two seeds decide nothing
    clear = cases_of(runs_of(planted, {**SWEEP, "seeds": 12}), "drain_cycles", Interest("lose", clear=True))[0]
    assert (clear.hit == (clear.value < 0)).all()


def test_points_without_a_value_are_left_out_and_counted():
    found = discover(runs_of(planted, failing=lambda point: point.setup.workload.count == 500))
    assert found.scenarios[0].cases.left_out == 12
    assert found.sentences()[0].endswith("12 points had no value.")


@pytest.mark.slow
def test_the_largest_box_of_a_density_can_be_asked_for():
    draws = np.random.default_rng(1)
    noisy = {}
    runs = runs_of(lambda p: noisy.setdefault(p.id, draws.random() < (0.8 if planted(p) else 0.1)))
    wide, dense = discover(runs), discover(runs, density=0.9)
    densest = max(box.density for box in wide.scenarios[0].trajectory)
    assert dense.scenarios[0].box.density >= min(0.9, densest)
    assert dense.scenarios[0].box.density > wide.scenarios[0].box.density
    assert dense.scenarios[0].box.coverage <= wide.scenarios[0].box.coverage


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"win": True, "above": 1.0}, "one of win, above and below. Got win and above"),
        ({"above": float("nan")}, "above must be a finite number. Got nan"),
        ({"above": 3.0, "clear": True}, "clear is about losses and wins"),
        ({"measure": "drain"}, "unknown measure 'drain'"),
        ({"density": 1.5}, "density must be above 0 and at most 1. Got 1.5"),
        ({"boxes": 0}, "boxes must be at least 1. Got 0"),
    ],
)
def test_a_wrong_choice_is_refused_in_a_sentence(choices, words):
    with pytest.raises(InputError, match=words):
        wb.Results(runs_of(planted).plan, runs_of(planted).rows.values()).discover(**choices)


def test_a_sweep_that_cannot_be_searched_is_refused_before_anything_runs(tmp_path):
    few = {**SWEEP, "machine": {"segments": 64}, "workload": "large_uniform"}
    with pytest.raises(InputError, match=r"20 points at least\. Got 2; vary more levers"):
        wb.discover(few, tmp_path / "kept")
    without = {key: value for key, value in SWEEP.items() if key != "baseline"}
    with pytest.raises(InputError, match="no point has a baseline to lose against"):
        wb.discover(without, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_boxes_of_all_policies_are_corrected_together():
    """One search in three of nothing passes 5 % by luck once in seven times."""
    cases = discover(runs_of(planted)).scenarios[0]
    p_values = {"a": 0.02, "b": 0.03, "c": 0.5}
    made = [cases._replace(cases=cases.cases._replace(policy=name), p_value=p) for name, p in p_values.items()]
    result = corrected(made)
    assert [one.p_adjusted for one in result] == pytest.approx([0.06, 0.06, 0.5])
    assert not any(one.is_box for one in result)
    words = "p 0.02 alone: yes; 0.06 after correction over all policies and boxes: no"
    assert words in sentence(result[0], 10_000)
    surely = corrected([made[0]._replace(p_value=0.005), *made[1:]])
    assert [one.is_box for one in surely] == [True, False, False] and surely[0].p_adjusted == pytest.approx(0.015)


def test_a_second_box_beside_one_that_is_none_is_none():
    one = discover(runs_of(planted)).scenarios[0]
    assert [each.number for each in corrected([one._replace(p_value=0.04), one._replace(number=2, p_value=0.04)])] == [
        1
    ]
