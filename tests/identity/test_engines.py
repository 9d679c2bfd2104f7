"""A run of a user's engine is of the engine, its attributes and its measures as the driver has them in memory."""

import importlib.util
import sys

import pytest

import workbench as wb
import workbench.mechanisms.mechanism as room
from tests.house.test_recipes import RECIPES
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.runs.execution import execute_runs
from workbench.runs.pickled_setups import enter_packed, packed
from workbench.runs.run import Task

MODULE = """
from typing import NamedTuple
import numpy as np
from workbench.mechanisms.mechanism import Mechanism, enter
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.metrics.measure import Measure, declared

BIAS = 0.0
SCALE = 1.0

class Record(NamedTuple):
    heads: np.ndarray

class Options(Spec):
    flips: int = lever(100, least=1, most=1000, unit="flips", description="how often")

class Toss:
    name, revision, machine, workload_kind, slots, options = "toss", 1, Machine, "workgroups", {}, Options
    def __init__(self, bias=0.0):
        self.bias = bias
    def validate(self, setup, seed):
        pass
    def simulate(self, setup, seed, events=False):
        return Record(np.full(setup.options.flips, BIAS + self.bias))

def measure(record):
    return {"heads_rate": SCALE * float(record.heads.mean())}

def begin(bias=0.0):
    enter(Mechanism(Toss(bias), declared(Measure("heads_rate", "", "higher", "share")), measure, lambda record: {}))

begin()
"""
SWEEP = {"engine": "toss", "workload": "large_uniform", "seeds": 1}


@pytest.fixture
def toss(tmp_path, monkeypatch):
    """Return a module of the user's, newly imported, that enters an engine."""
    (tmp_path / "identity_toss.py").write_text(MODULE)
    spec = importlib.util.spec_from_file_location("identity_toss", tmp_path / "identity_toss.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(room, "MECHANISMS", room.MECHANISMS.copy())
    monkeypatch.setitem(sys.modules, "identity_toss", module)
    spec.loader.exec_module(module)
    return module


def tossed(**more):
    """Return the id and the measure of one run."""
    table = wb.run(SWEEP, **{"workers": 0, **more}).table
    assert set(table["error"]) == {""}
    return table["run_id"][0], table["heads_rate"][0]


def test_a_warm_worker_computes_what_the_driver_would(toss):
    steps = {"BIAS": 0.75, "SCALE": 2.0}
    results = [(tossed(), tossed(executor="processes", workers=1))]
    for name, value in steps.items():
        setattr(toss, name, value)
        results.append((tossed(), tossed(executor="processes", workers=1)))
    toss.BIAS, toss.SCALE = 0.0, 1.0
    results.append((tossed(), tossed(executor="processes", workers=1)))
    assert [here[1] for here, _ in results] == [0.0, 0.75, 1.5, 0.0]
    assert [here for here, _ in results] == [there for _, there in results]
    assert results[0][0] == results[3][0] != results[1][0]


def test_an_engine_of_the_kit_and_its_kernel_come_to_a_worker_as_they_are(tmp_path, monkeypatch):
    """A class is made there before it has its attributes, a compiled function without what its callers need."""
    ((_, text),) = RECIPES["add an engine"]
    (tmp_path / "identity_coin.py").write_text(text.split("results = wb.run(")[0])
    spec = importlib.util.spec_from_file_location("identity_coin", tmp_path / "identity_coin.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(room, "MECHANISMS", room.MECHANISMS.copy())
    monkeypatch.setitem(sys.modules, "identity_coin", module)
    spec.loader.exec_module(module)
    sweep = {"engine": "coin", "workload": "large_uniform", "seeds": 2}
    here, there = (wb.run(sweep, **how).table for how in ({"workers": 0}, {"executor": "processes", "workers": 1}))
    assert set(there["error"]) == {""}
    assert list(there["heads_rate"]) == list(here["heads_rate"])


def test_attributes_of_an_engine_are_part_of_its_runs(toss):
    before = tossed()
    toss.begin(0.5)
    after = tossed()
    assert (before[1], after[1]) == (0.0, 0.5)
    assert before[0] != after[0]


def test_what_no_run_can_be_named_by_is_refused(toss):
    with open(__file__) as file:
        toss.begin(file)
        with pytest.raises(InputError, match="an open file: no run can be named by it"):
            tossed()


def planned():
    (point,) = make_plan(read_sweep(SWEEP)).points
    return point


@pytest.mark.parametrize("edit", [lambda toss: setattr(toss, "BIAS", 1.0), lambda toss: toss.begin(0.5)])
def test_a_run_of_another_engine_than_planned_is_refused_by_name(toss, edit):
    point = planned()
    edit(toss)
    (row,) = execute_runs(point.setup, [Task("run", point.id, 0)])
    assert row.error.startswith("engine toss: its code, its attributes or something they refer to is not what it was")


def elsewhere(engine):
    """Return a packed engine as if another process had packed it."""
    return engine._replace(driver=("", 0))


def test_a_worker_with_other_measures_refuses(toss):
    taken = elsewhere(packed("toss"))
    enter_packed(taken)
    room.mechanism("toss").measure.__globals__["SCALE"] = 3.0
    with pytest.raises(InputError, match=r"the code of the measures of toss, .* is not what the driver has"):
        enter_packed(taken)


def test_an_engine_that_comes_back_is_entered_again(toss):
    first, toss.BIAS = elsewhere(packed("toss")), 0.5
    second = elsewhere(packed("toss"))
    heads = []
    for engine in (first, second, first):
        enter_packed(engine)
        heads.append(room.mechanism("toss").engine.simulate(planned().setup, 0).heads[0])
    assert heads == [0.0, 0.5, 0.0]


def test_what_cannot_travel_is_one_sentence(toss):
    class Here:
        def __reduce_ex__(self, protocol):
            if protocol < 5:
                return str, ("here",)
            raise TypeError("it stays here")

    toss.begin(Here())
    with pytest.raises(InputError, match=r"^the engine toss cannot be sent to another process: it stays here"):
        packed("toss")
