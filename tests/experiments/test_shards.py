"""Shards: each a part of the plan, all together the whole; folders that are one shard's alone."""

from __future__ import annotations

import itertools

import pytest
import yaml

import workbench as wb
from workbench.dashboards._saved_sweep import read_saved
from workbench.errors import InputError, StoreError
from workbench.experiments import plan as module
from workbench.experiments.plan import make_plan
from workbench.experiments.setups import read_setup
from workbench.experiments.shards import Shard, dealt, read_shard
from workbench.experiments.sweep import read_sweep

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": {"vary": [20, 30, 40]}},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "worst_fit"},
    "measures": ["drain_cycles"],
    "seeds": 5,
}
DESIGNS = {
    "grid": SWEEP,
    "zipped": {
        **SWEEP,
        "workload": {"regime": "large_uniform", "count": {"vary": [20, 30, 40], "zip": "z"}},
        "machine": {"segments": {"vary": [64, 96, 128], "zip": "z"}},
    },
    "policy and workload zipped": {
        **SWEEP,
        "workload": {"regime": "large_uniform", "count": {"vary": [20, 20], "zip": "z"}},
        "policy": {"placement": {"vary": ["first_fit", "best_fit"], "zip": "z"}},
    },
    **{
        name: {
            **SWEEP,
            "machine": {"segments": {"vary": {"from": 64, "to": 128}}},
            "design": {name: {"points": 8}},
        }
        for name in ("random", "latin_hypercube", "sobol")
    },
    "no baseline": {key: value for key, value in SWEEP.items() if key != "baseline"},
    "repeated": {**SWEEP, "workload": {"regime": "large_uniform", "count": {"vary": [20, 30, 20]}}},
}


def whole(sweep):
    return make_plan(read_sweep(sweep))


def part(sweep, number, of):
    return make_plan(read_sweep(sweep), shard=Shard(number, of))


@pytest.mark.parametrize("of", [1, 2, 4, 7])
@pytest.mark.parametrize("name", DESIGNS)
def test_shards_have_every_run_of_the_whole_plan_with_the_same_coordinates(name, of):
    plan, parts = whole(DESIGNS[name]), [part(DESIGNS[name], k, of) for k in range(1, of + 1)]
    runs = {run.id: run for run in plan.runs()}
    for one in parts:
        assert [run.id for run in one.runs()] == one.ids
        assert len(one) == len(one.ids)
        assert all((run.point, run.seed) == (runs[run.id].point, runs[run.id].seed) for run in one.runs())
    ids = [run for one in parts for run in one.ids]
    assert {*ids} == {*plan.ids}
    if name not in ("repeated", "policy and workload zipped"):
        assert len(ids) == len(plan)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_places_of_points_order_them_as_the_whole_plan_does(name):
    parts = [part(DESIGNS[name], k, 3).part.places for k in (1, 2, 3)]
    places = {}
    for id, place in itertools.chain(*(one.items() for one in parts)):
        places[id] = min(place, places.get(id, place))
    assert sorted(places, key=places.get) == [point.id for point in whole(DESIGNS[name]).points]


@pytest.mark.parametrize(("name", "of"), [("grid", 2), ("grid", 5), ("grid", 15), ("policy and workload zipped", 3)])
def test_a_comparison_is_of_one_shard_at_each_seed(name, of):
    for number in range(1, of + 1):
        plan = part(DESIGNS[name], number, of)
        there = {(run.point.id, run.seed) for run in plan.runs()}
        assert all((run.point.baseline or run.point.id, run.seed) in there for run in plan.runs())


@pytest.mark.parametrize(("groups", "seeds"), [(1, 1), (1, 9), (7, 1), (5, 4), (12, 3)])
def test_every_group_and_seed_is_dealt_once_and_shards_differ_by_one(groups, seeds):
    for of in range(1, groups * seeds + 1):
        parts = [dealt(groups, seeds, Shard(k, of)) for k in range(1, of + 1)]
        units = [[(group, seed) for group, ends in one.items() for seed in range(*ends)] for one in parts]
        assert sorted(itertools.chain(*units)) == list(itertools.product(range(groups), range(seeds)))
        assert max(map(len, units)) - min(map(len, units)) <= 1


def test_a_shard_has_points_from_all_over_the_sweep():
    assert list(dealt(100, 1, Shard(3, 10))) == [*range(2, 100, 10)]


def test_a_shard_reads_no_other_point(monkeypatch):
    read = []
    monkeypatch.setattr(module, "read_setup", lambda *given: read.append(1) or read_setup(*given))
    many = {"regime": "large_uniform", "count": {"vary": list(range(20, 220))}}
    assert len(part({**SWEEP, "workload": many}, 1, 100).points) == 2 * 3
    assert len(read) == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("2", "--shard must be K/N, such as 2/4 for the second of four parts. Got '2'."),
        ("a/4", "--shard must be K/N, such as 2/4 for the second of four parts. Got 'a/4'."),
        ("-1/4", "--shard must be K/N, such as 2/4 for the second of four parts. Got '-1/4'."),
        ("0/4", "--shard K/N counts K from 1 to N: a Slurm array takes --array=1-4. Got '0/4'."),
        ("5/4", "--shard K/N counts K from 1 to N. Got '5/4'."),
        ("1/0", "--shard K/N counts K from 1 to N. Got '1/0'."),
        ("1/2000000", "--shard K/N counts K from 1 to N, N at most 1,000,000. Got '1/2000000'."),
    ],
)
def test_what_names_no_shard_is_refused(text, sentence):
    with pytest.raises(InputError) as refused:
        read_shard(text)
    assert str(refused.value) == sentence


def test_more_shards_than_comparisons_of_a_seed_are_refused():
    with pytest.raises(InputError, match=r"--shard 3/16: N must be at most 15; the sweep has 15 comparisons of one"):
        part(SWEEP, 3, 16)


def test_adaptive_seeds_have_no_shards():
    until = {"until": {"measure": "drain_cycles", "half_width": "1 %"}}
    with pytest.raises(InputError, match=r"--shard 1/2: seeds.until looks at the runs of all points"):
        part({**SWEEP, "seeds": until}, 1, 2)


@pytest.fixture
def second(tmp_path):
    """The folder of the second shard of four."""
    wb.run(SWEEP, tmp_path / "2", shard="2/4", workers=0)
    return tmp_path / "2"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"shard": "3/4"}, "holds shard 2 of 4, and this is shard 3 of 4; choose another folder."),
        ({"shard": "2/5"}, "holds shard 2 of 4, and this is shard 2 of 5; choose another folder."),
        ({}, "holds shard 2 of 4, not a whole sweep; go on with --shard 2/4, or choose another folder."),
        (
            {"shard": "2/4", "seeds": 6},
            "holds shard 2 of 4 of another sweep: a key, a file that is named or",
        ),
        ({"shard": "2/4", "set": {"machine.segments": 64}}, "holds shard 2 of 4 of another sweep: a key"),
    ],
)
def test_the_folder_of_another_part_or_sweep_is_refused_and_left_as_it_is(second, options, sentence):
    before = {path: path.read_bytes() for path in second.rglob("*") if path.is_file() and path.name != "driver.lock"}
    with pytest.raises(StoreError) as refused:
        wb.run(SWEEP, second, workers=0, **options)
    assert sentence in str(refused.value)
    assert before == {path: path.read_bytes() for path in before}


def test_the_folder_of_a_whole_sweep_takes_no_shard(tmp_path):
    wb.run(SWEEP, tmp_path, workers=0)
    with pytest.raises(StoreError, match=r"holds runs of a whole sweep, and this is shard 1 of 4; choose another"):
        wb.run(SWEEP, tmp_path, shard="1/4", workers=0)


def test_a_shard_needs_a_folder():
    with pytest.raises(InputError, match="shard 1 of 4 is kept in a folder, from which it is gathered"):
        wb.run(SWEEP, shard="1/4")


def test_a_shard_goes_on_from_its_own_sweep_file(second):
    before = (second / "provenance.json").read_bytes()
    again = wb.run(second / "sweep.yaml", second, shard="2/4", workers=0)
    assert len(again.rows) == len(again.plan)
    assert len([*(second / "rows").iterdir()]) == 2
    assert again.table.equals(wb.open_results(second).table)
    assert yaml.safe_load((second / "sweep.yaml").read_text())["planned"] == 5
    assert len(before) == len((second / "provenance.json").read_bytes())


@pytest.mark.parametrize(
    "sum_up",
    [
        lambda results, place: results.summary(),
        lambda results, place: results.sentences(),
        lambda results, place: results.figure_data("pareto"),
        lambda results, place: results.only("first_fit").summary(),
        lambda results, place: results.discover(above=1),
        lambda results, place: results.sensitivity(),
        lambda results, place: results.export(place / "paper"),
        lambda results, place: read_saved(str(place / "2")),
    ],
)
def test_a_part_is_not_summed_up_as_if_it_were_the_study(second, sum_up):
    with pytest.raises(InputError, match=r"shard 2 of 4: \d+ of its \d+ runs are kept; a part has no summary"):
        sum_up(wb.open_results(second), second.parent)
    assert not (second.parent / "paper").exists()


def test_a_card_and_a_status_say_that_they_are_of_a_part(second):
    assert "shard 2 of 4" in wb.open_results(second)._repr_html_()
    assert wb.status(second).shard == "2/4"
    assert wb.status(second).sentence.startswith("sweep, shard 2 of 4: ")
