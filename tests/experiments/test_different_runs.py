"""Copies of one run are no sample: how many different ones the seeds make is measured."""

import pytest

import workbench as wb
from workbench.api import run
from workbench.errors import InputError
from workbench.experiments.kept_points import NotRead
from workbench.experiments.results import Results
from workbench.experiments.seeds import different_workloads, draws, draws_nothing

CONSTANT = {"synthetic": "random_workgroups", "count": 20, "size": 4, "duration": 9}
DRAWN = {**CONSTANT, "size": {"uniform": [1, 64]}}


def sweep(workload, seeds=5, **more):
    return {"engine": "shared_memory", "workload": workload, "seeds": seeds, **more}


@pytest.mark.parametrize(
    "config",
    [
        sweep(CONSTANT),
        {"engine": "malloc", "workload": {"synthetic": "random_mallocs", "threads": 64, "size": 4}, "seeds": 5},
        *(
            pytest.param(
                {"engine": "translation", "workload": {"regime": regime}, "machine": "patent_translation", "seeds": 5},
                marks=pytest.mark.slow,
            )
            for regime in ("gemm_tiles", "stencil_rows", "streaming_arrays")
        ),
    ],
)
def test_generators_that_repeat_one_run_are_refused_as_a_file_is(config):
    """20 copies used to give an interval of width 0 and p = 2e-6."""
    with pytest.raises(InputError, match=r"seeds must be at most 1: this workload has no more different runs\. Got 5"):
        wb.plan(config)
    assert len(wb.plan({**config, "seeds": 1})) == 1


@pytest.mark.parametrize(
    "config",
    [
        sweep(DRAWN),
        sweep(CONSTANT, policy={"placement": "random_fit"}),
        {
            "engine": "malloc",
            "workload": {"synthetic": "random_mallocs", "threads": 64, "size": 4},
            "options": {"occupancy": 0.5},
            "seeds": 5,
        },
    ],
)
def test_what_draws_may_have_as_many_seeds_as_it_likes(config):
    assert len(wb.plan(config).sweep.seeds) == 5


def test_the_point_that_repeats_is_refused_beside_one_that_draws():
    with pytest.raises(InputError, match="seeds must be at most 1"):
        wb.plan(sweep(CONSTANT, policy={"placement": {"vary": ["random_fit", "first_fit"]}}))


def test_they_are_counted_by_digest():
    setup = wb.plan(sweep(CONSTANT, seeds=1)).points[0].setup
    assert (different_workloads(setup, "workgroups", range(30)), draws(setup)) == (1, False)
    setup = wb.plan(sweep(DRAWN, seeds=1)).points[0].setup
    assert different_workloads(setup, "workgroups", range(30)) == 30


FEW = {"synthetic": "random_workgroups", "count": 1, "duration": 9}
"""One request: of ten draws of two sizes at most two differ."""


@pytest.mark.parametrize("size", [{"uniform": [1, 2]}, {"empirical": {"outcomes": [1, 2], "weights": [999, 1]}}])
def test_independent_draws_that_coincide_are_no_copies(size):
    """`workbench claims --quick` ended at H2.1, as its three seeds gave the same calls."""
    config = sweep({**FEW, "size": size}, seeds=10)
    assert len(wb.plan(config).sweep.seeds) == 10
    runs = run(config, workers=0)
    assert len({row.measures["drain_cycles"] for row in runs.rows.values()}) == 1
    assert not runs.is_exact(runs.points[0])


MALLOC = {"engine": "malloc", "workload": {"synthetic": "random_mallocs", "threads": 64, "size": 4}}
NODE = {"engine": "node", "machine": {"cards": 2, "modules": 2}, "policy": {"selection": "oldest_first"}}
ALIKE = {"count": 1, "gap": 0, "cycles": 100, "kernel_groups": 2}
STENCIL, GATHER = {"synthetic": "stencil_steps", **ALIKE}, {"synthetic": "graph_steps", **ALIKE}


@pytest.mark.parametrize(
    ("config", "exact"),
    [
        (sweep(CONSTANT), True),
        (sweep(DRAWN), False),
        (sweep(CONSTANT, policy={"placement": "random_fit"}), False),
        (MALLOC, True),
        ({**MALLOC, "options": {"occupancy": 0.5}}, False),
        ({**MALLOC, "policy": {"serve": {"warp_aggregated": {"leader_rule": "any"}}}}, False),
        ({**NODE, "workload": STENCIL}, True),
        ({**NODE, "workload": GATHER}, False),
        ({**NODE, "workload": STENCIL, "options": {"dispatch": {"module_tie": "random"}}}, False),
    ],
)
def test_a_point_is_exact_where_nothing_draws(config, exact):
    runs = Results(wb.plan({**config, "seeds": 1}), [])
    point = runs.points[0]
    assert runs.is_exact(point) is exact
    assert draws_nothing(point.setup, runs.plan.sweep.mechanism.engine.workload_kind) is exact


class OwnRequests:
    """A workload, and the number of its different seeds that it declares."""

    def __init__(self, requests, declared=None):
        self.workgroups = requests
        self.different_seeds = lambda machine: declared


@pytest.mark.parametrize(
    ("requests", "different"),
    [
        (lambda machine, streams: [4], 1),
        (lambda machine, streams: [streams.seed % 2], 2),
        (lambda machine, streams: [streams.within("a").uniforms("b", 1)[0] < 0.001], 20),
        (lambda machine, streams: [streams["sizes"].random() > 2], 20),
        (lambda machine, streams: [streams["sizes"] is None], 1),
        (lambda machine, streams: iter([[4], [4 + (streams.uniforms("late", 1)[0] > 0.999)]]), 20),
        (lambda machine, streams: [1 // int(streams.uniforms("sizes", 1)[0] < 0.999)], 20),
    ],
)
def test_what_counts_is_whether_numbers_decide(requests, different):
    setup = wb.plan(sweep(CONSTANT, seeds=1)).points[0].setup._replace(workload=OwnRequests(requests))
    assert different_workloads(setup, "workgroups", range(20)) == different
    assert draws_nothing(setup, "workgroups") == (different == 1)


def test_a_workload_that_draws_is_drawn_twice():
    made = []
    requests = OwnRequests(lambda machine, streams: made.append(1) or [streams.uniforms("sizes", 4)])
    setup = wb.plan(sweep(CONSTANT, seeds=1)).points[0].setup._replace(workload=requests)
    assert not draws_nothing(setup, "workgroups") and len(made) == 2


@pytest.mark.parametrize(("declared", "exact"), [(1, True), (3, False)])
def test_a_file_is_exact_and_the_windows_of_a_trace_are_not(declared, exact):
    setup = wb.plan(sweep(CONSTANT, seeds=1)).points[0].setup._replace(workload=OwnRequests(None, declared))
    assert (different_workloads(setup, "workgroups", range(20)), draws_nothing(setup, "workgroups")) == (
        declared,
        exact,
    )


def test_an_engine_of_the_users_may_draw_by_itself():
    setup = wb.plan(sweep(CONSTANT, seeds=1)).points[0].setup
    assert draws_nothing(setup, "workgroups") and not draws_nothing(setup._replace(engine_code="8c"), "workgroups")


def test_a_point_whose_code_was_not_run_is_not_exact():
    runs = Results(wb.plan(sweep(CONSTANT, seeds=1)), [])
    assert not runs.is_exact(runs.points[0]._replace(setup=NotRead("it is a stranger's")))
