"""What a grid counts and where the shared memory stands in Kineto's traces of AMD cards; nothing is taken silently."""

import json
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.importers import read_trace
from workbench.workloads.trace_groups import TraceGroups
from workbench.workloads.trace_workgroups import TraceWorkgroups

AMD = json.loads((Path(__file__).parents[2] / "data" / "traces" / "kineto_amd.json").read_text())
EXTENDED, PLAIN, GRAPH, EXTENDED_CALL, PLAIN_CALL = AMD["traceEvents"]
NOT_SAID = "1 have one of which the file does not say whether it counts workgroups or work-items: say `grids: workgroup"


def written(place, *events, **keys):
    """A file of some events, with some of the document's keys."""
    place.write_text(json.dumps({**keys, "traceEvents": list(events)}))
    return place


def with_args(event, **changes):
    return {**event, "args": {**event["args"], **changes}}


def test_a_stream_that_is_an_address_is_not_read_of_a_launch(tmp_path):
    launch = with_args(EXTENDED_CALL, stream="0x0")
    trace = read_trace(written(tmp_path / "t.json", EXTENDED, launch, roctracer_version=4.1))
    assert trace.kernels.workgroups.tolist() == [8]


@pytest.mark.parametrize("key", ["roctracer_version", "rocprofiler-sdk_version"])
def test_either_library_counts_extended_launches_in_work_items(tmp_path, key):
    trace = read_trace(written(tmp_path / "t.json", EXTENDED, PLAIN, EXTENDED_CALL, PLAIN_CALL, **{key: 1.1}))
    assert trace.kernels.workgroups.tolist() == [8, 588]
    assert trace.facts()["grids_in_work_items"] == 1


def test_a_file_that_names_no_library_leaves_the_grid_open_and_says_so(tmp_path):
    trace = read_trace(written(tmp_path / "t.json", EXTENDED, PLAIN, EXTENDED_CALL, PLAIN_CALL))
    assert trace.kernels.workgroups.tolist() == [-1, 588]
    assert trace.kernels.either_workgroups.tolist() == [[2000, 8], [-1, -1]]
    assert trace.facts()["grids_of_unsaid_unit"] == 1
    assert NOT_SAID in trace.facts()["missing"][0]


def test_a_kernel_without_its_launch_leaves_the_grid_open(tmp_path):
    trace = read_trace(written(tmp_path / "t.json", EXTENDED, PLAIN, PLAIN_CALL, roctracer_version=4.1))
    assert trace.kernels.workgroups.tolist() == [-1, 588]
    assert NOT_SAID in trace.facts()["missing"][0]


@pytest.mark.parametrize("card", [{"name": "AMD Radeon PRO W7900", "warpSize": 32}, {"name": "", "warpSize": 64}])
def test_kernels_alone_of_an_amd_card_leave_the_grid_open(tmp_path, card):
    trace = read_trace(written(tmp_path / "t.json", EXTENDED, deviceProperties=[{"id": 0, **card}]))
    assert trace.kernels.workgroups.tolist() == [-1]
    other = read_trace(
        written(tmp_path / "t.json", EXTENDED, deviceProperties=[{"id": 0, "name": "H", "warpSize": 32}])
    )
    assert other.kernels.workgroups.tolist() == [2000]


def test_a_grid_with_a_zero_was_not_recorded(tmp_path):
    zeros = with_args(PLAIN, grid=[0, 0, 0], block=[0, 0, 0])
    trace = read_trace(written(tmp_path / "t.json", EXTENDED, zeros, EXTENDED_CALL, **{"rocprofiler-sdk_version": 1.0}))
    assert trace.kernels.workgroups.tolist() == [8, -1]
    assert trace.kernels.threads.tolist() == [256, -1]


@pytest.mark.parametrize(("reading", "workgroups"), [("workgroups", 2000), ("work_items", 8)])
@pytest.mark.parametrize("kind", [TraceWorkgroups, TraceGroups])
def test_a_lever_says_what_an_open_grid_counts(tmp_path, reading, workgroups, kind):
    launch = with_args(EXTENDED_CALL, **{"shared memory": 512})
    place = written(tmp_path / "t.json", EXTENDED, launch)
    machine = Machine.read("mi300x")
    levers = {"unrecorded": "none"} if kind is TraceGroups else {}
    with pytest.raises(InputError, match="say `grids: workgroups` or `grids: work_items`"):
        kind(trace=str(place), shared_bytes="launch_argument", **levers).facts(machine)
    facts = kind(trace=str(place), shared_bytes="launch_argument", grids=reading, **levers).facts(machine)
    assert facts.get("workgroups", facts.get("workgroups_of_all_units")) == workgroups
    assert facts[f"kernels_with_grids_of_{reading}"] == 1


def test_the_launch_tells_the_dynamic_shared_memory_where_a_lever_asks_for_it(tmp_path):
    launch = with_args(PLAIN_CALL, **{"shared memory": 4096})
    place = written(tmp_path / "t.json", PLAIN, GRAPH, launch, roctracer_version=4.1)
    trace = read_trace(place)
    assert trace.kernels.shared_bytes is None
    assert trace.kernels.launch_shared_bytes.tolist() == [4096, -1]
    assert trace.facts()["kernels_with_launch_shared_memory"] == 1
    assert "the launches of 1 tell the dynamic part alone, without the static one, which `shared" in str(
        trace.missing()
    )
    machine = Machine.read("mi300x")
    workload = TraceWorkgroups(trace=str(place), shared_bytes="launch_argument", incomplete="skip")
    requests = workload.workgroups(machine, Streams(0))
    assert set(requests.length.tolist()) == set(machine.request_segments(np.array([4096])).tolist())
    assert workload.facts(machine)["kernels_with_dynamic_shared_memory_alone"] == 1
    with pytest.raises(InputError, match="1 of 2 kernels have no shared memory"):
        workload.but(incomplete="refuse").workgroups(machine, Streams(0))


def test_launch_arguments_are_refused_where_there_are_none():
    place = Path(__file__).parents[2] / "data" / "traces" / "kineto_nvidia.json"
    workload = TraceWorkgroups(trace=str(place), shared_bytes="launch_argument")
    with pytest.raises(InputError, match="the launches of this trace tell nothing of shared memory"):
        workload.facts(Machine.read("a100"))
