"""One unit's share of a trace: against dealing out workgroups one by one, on real traces, and where it cannot serve."""

import itertools
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.trace_share import requests
from tests.public_traces import NAMED, needs_public_traces
from workbench.errors import InputError
from workbench.machine import Machine, read_machine
from workbench.streams import Streams
from workbench.workloads.trace_workgroups import TraceWorkgroups
from workbench.workloads.workload_key import read_workload

SERIAL = itertools.count()
DATA = Path(__file__).parents[1] / "data" / "traces"
KERNELS = st.lists(
    st.fixed_dictionaries(
        {
            "start_ns": st.integers(0, 10**7),
            "duration_ns": st.integers(1, 10**6),
            "workgroups": st.integers(1, 40),
            "threads": st.sampled_from([32, 100, 256, 1024]),
            "shared_bytes": st.sampled_from([0, 1, 512, 5000, 16_384]),
            "vgprs": st.sampled_from([8, 37, 128]),
        }
    ),
    min_size=1,
    max_size=8,
)
MACHINES = st.fixed_dictionaries(
    {
        "segments": st.sampled_from([64, 128]),
        "granule_bytes": st.sampled_from([512, 1280]),
        "reserved_bytes": st.sampled_from([0, 1024]),
        "compute_units": st.integers(1, 5),
        "clock_mhz": st.sampled_from([1000.0, 1410.0, 333.0]),
        "wave_size": st.just(64),
        "simds_a_unit": st.just(4),
        "waves_a_unit": st.sampled_from([2, 8, 40]),
        "workgroups_a_unit": st.sampled_from([1, 16]),
        "vgprs_a_unit": st.sampled_from([32_768, 65_536]),
        "vgpr_granule": st.sampled_from([4, 8]),
        "barriers_a_module": st.sampled_from([0, 16]),
        "threads_a_workgroup": st.sampled_from([256, 1024]),
        "vgprs_a_thread": st.just(256),
    }
)
LEVERS = st.fixed_dictionaries(
    {
        "unit": st.integers(0, 4),
        "sharing": st.sampled_from(["continue", "restart"]),
        "duration_rule": st.sampled_from(["waves", "whole"]),
        "arrival": st.sampled_from(["recorded", "all_at_once"]),
        "without_shared_memory": st.sampled_from(["skip", "reserve"]),
        "most_a_kernel": st.integers(0, 5),
        "count": st.integers(0, 20),
    }
)


KERNEL = {
    "start_ns": 0,
    "duration_ns": 1000,
    "workgroups": 6,
    "threads": 64,
    "shared_bytes": 512,
    "vgprs": 8,
}


def kineto(kernels, folder):
    """A Kineto trace of these kernels, in a file of its own."""
    place = folder / f"{next(SERIAL)}.json"
    events = [
        {
            "ph": "X",
            "cat": "kernel",
            "name": f"k{k}",
            "ts": kernel["start_ns"] / 1000,
            "dur": kernel["duration_ns"] / 1000,
            "args": {
                "device": kernel.get("device", 0),
                "grid": [kernel["workgroups"], 1, 1],
                "block": [kernel["threads"], 1, 1],
                "shared memory": kernel["shared_bytes"],
                "registers per thread": kernel["vgprs"],
            },
        }
        for k, kernel in enumerate(kernels)
    ]
    place.write_text(json.dumps({"traceEvents": events}))
    return str(place)


def rewrite(place, contents, second):
    """Other contents at another time, however coarse the clock of the file system."""
    place.write_bytes(contents)
    os.utime(place, (second, second))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


@settings(deadline=None)
@given(KERNELS, MACHINES, LEVERS)
def test_requests_are_what_dealing_out_every_workgroup_gives(folder, kernels, levers, spec):
    spec["unit"] %= levers["compute_units"]
    expected = requests(kernels, levers, spec)
    workload = TraceWorkgroups(trace=kineto(kernels, folder), **spec)
    machine = Machine(**levers)
    if not expected:
        with pytest.raises(InputError, match="so there is no request"):
            workload.workgroups(machine, Streams(1))
        return
    result = workload.workgroups(machine, Streams(1))
    assert list(zip(*(column.tolist() for column in result), strict=True)) == expected
    assert all(column.dtype == np.int64 for column in result)
    assert workload.facts(machine)["requests"] == len(expected)


def test_every_workgroup_of_a_grid_goes_to_exactly_one_unit():
    machine = read_machine("a100").but(compute_units=7, reserved_bytes=0)
    shares = [_facts(machine, unit)["workgroups_of_unit"] for unit in range(7)]
    assert sum(shares) == _facts(machine, 0)["workgroups_of_all_units"] == 217
    assert max(shares) - min(shares) <= 1


def _facts(machine, unit):
    return TraceWorkgroups(trace=str(DATA / "kineto_nvidia.json"), unit=unit).facts(machine)


def test_the_facts_say_what_became_of_every_workgroup():
    facts = TraceWorkgroups(trace=str(DATA / "kineto_nvidia.json"), most_a_kernel=1).facts(read_machine("a100"))
    assert facts == {
        "kernels": 3,
        "kernels_incomplete": 0,
        "kernels_without_request": 1,
        "kernels_longer": 0,
        "kernels_of_zero_duration": 0,
        "workgroups_without_request": 5,
        "workgroups_of_all_units": 217,
        "workgroups_of_unit": 2,
        "requests": 1,
    }


def test_the_seed_changes_nothing_and_what_is_given_out_is_ones_own():
    workload, machine = TraceWorkgroups(trace=str(DATA / "rocprofv3.json")), Machine(compute_units=1)
    first = workload.workgroups(machine, Streams(1))
    first.length[:] = 77
    assert workload.workgroups(machine, Streams(2)).length.tolist() != first.length.tolist()
    assert not workload.random


def test_each_seed_may_take_another_units_share(tmp_path):
    trace = kineto([{**KERNEL, "start_ns": 1000 * k, "shared_bytes": 512 * (k + 1)} for k in range(6)], tmp_path)
    machine = Machine(compute_units=4)
    by_seed = TraceWorkgroups(trace=str(trace), unit=-1)
    for seed in range(9):
        ours = by_seed.workgroups(machine, Streams(seed))
        same = TraceWorkgroups(trace=str(trace), unit=seed % 4).workgroups(machine, Streams(0))
        assert all(np.array_equal(a, b) for a, b in zip(ours, same, strict=True))


def test_kernels_that_last_too_long_are_no_requests_and_are_counted(tmp_path):
    durations = [1000, 5000, 2000, 90_000]
    trace = kineto([{**KERNEL, "start_ns": 1000 * k, "duration_ns": d} for k, d in enumerate(durations)], tmp_path)
    machine, workload = Machine(compute_units=1), TraceWorkgroups(trace=str(trace), longest_us=5.0)
    assert len(workload.workgroups(machine, Streams(0)).length) == 3 * KERNEL["workgroups"]
    assert workload.facts(machine)["kernels_longer"] == 1


def test_identity_names_the_contents_and_not_the_path(tmp_path):
    text = (DATA / "rocprofv3.json").read_bytes()
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(text)
    here, there = (TraceWorkgroups(trace=str(tmp_path / name)) for name in ("a.json", "b.json"))
    assert here.identity() == there.identity()
    assert str(tmp_path) not in repr(here.identity())
    assert here.but(unit=1).identity() != here.identity()
    before = here.identity()
    rewrite(tmp_path / "a.json", text.replace(b"16896", b"16897"), second=1)
    assert here.identity() != before


def test_a_trace_that_is_written_anew_is_read_anew(tmp_path):
    place = tmp_path / "t.json"
    text = (DATA / "rocprofv3.json").read_bytes()
    lengths = []
    for second, size in enumerate((b"16896", b"20000")):
        rewrite(place, text.replace(b"16896", size), second)
        workload = TraceWorkgroups(trace=str(place), count=1)
        lengths += workload.workgroups(Machine(compute_units=1), Streams(1)).length.tolist()
    assert lengths == [33, 40]


def test_a_card_of_several_is_chosen_by_its_number(folder):
    kernels = [
        {"start_ns": 0, "duration_ns": 9, "workgroups": 1, "threads": 64, "shared_bytes": 600, "vgprs": 8, "device": 3},
        {"start_ns": 5, "duration_ns": 9, "workgroups": 1, "threads": 64, "shared_bytes": 100, "vgprs": 8, "device": 1},
    ]
    trace = kineto(kernels, folder)
    machine = Machine()
    assert TraceWorkgroups(trace=trace).workgroups(machine, Streams(1)).length.tolist() == [1]
    assert TraceWorkgroups(trace=trace, device=3).workgroups(machine, Streams(1)).length.tolist() == [2]
    with pytest.raises(InputError, match=r"has kernels of device 1, 3 only\. Got trace_workgroups\.device 2\."):
        TraceWorkgroups(trace=trace, device=2).workgroups(machine, Streams(1))


def test_kernels_that_were_not_recorded_whole_are_left_out_only_when_asked(tmp_path):
    document = json.loads((DATA / "kineto_nvidia.json").read_text())
    for event in document["traceEvents"]:
        if event["name"] == "first\\gemm":
            del event["args"]["grid"]
    place = tmp_path / "t.json"
    place.write_text(json.dumps(document))
    workload, machine = TraceWorkgroups(trace=str(place)), read_machine("a100")
    with pytest.raises(InputError) as refused:
        workload.workgroups(machine, Streams(1))
    assert str(refused.value) == (
        f"{place}: cannot become workgroups: 1 of 3 kernels have no grid (kernels launched one by one have it, those "
        "replayed from a graph may not); `incomplete: skip` leaves those out."
    )
    assert workload.but(incomplete="skip").facts(machine)["kernels_incomplete"] == 1


@pytest.mark.parametrize(
    ("levers", "machine", "says"),
    [
        ({"trace": "kineto_amd.json"}, {}, "cannot become workgroups: 1 of 3 kernels have no grid ("),
        ({"trace": "pmc_perf_new.csv"}, {}, "cannot become workgroups: all dispatches last 0 ns ("),
        (
            {"trace": "kineto_amd.json", "incomplete": "skip"},
            {},
            "cannot become workgroups: 1 of 3 kernels have no grid",
        ),
        ({"trace": "pmc_perf_old.csv", "unit": 9}, {}, "no workgroup of unit 9 asks for shared memory, so there is no"),
        (
            {"trace": "kineto_nvidia.json"},
            {"segments": 64},
            "a workgroup of kernel 'second \"gemm\", [a]{b}' takes 49152 bytes of shared memory, 96 segments where the "
            "machine has 64. Nearest: machine: a100.",
        ),
    ],
)
def test_a_trace_that_cannot_serve_is_refused_with_the_cure(levers, machine, says):
    levers = {**levers, "trace": str(DATA / levers["trace"])}
    with pytest.raises(InputError) as refused:
        TraceWorkgroups(**levers).workgroups(Machine(**machine), Streams(1))
    assert str(refused.value).startswith(f"{levers['trace']}: {says}")


def test_a_workgroup_may_take_the_whole_shared_memory():
    workload = TraceWorkgroups(trace=str(DATA / "rocprofv3.json"), count=1)
    assert workload.workgroups(Machine(compute_units=1, segments=33), Streams(1)).length.tolist() == [33]
    with pytest.raises(InputError, match="33 segments where the machine has 32"):
        workload.workgroups(Machine(compute_units=1, segments=32), Streams(1))


def test_no_preset_is_named_where_none_is_large_enough(folder):
    kernel = {"start_ns": 0, "duration_ns": 9, "workgroups": 1, "threads": 64, "shared_bytes": 1 << 20, "vgprs": 8}
    with pytest.raises(InputError, match=r"2048 segments where the machine has 128\. No preset holds as much\."):
        TraceWorkgroups(trace=kineto([kernel], folder)).workgroups(Machine(), Streams(1))


def test_a_sweep_file_is_told_where_its_mistake_is():
    workload = TraceWorkgroups(trace=str(DATA / "rocprofv3.json"), unit=64)
    with pytest.raises(InputError) as refused:
        workload.check_machine(Machine(), "workload", "drain.yaml")
    assert str(refused.value) == (
        "drain.yaml: workload.unit must be below the machine's compute_units (64). Got 64. Nearest: 63."
    )
    with pytest.raises(
        InputError, match=r"hta_a100_alexnt: there is no such file, and no .* Did you mean hta_a100_alexnet"
    ):
        TraceWorkgroups(trace="hta_a100_alexnt").workgroups(Machine(), Streams(1))
    with pytest.raises(InputError, match=r"drain.yaml: workload: unknown key 'devise'; .* Did you mean device"):
        read_workload({"trace": "x.json", "devise": 1}, "workload", "drain.yaml")


def test_it_reads_from_a_sweep_file_pickles_and_is_shown_shortly():
    workload = read_workload({"trace": str(DATA / "rocprofv3.json"), "count": 5})
    assert workload == TraceWorkgroups(trace=str(DATA / "rocprofv3.json"), count=5).pinned()
    assert pickle.loads(pickle.dumps(workload)) == workload
    assert workload.short() == "trace_workgroups(trace=rocprofv3.json, count=5)"


@needs_public_traces
@pytest.mark.parametrize(
    ("name", "machine", "count", "longest"),
    [
        pytest.param("rocprofv3_mi355x_part1", "mi355x", 1667, 123, marks=pytest.mark.slow),
        pytest.param("rocprofv3_mi355x_part1", "mi350x", 1667, 123, marks=pytest.mark.slow),
        pytest.param("hta_a100_nccl_rank", "a100", 39489, 1288, marks=pytest.mark.slow),
        pytest.param("hta_v100_memory_events", "v100", 19931, 168, marks=pytest.mark.slow),
        ("tracelens_h100_qwen1.5_0.5b", "h100", 848, 1816),
        pytest.param("kineto_v100_resnet50_workers0", "v100", 25367, 192, marks=pytest.mark.slow),
    ],
)
def test_real_traces_give_a_queue_for_their_machine(monkeypatch, name, machine, count, longest):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    result = TraceWorkgroups(trace=name).workgroups(read_machine(machine), Streams(1))
    assert len(result.length) == count
    assert result.length.max() == longest
    assert result.length.min() >= 1
    assert result.duration.min() >= 1
    assert result.arrival[0] == 0
    assert (np.diff(result.arrival) >= 0).all()


@needs_public_traces
def test_a_real_workgroup_that_is_too_big_names_the_preset_of_its_own_card(monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    with pytest.raises(InputError) as refused:
        TraceWorkgroups(trace="rocprofv3_mi355x_part1").workgroups(read_machine("mi300x"), Streams(1))
    assert "takes 156672 bytes of shared memory, 306 segments where the machine has 128" in str(refused.value)
    assert str(refused.value).endswith("Nearest: machine: mi350x.")
