"""Copies of one run are no sample: how many different ones the seeds make is measured."""

import pytest

from workbench.api import planned
from workbench.errors import InputError
from workbench.experiments.seeds import different_workloads, draws

CONSTANT = {"synthetic": "random_workgroups", "count": 20, "size": 4, "duration": 9}
DRAWN = {**CONSTANT, "size": {"uniform": [1, 64]}}


def sweep(workload, seeds=5, **more):
    return {"engine": "shared_memory", "workload": workload, "seeds": seeds, **more}


@pytest.mark.parametrize(
    "asked",
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
def test_generators_that_repeat_one_run_are_refused_as_a_file_is(asked):
    """20 copies used to give an interval of width 0 and p = 2e-6."""
    with pytest.raises(InputError, match=r"seeds must be at most 1: this workload has no more different runs\. Got 5"):
        planned(asked)
    assert len(planned({**asked, "seeds": 1})) == 1


@pytest.mark.parametrize(
    "asked",
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
def test_what_draws_may_have_as_many_seeds_as_it_likes(asked):
    assert len(planned(asked).sweep.seeds) == 5


def test_the_point_that_repeats_is_refused_beside_one_that_draws():
    with pytest.raises(InputError, match="seeds must be at most 1"):
        planned(sweep(CONSTANT, policy={"placement": {"vary": ["random_fit", "first_fit"]}}))


def test_they_are_counted_by_digest():
    setup = planned(sweep(CONSTANT, seeds=1)).points[0].setup
    assert (different_workloads(setup, "workgroups", range(30)), draws(setup)) == (1, False)
    setup = planned(sweep(DRAWN, seeds=1)).points[0].setup
    assert different_workloads(setup, "workgroups", range(30)) == 30
