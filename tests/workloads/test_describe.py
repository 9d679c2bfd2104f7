"""What `workbench trace import` prints of a trace, and the workload file that it writes."""

import json
from pathlib import Path

import pytest

from tests.public_traces import NAMED, needs_public_traces
from workbench.errors import InputError
from workbench.machine import Machine, read_machine
from workbench.streams import Streams
from workbench.workloads.trace_groups import TraceGroups
from workbench.workloads.trace_import import describe, write_columns
from workbench.workloads.trace_workgroups import TraceWorkgroups
from workbench.workloads.workload_key import read_workload

DATA = Path(__file__).parents[1] / "data" / "traces"


def test_what_is_printed_is_plain_json_and_names_the_file():
    content = json.loads(json.dumps(describe(str(DATA / "rocprofv3.json"))))
    assert content["file"] == str(DATA / "rocprofv3.json")
    assert (content["format"], content["dispatches"], content["max_shared_bytes"]) == ("rocprofv3_json", 2, 16896)
    assert len(content["sha256"]) == 64
    assert "public_trace" not in content
    assert content["missing"] == []


@needs_public_traces
def test_the_words_of_the_api_for_a_public_trace(monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    content = json.loads(json.dumps(describe("tracelens_h100_bert_small")))
    promised = {
        "format": "kineto",
        "kernels": 60,
        "unique_names": 11,
        "total_duration_ns": 307197,
        "max_shared_bytes": 231424,
        "devices": 1,
        "streams": 1,
        "allocations": 109,
        "frees": 109,
        "peak_live_bytes": 101305344,
    }
    assert {word: content[word] for word in promised} == promised
    assert content["public_trace"] == "tracelens_h100_bert_small"


def test_what_is_written_is_a_workload_file_that_gives_the_same_requests(tmp_path):
    workload, machine = (
        TraceWorkgroups(trace=str(DATA / "kineto_nvidia.json")),
        read_machine("a100").but(compute_units=2),
    )
    facts = write_columns(workload, machine, tmp_path / "jobs.csv")
    again = read_workload({"file": str(tmp_path / "jobs.csv")}).workgroups(machine, Streams(1))
    wanted = workload.workgroups(machine, Streams(1))
    assert (tmp_path / "jobs.csv").read_text().splitlines()[0] == "arrival,length,duration"
    assert facts["requests"] == len(wanted.length) == 108
    for result, expected in zip(again, wanted, strict=True):
        assert result.tolist() == expected.tolist()
    assert [place.name for place in tmp_path.iterdir()] == ["jobs.csv"]


def test_nothing_is_written_when_the_trace_cannot_serve_or_the_place_cannot_hold_it(tmp_path):
    workload = TraceWorkgroups(trace=str(DATA / "kineto_nvidia.json"))
    with pytest.raises(InputError, match="Nearest: machine: a100"):
        write_columns(workload, Machine(segments=64), tmp_path / "jobs.csv")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"jobs.csv: cannot be written \(No such file or directory\)\."):
        write_columns(workload, read_machine("a100").but(compute_units=2), tmp_path / "absent" / "jobs.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"folder: cannot be written \(Is a directory\)\."):
        write_columns(workload, read_machine("a100").but(compute_units=2), tmp_path / "folder")
    assert [place.name for place in tmp_path.iterdir()] == ["folder"]


def test_the_groups_of_a_trace_are_written_as_a_group_file(tmp_path):
    workload, machine = TraceGroups(trace=str(DATA / "rocprofv3.json"), priorities=(2, 1)), read_machine("mi300x")
    facts = write_columns(workload, machine, tmp_path / "jobs.csv")
    again = read_workload({"file": str(tmp_path / "jobs.csv")}, wants="groups").groups(machine, Streams(1))
    wanted = workload.groups(machine, Streams(1))
    assert (tmp_path / "jobs.csv").read_text().splitlines()[0] == (
        "arrival,channel,priority,waves,independent,duration,vgpr_blocks,sgpr_blocks,shared_segments"
    )
    assert facts["groups"] == len(wanted.waves) == 34
    for name in ("arrival", "channel", "priority", "waves", "independent", "duration"):
        assert getattr(again, name).tolist() == getattr(wanted, name).tolist()
    assert {k: v.tolist() for k, v in again.demand.items()} == {k: v.tolist() for k, v in wanted.demand.items()}
