"""An engine that serves groups: its sweeps, their schema and their repeats are of groups."""

from __future__ import annotations

import functools

import jsonschema
import pytest

from workbench.errors import InputError
from workbench.experiments import schema
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.mechanisms import mechanism as mechanisms
from workbench.mechanisms.mechanism import enter, mechanism
from workbench.streams import Streams


class Counting:
    """Asks its workload for groups and does nothing with them; all else as the engine it stands in for."""

    name, workload_kind = "counting", "groups"

    def __init__(self, engine):
        self._engine = engine

    def __getattr__(self, name):
        return getattr(self._engine, name)

    def validate(self, setup, seed):
        assert len(setup.workload.groups(setup.machine, Streams(seed)).waves) > 0


@pytest.fixture(autouse=True)
def _entered():
    usual = mechanism("shared_memory")
    enter(usual._replace(engine=Counting(usual.engine)))
    yield
    del mechanisms.MECHANISMS["counting"]


@functools.cache
def validator():
    """The schema of the engine of this file alone, made once for both tests."""
    assert "counting" in schema.mechanisms()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "mechanisms", lambda: ["counting"])
        return jsonschema.Draft202012Validator(schema.sweep_schema())


def sweep(**keys):
    return {"question": "How many?", "engine": "counting", "seeds": 2, "machine": "patent_dispatch", **keys}


def test_a_sweep_of_groups_is_planned_and_its_schema_takes_it():
    message = sweep(workload={"regime": "stuck", "count": {"vary": [10, 20]}})
    assert len(make_plan(read_sweep(message))) == 4
    validator().validate(message)


def test_a_sweep_of_the_wrong_kind_is_refused_by_plan_and_schema():
    message = sweep(workload="large_uniform")
    with pytest.raises(InputError, match="regime large_uniform gives workgroups where the engine serves groups"):
        make_plan(read_sweep(message))
    assert not validator().is_valid(message)


def test_a_machine_that_is_too_small_is_refused_with_the_place():
    message = sweep(workload="mixed", machine={"preset": "patent_dispatch", "vgprs_a_unit": 512})
    with pytest.raises(InputError, match=r"machine\.vgprs_a_unit must give each of the 4 SIMDs 1 to 4096 blocks"):
        make_plan(read_sweep(message))


def test_seeds_that_repeat_runs_are_told_how_to_differ(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "arrival,channel,priority,waves,independent,duration,vgpr_blocks,sgpr_blocks,shared_segments\n0,0,1,1,0,9,1,1,0\n"
    )
    workload = {"file": str(tmp_path / "jobs.csv")}
    policy = {"placement": "first_fit"}
    with pytest.raises(InputError, match=r"seeds must be at most 1: this workload has no more different runs\. Got 2"):
        make_plan(read_sweep(sweep(workload=workload, policy=policy)))
    assert len(make_plan(read_sweep(sweep(workload=workload, policy=policy, seeds=1)))) == 1


def test_seeds_of_a_trace_are_windows():
    from tests.workloads.test_trace_groups import DATA

    trace = {"trace": str(DATA / "rocprofv3.json")}
    policy = {"placement": "first_fit"}
    with pytest.raises(InputError, match=r"no more different runs \(windows: N cuts a trace into parts, one a seed\)"):
        make_plan(read_sweep(sweep(workload=trace, policy=policy, machine="mi300x")))
    whole = sweep(workload={**trace, "windows": 2}, policy=policy, machine="mi300x")
    assert len(make_plan(read_sweep(whole))) == 2
