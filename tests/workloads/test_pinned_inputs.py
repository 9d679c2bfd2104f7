"""A file that a sweep reads is named by its bytes: another content is another run, never one under the old id."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.runs.execution import execute_runs
from workbench.streams import Streams
from workbench.workloads import recorded
from workbench.workloads.workload_key import read_workload

DATA = Path(__file__).parents[1] / "data" / "traces"
STAMP = 10**18
CASES = {
    "csv": ("shared_memory", "file", "a.csv", b"arrival,length,duration\n0,3,10\n", b"3,10", b"4,10"),
    "accesses": ("translation", "file", "a.csv", b"cycle,core,page\n0,0,1\n5,0,2\n", b"0,0,1", b"0,0,3"),
    "pool": ("pool", "file", "a.csv", b"time,app,card,action,handle,bytes\n0,0,0,alloc,1,512\n", b"512", b"514"),
    "kernels": ("shared_memory", "trace", "a.json", (DATA / "rocprofv3.json").read_bytes(), None, None),
}


def write(path: Path, content: bytes) -> None:
    """Write a file so that its time and size tell nothing."""
    path.write_bytes(content)
    os.utime(path, ns=(STAMP, STAMP))


def edited(case: str) -> bytes:
    _, _, _, content, old, new = CASES[case]
    if old is None:
        number = content.index(b'"end_timestamp"')
        digit = next(k for k in range(number + 15, len(content)) if content[k : k + 1].isdigit())
        last = next(k for k in range(digit, len(content)) if not content[k : k + 1].isdigit()) - 1
        return content[:last] + (b"1" if content[last : last + 1] != b"1" else b"2") + content[last + 1 :]
    assert content.count(old) == 1
    return content.replace(old, new)


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    engine, key, name, content, _, _ = CASES[request.param]
    write(tmp_path / name, content)
    machine = {"machine": {"compute_units": 1}} if request.param == "kernels" else {}
    sweep = {"engine": engine, "workload": {key: str(tmp_path / name)}, **machine}
    return sweep, tmp_path / name, edited(request.param)


def test_another_content_of_the_same_time_and_size_is_another_run(case):
    sweep, path, other = case
    before = [run.id for run in wb.plan(sweep).runs()]
    assert [run.id for run in wb.plan(sweep).runs()] == before
    size = path.stat().st_size
    write(path, other)
    assert path.stat().st_size == size
    assert [run.id for run in wb.plan(sweep).runs()] != before


def test_a_file_that_changes_after_the_plan_is_refused_by_its_runs(case):
    sweep, path, other = case
    (run,) = wb.plan(sweep).runs()
    write(path, other)
    (row,) = execute_runs(run.point.setup, [(run.id, run.point.id, run.seed)])
    assert row.status == "failed"
    assert "its content has changed: the digest is" in row.error


def test_a_trace_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write(path, CASES["kernels"][3])
    taken = recorded.read_trace

    def slowly(file: Path):
        write(path, edited("kernels"))
        return taken(file)

    workload = read_workload({"trace": str(path)})
    monkeypatch.setattr(recorded, "read_trace", slowly)
    with pytest.raises(InputError, match="its content has changed while it was read; run it again"):
        workload.workgroups(Machine(compute_units=1), Streams(0))


def test_a_file_of_accesses_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    write(path, CASES["accesses"][3])
    workload = read_workload({"file": str(path)}, wants="accesses")
    machine = wb.plan({"engine": "translation", "workload": {"file": str(path)}}).points[0].setup.machine
    blocks = workload.accesses(machine, Streams(0))
    write(path, edited("accesses"))
    with pytest.raises(InputError, match="its content has changed while it was read; run it again"):
        list(blocks)


def test_a_digest_that_a_sweep_asks_for_is_held(tmp_path):
    trace = tmp_path / "a.json"
    shutil.copy(DATA / "rocprofv3.json", trace)
    digest = read_workload({"trace": str(trace)}).sha256
    assert read_workload({"trace": str(trace), "sha256": digest}).sha256 == digest
    request = {
        "engine": "shared_memory",
        "machine": {"compute_units": 1},
        "workload": {"trace": str(trace), "sha256": "0" * 64},
    }
    with pytest.raises(InputError, match=f"its content has changed: the digest is {digest}, not {'0' * 64}"):
        wb.run(request)
