"""From a sweep to points, baselines and run ids; and what is refused before anything runs."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import override, read_seeds, read_sweep
from workbench.runs.run import run_id

BASE = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 3}


def plan(**keys):
    return make_plan(read_sweep({**BASE, **keys}))


def test_points_times_seeds_all_points_of_a_seed_first():
    result = plan(policy={"placement": {"vary": ["first_fit", "best_fit"]}})
    runs = list(result.runs())
    assert len(result) == len(runs) == 6
    assert [run.seed for run in runs] == [0, 0, 1, 1, 2, 2]
    assert [run.id for run in runs] == result.ids == [run_id(run.point.id, run.seed) for run in runs]
    assert len({*result.ids}) == 6


def test_run_ids_do_not_depend_on_how_a_setup_is_written():
    written = plan(policy={"placement": "nearest_boundary"}, machine={"segments": 128})
    defaults = plan(policy={"placement": {"nearest_boundary": {"tie": "low"}}})
    left_out = plan()
    ids = [[run.id for run in result.runs()] for result in (written, defaults, left_out)]
    assert ids[0] == ids[1] == ids[2]


@pytest.mark.parametrize(
    "changed",
    [
        {"policy": {"placement": "first_fit"}},
        {"policy": {"placement": {"nearest_boundary": {"tie": "high"}}}},
        {"policy": {"queue": {"fifo_lookahead": {"k": 1}}}},
        {"machine": {"segments": 127}},
        {"workload": "bimodal"},
        {"options": {"latency_cycles": 1}},
    ],
)
def test_whatever_changes_a_run_changes_its_id(changed):
    assert {run.id for run in plan().runs()}.isdisjoint(run.id for run in plan(**changed).runs())


def test_a_baseline_that_is_no_point_is_added_once_and_pairs_every_point():
    policy = {"placement": {"vary": ["best_fit", "worst_fit"]}}
    result = plan(policy=policy, baseline={"placement": "first_fit"}, workload={"vary": ["bimodal", "large_uniform"]})
    labels = [(p.coordinates["workload"], p.coordinates["policy.placement"], p.baseline) for p in result.points]
    baselines = {w: p.id for p, (w, name, _) in zip(result.points, labels) if name == "first_fit"}
    assert len(result.points) == 6
    assert all(against == (None if name == "first_fit" else baselines[w]) for w, name, against in labels)


@pytest.mark.parametrize(
    ("said", "points", "shared"), [({}, 3, "first_fit"), ({"shared_placement": "best_fit"}, 3, "best_fit")]
)
def test_a_baseline_serves_the_slots_that_take_the_same_policy_unless_they_have_their_own(said, points, shared):
    result = plan(
        engine="dispatch",
        machine="patent_dispatch",
        workload={"synthetic": "random_groups", "count": 5},
        policy={"placement": {"vary": ["next_fit", "worst_fit"]}, **said},
        baseline={"placement": "first_fit"},
    ).points
    assert len(result) == points
    (base,) = (p.setup.policies for p in result if p.baseline is None)
    assert (base["placement"].name, base["shared_placement"].name) == ("first_fit", shared)


def test_a_baseline_among_the_points_is_not_run_twice():
    result = plan(policy={"placement": {"vary": ["first_fit", "best_fit"]}}, baseline={"placement": "first_fit"})
    assert len(result.points) == 2


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"polcy": {}}, "sweep: unknown key 'polcy'; there are baseline, design, engine,"),
        (
            {"engine": "shared_memry"},
            "unknown engine 'shared_memry'; there are dispatch, malloc, node, pool, shared_memory, torch_allocator, "
            "translation. Did you mean",
        ),
        ({"policy": {"placment": "best_fit"}}, "policy: unknown key 'placment'; there are placement, queue, retry."),
        ({"policy": {"placement": "bestfit"}}, "policy.placement: unknown placement policy 'bestfit'; there are"),
        (
            {"policy": {"placement": {"nearest_boundary": {"tei": 1}}}},
            "policy.placement.nearest_boundary: unknown key 'tei'",
        ),
        (
            {"policy": {"queue": {"fifo_lookahead": {"k": -1}}}},
            "policy.queue.fifo_lookahead.k must be a whole number from 0",
        ),
        ({"machine": {"segments": 1}}, "machine.segments must be a whole number from 2 to 4096. Got 1. Nearest: 2."),
        ({"machine": {"segments": 2.5}}, "machine.segments must be a whole number from 2 to 4096. Got 2.5."),
        (
            {"machine": {"segments": 32}},
            "sweep: workload.size must draw at most 32 segments, all that the machine has.",
        ),
        ({"options": {"allocs_per_cycle": 0}}, "options.allocs_per_cycle must be a whole number from 1"),
        ({"measures": ["drain_cicles"]}, "measures: unknown measure 'drain_cicles'; there are"),
        ({"measures": "drain_cycles"}, "measures must be a list of names. Got 'drain_cycles'."),
        ({"seeds": 0}, "seeds must be a whole number of at least 1. Got 0."),
        ({"seeds": [1, 1]}, "seeds must be a list of different whole numbers. Got [1, 1]."),
        ({"seeds": True}, "seeds must be a whole number of at least 1. Got True."),
        ({"baseline": {}}, "baseline must name at least one policy"),
        ({"workload": {"file": "no_such.csv"}}, "no_such.csv"),
    ],
)
def test_what_is_not_valid_is_one_sentence_that_names_its_place(keys, sentence):
    with pytest.raises(InputError) as refused:
        plan(**keys)
    text = str(refused.value)
    assert sentence in text
    assert "\n" not in text


def test_a_missing_key_is_named():
    with pytest.raises(InputError, match="sweep: the key workload is missing"):
        read_sweep({"engine": "shared_memory"})


def test_seeds_as_number_list_or_span():
    assert read_seeds({"first": 7, "count": 2}) == [7, 8]
    with pytest.raises(InputError, match=r"seeds: unknown key 'cuont'; there are count, first. Did you mean count\?"):
        read_seeds({"cuont": 2})


def test_overrides_reach_into_lists_and_make_what_is_missing():
    config = {"workload": {"size": {"uniform": [1, 32]}}, "policy": {"placement": "nearest_boundary"}}
    override(config, "workload.size.uniform.1", 64)
    override(config, "policy.placement.nearest_boundary.tie", "high")
    override(config, "options.latency_cycles", 4)
    assert config["workload"]["size"]["uniform"] == [1, 64]
    assert config["policy"]["placement"] == {"nearest_boundary": {"tie": "high"}}
    assert config["options"] == {"latency_cycles": 4}
    with pytest.raises(InputError, match="is not a place in a list of 2"):
        override(config, "workload.size.uniform.2", 1)
