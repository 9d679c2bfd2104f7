"""The code that makes requests is part of what names a run, whatever a workload says of itself."""

import numpy as np
import pytest

import workbench as wb
from workbench.levers import lever
from workbench.runs.execution import execute_runs
from workbench.workloads import workgroup_file
from workbench.workloads.synthetic.random_groups import RandomWorkgroups
from workbench.workloads.workgroup_file import WorkgroupFile
from workbench.workloads.workload import Workgroups

TIMES = 1


class Slowed(WorkgroupFile):
    """A file whose workgroups last longer, by a lever or by a constant."""

    scale: int = lever(1, least=1, most=9, description="times as long")

    @classmethod
    def parsed(cls, text, sha256, where):
        content = super().parsed(text, sha256, where)
        slow = content.workgroups._replace(duration=content.workgroups.duration * TIMES)
        return content._replace(workgroups=slow)

    def workgroups(self, machine, streams):
        result = super().workgroups(machine, streams)
        return result._replace(duration=result.duration * self.scale)


class Silent(RandomWorkgroups):
    """A workload that says nothing of itself."""

    def identity(self):
        return {"silent": {}}

    def workgroups(self, machine, streams):
        one = np.ones(3, np.int64)
        return Workgroups(one * 0, one, one * TIMES)


@pytest.fixture
def jobs(tmp_path):
    """Return the path of a workgroup file."""
    (tmp_path / "jobs.csv").write_text("arrival,length,duration\n0,3,10\n")
    return str(tmp_path / "jobs.csv")


def drained(workload):
    """Return the id of one run, and when it was over."""
    sweep = {"engine": "shared_memory", "workload": workload, "measures": ["drain_cycles"], "seeds": 1}
    (run,) = wb.plan(sweep).runs()
    (row,) = execute_runs(run.point.setup, [(run.id, run.point.id, run.seed)])
    assert row.error == ""
    return run.id, row.measures["drain_cycles"]


def test_a_lever_of_a_file_of_ones_own_counts(jobs):
    one, three = drained(Slowed(file=jobs)), drained(Slowed(file=jobs, scale=3))
    assert (one[1], three[1]) == (10, 30)
    assert one[0] != three[0]


def edited_constant(workload, monkeypatch):
    """Return the ids and the times of a run before and after a constant that its code reads is edited."""
    before = drained(workload)
    monkeypatch.setitem(globals(), "TIMES", 3)
    return before, drained(workload)


def test_an_edited_reader_of_ones_own_is_another_run_and_reads_again(jobs, monkeypatch):
    before, after = edited_constant(Slowed(file=jobs), monkeypatch)
    assert (before[1], after[1]) == (10, 30)
    assert before[0] != after[0]


def test_code_counts_where_a_workload_says_nothing(monkeypatch):
    before, after = edited_constant(Silent(), monkeypatch)
    assert (before[1], after[1]) == (3, 5)
    assert before[0] != after[0]


def test_the_package_s_own_reader_counts(jobs, monkeypatch):
    read_columns = workgroup_file.read_columns

    def thrice(text, levers, where):
        columns = read_columns(text, levers, where)
        return {**columns, "duration": columns["duration"] * 3}

    before = drained({"file": jobs})
    monkeypatch.setattr(workgroup_file, "read_columns", thrice)
    after = drained({"file": jobs})
    assert (before[1], after[1]) == (10, 30)
    assert before[0] != after[0]
