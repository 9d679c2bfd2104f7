"""Files named in a sweep are found wherever they stand, and nothing else is taken for one."""

import os
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.experiments.sweep import with_files
from workbench.policies.catalogue import policy_in_file

POLICY = '''
from workbench.policies.placement import Placement
from workbench.structures.bitmaps import first_start


class Lowest(Placement):
    """The lowest start; there are no ties."""

    def answer(see):
        return first_start(see.free, see.length, 0)
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "jobs.csv").write_text("arrival,length,duration\n0,3,5\n0,4,5\n")
    (tmp_path / "mine" / "other.csv").write_text("arrival,length,duration\n0,2,9\n")
    (tmp_path / "mine" / "lowest.py").write_text(POLICY)
    return tmp_path / "mine"


def test_every_file_is_renamed_and_nothing_else(folder):
    config = {
        "question": "lowest.py: is it good?",
        "machine": "h100",
        "workload": {
            "vary": ["bimodal", {"file": "jobs.csv"}, {"trace": "other.csv"}, {"trace": "rocprofv3_mi355x_part1"}]
        },
        "policy": {"placement": {"vary": ["first_fit", "lowest.py:Lowest", {"lowest.py:Lowest": {}}]}},
        "baseline": {"placement": "lowest.py:Lowest"},
        "measures": ["drain_cycles"],
    }
    seen = []
    renamed = with_files(config, folder, lambda path: seen.append(path) or f"new/{path.name}")
    assert renamed == {
        **config,
        "workload": {
            "vary": ["bimodal", {"file": "new/jobs.csv"}, {"trace": "new/other.csv"}, config["workload"]["vary"][3]]
        },
        "policy": {"placement": {"vary": ["first_fit", "new/lowest.py:Lowest", {"new/lowest.py:Lowest": {}}]}},
        "baseline": {"placement": "new/lowest.py:Lowest"},
    }
    assert {path.name for path in seen} == {"jobs.csv", "other.csv", "lowest.py"}


def test_results_open_from_anywhere(folder, tmp_path, monkeypatch):
    (folder / "sweep.yaml").write_text(
        "engine: shared_memory\nmachine: {segments: 16}\nworkload: {vary: [{file: jobs.csv}, {file: other.csv}]}\n"
        "policy: {placement: {vary: [first_fit, 'lowest.py:Lowest']}}\n"
    )
    monkeypatch.chdir(folder)
    table = wb.run("sweep.yaml", tmp_path / "out").table
    assert sorted(set(table.workload)) == ["file(jobs.csv)", "file(other.csv)"]
    monkeypatch.chdir("/")
    assert wb.open_results(tmp_path / "out").table.equals(table)
    assert Path("/") == Path.cwd()


def test_a_policy_file_is_read_as_it_is_now_and_nothing_is_left_beside_it(folder, monkeypatch):
    """An edit that changes neither the size nor the second of the file would be missed by kept bytecode."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = folder / "lowest.py"
    for k, title in enumerate((b"The lowest start", b"The LOWEST start")):
        file.write_bytes(file.read_bytes().replace(b"The lowest start", title))
        os.utime(file, ns=(10**18 + k, 10**18 + k))
        assert policy_in_file("lowest.py:Lowest", folder, "").__doc__.startswith(title.decode())
    assert sorted(it.name for it in folder.iterdir()) == ["jobs.csv", "lowest.py", "other.csv"]
