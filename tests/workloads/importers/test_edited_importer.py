"""A run of a trace is of the importer that reads it, as it is in memory, in every process."""

import sys
import types

import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.runs.execution import execute_runs
from workbench.runs.run import Task
from workbench.workloads.importers import enter_only, importers

MODULE = """
from workbench.workloads.importers import Importer, Trace
from workbench.workloads.kernels import KernelRows

FACTOR = 1
NAME = b"#stopwatch"

class Stopwatch(Importer):
    format = "stopwatch"
    description = "lines of name, start and end"

    def recognises(self, head):
        return head.startswith(NAME)

    def read(self, source):
        rows = KernelRows()
        for line in list(source.lines())[1:]:
            name, start, end = line.split()
            rows.add(name, start_ns=int(start), duration_ns=(int(end) - int(start)) * FACTOR, device=0, stream=0,
                     workgroups=8, threads=256, shared_bytes=4096, registers=32)
        return Trace(source.path, self.format, "kernels", rows.table())
"""


@pytest.fixture
def stopwatch(monkeypatch):
    """Return a module of the user's that defines an importer."""
    module = types.ModuleType("identity_stopwatch")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(MODULE, vars(module))
    yield module
    enter_only(())


@pytest.fixture
def sweep(tmp_path):
    """Return a sweep of a trace that this importer reads."""
    (tmp_path / "run.txt").write_text("#stopwatch\ngemm 10 9000\nfill 4000 41000\n")
    return {
        "engine": "shared_memory",
        "machine": "mi355x",
        "workload": {"trace": str(tmp_path / "run.txt")},
        "measures": ["drain_cycles"],
        "seeds": 1,
    }


def drained(sweep, **more):
    """Return the id and the measure of one run."""
    table = wb.run(sweep, **{"workers": 0, **more}).table
    assert set(table["error"]) == {""}
    return table["run_id"][0], table["drain_cycles"][0]


def test_an_edited_importer_reads_again_under_another_id(stopwatch, sweep):
    before, stopwatch.FACTOR = drained(sweep), 3
    after, stopwatch.FACTOR = drained(sweep), 1
    assert after[1] > 2 * before[1]
    assert before[0] != after[0]
    assert drained(sweep) == before


def test_an_importer_that_recognises_no_more_is_asked_again(stopwatch, sweep):
    drained(sweep)
    stopwatch.NAME = b"#another"
    with pytest.raises(InputError, match="is no trace that is read here"):
        drained(sweep)


@pytest.mark.slow
def test_a_warm_worker_reads_with_the_importer_that_the_driver_has(stopwatch, sweep):
    more = {"executor": "processes", "workers": 1}
    before = drained(sweep, **more)
    stopwatch.FACTOR = 3
    after = drained(sweep, **more)
    stopwatch.FACTOR = 1
    assert drained(sweep, **more) == before == drained(sweep)
    stopwatch.FACTOR = 3
    assert after == drained(sweep)


def test_a_run_of_another_importer_than_planned_is_refused_by_name(stopwatch, sweep):
    (point,) = make_plan(read_sweep(sweep)).points
    stopwatch.FACTOR = 3
    (row,) = execute_runs(point.setup, [Task("run", point.id, 0)])
    assert row.error.startswith("importer stopwatch: its code, or something it refers to, is not what it was when")


def test_only_what_came_along_is_known(stopwatch):
    assert "stopwatch" in importers()
    enter_only(())
    assert "stopwatch" not in importers()
    enter_only([stopwatch.Stopwatch])
    assert isinstance(importers()["stopwatch"], stopwatch.Stopwatch)
