"""Groups of a trace: against taking its workgroups one by one, on real traces, and where it cannot serve."""

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import trace_groups
from tests.oracles.dispatch_fit import fits
from tests.public_traces import NAMED, needs_public_traces
from tests.slow import thinned
from workbench.machine import Machine, preset, read_machine
from workbench.streams import Streams
from workbench.workloads.trace_groups import MOST_GROUPS, TraceGroups
from workbench.workloads.workload_key import read_workload

SERIAL = itertools.count()
DATA = Path(__file__).parents[1] / "data" / "traces"
KERNELS = st.lists(
    st.fixed_dictionaries(
        {
            "start_ns": st.integers(0, 10**7),
            "duration_ns": st.integers(1, 10**6),
            "workgroups": st.integers(1, 9),
            "threads": st.sampled_from([32, 100, 256, 1024]),
            "shared_bytes": st.sampled_from([0, 1, 512, 5000]),
            "vgprs": st.sampled_from([0, 8, 37, 128]),
            "stream": st.sampled_from([7, 20, 0, 13]),
        }
    ),
    min_size=1,
    max_size=8,
)
MACHINES = st.fixed_dictionaries(
    {
        "segments": st.sampled_from([16, 128]),
        "granule_bytes": st.sampled_from([512, 1280]),
        "reserved_bytes": st.sampled_from([0, 1024]),
        "compute_units": st.integers(1, 5),
        "clock_mhz": st.sampled_from([1000.0, 1410.0, 333.0]),
        "wave_size": st.sampled_from([32, 64]),
        "simds_a_unit": st.just(4),
        "waves_a_unit": st.sampled_from([16, 40]),
        "workgroups_a_unit": st.sampled_from([1, 16]),
        "vgprs_a_unit": st.just(65_536),
        "vgpr_granule": st.sampled_from([4, 8]),
        "barriers_a_module": st.sampled_from([0, 16]),
        "threads_a_workgroup": st.sampled_from([256, 1024]),
        "vgprs_a_thread": st.just(256),
        "sgprs_a_unit": st.sampled_from([0, 3200]),
    }
)
LEVERS = st.fixed_dictionaries(
    {
        "channels": st.sampled_from([1, 2, 64]),
        "priorities": st.sampled_from([(1,), (3, 1), (1, 2, 3, 4, 5)]),
        "independent": st.sampled_from(["none", "without_shared_memory", "all"]),
        "duration_rule": st.sampled_from(["waves", "whole"]),
        "arrival": st.sampled_from(["recorded", "all_at_once"]),
        "longest_us": st.sampled_from([0, 600]),
        "most_a_kernel": st.integers(0, 5),
        "windows": st.integers(1, 3),
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
    "stream": 7,
}


def kineto(kernels, folder, without=()):
    """A Kineto trace of these kernels, in a file of its own."""
    place = folder / f"{next(SERIAL)}.json"
    events = []
    for k, kernel in enumerate(kernels):
        args = {
            "device": 0,
            "stream": kernel["stream"],
            "grid": [kernel["workgroups"], 1, 1],
            "block": [kernel["threads"], 1, 1],
            "shared memory": kernel["shared_bytes"],
            "registers per thread": kernel["vgprs"],
        }
        args = {name: value for name, value in args.items() if name not in without}
        times = {"ts": kernel["start_ns"] / 1000, "dur": kernel["duration_ns"] / 1000}
        events.append({"ph": "X", "cat": "kernel", "name": f"k{k}", **times, "args": args})
    place.write_text(json.dumps({"traceEvents": events}))
    return str(place)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("traces")


def rows_of(groups):
    columns = {
        name: column for name, column in groups._asdict().items() if hasattr(column, "dtype") and name != "instructions"
    }
    columns |= groups.demand
    return [dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]


@settings(deadline=None)
@given(KERNELS, MACHINES, LEVERS, st.integers(0, 5))
def test_groups_are_what_taking_every_workgroup_gives(folder, kernels, levers, spec, seed):
    machine = Machine(**levers)
    workload = TraceGroups(trace=kineto(kernels, folder), **spec)
    taken = [k for k in kernels if not spec["longest_us"] or k["duration_ns"] <= spec["longest_us"] * 1000]
    expected = trace_groups.groups(kernels, levers, spec, seed) if len(taken) >= spec["windows"] else []
    one_of_each = {**spec, "windows": 1, "count": 0}
    fitting = all(
        fits(machine, row["waves"], {"vgpr": row["vgpr"], "shared": row["shared"]})
        for row in trace_groups.groups(kernels, levers, one_of_each, 0)
    )
    assume(fitting or not expected)
    if not expected:
        assert refusal(workload.groups, machine, Streams(seed))
        return
    result = workload.groups(machine, Streams(seed))
    without = {"sgpr"} if "sgpr" in result.demand else set()
    assert [{name: v for name, v in row.items() if name not in without} for row in rows_of(result)] == expected
    assert ("sgpr" in result.demand) == (levers["sgprs_a_unit"] > 0)
    assert all(column.dtype == np.int64 for column in (result.arrival, result.waves, *result.demand.values()))
    assert result.instructions.shape == (len(expected), 6)


def test_scalar_and_accumulation_registers_count_where_they_were_recorded():
    result = TraceGroups(trace=str(DATA / "rocprofv3.json"), most_a_kernel=1).groups(read_machine("mi300x"), Streams(0))
    assert {label: blocks.tolist() for label, blocks in result.demand.items()} == {
        "vgpr": [1, 16],
        "sgpr": [1, 3],
        "shared": [0, 33],
    }


def test_streams_become_channels_in_turn_and_queues_may_instead(tmp_path):
    kernels = [{**KERNEL, "start_ns": 1000 * k, "workgroups": 1, "stream": s} for k, s in enumerate([9, 2, 9, 5, 1, 2])]
    workload = TraceGroups(trace=kineto(kernels, tmp_path))
    channels = [workload.but(channels=n).groups(Machine(), Streams(0)).channel.tolist() for n in (64, 3, 1)]
    assert channels == [[0, 1, 0, 2, 3, 1], [0, 1, 0, 2, 0, 1], [0] * 6]
    message = refusal(workload.but(channel_of="queue").groups, Machine(), Streams(0))
    assert message == f"{workload.trace}: no hardware queues were recorded; take `channel_of: stream`."
    unknown = TraceGroups(trace=kineto(kernels, tmp_path, without=["stream"]))
    assert unknown.groups(Machine(), Streams(0)).channel.tolist() == [0] * 6


def test_seeds_take_windows_and_say_how_many_there_are(tmp_path):
    kernels = [{**KERNEL, "start_ns": 1000 * k, "workgroups": 1, "threads": 64 * (k + 1)} for k in range(10)]
    workload, machine = TraceGroups(trace=kineto(kernels, tmp_path), windows=3), Machine()
    parts = [workload.groups(machine, Streams(seed)).waves.tolist() for seed in range(4)]
    assert parts == [[1, 2, 3], [4, 5, 6], [7, 8, 9, 10], [1, 2, 3]]
    assert [workload.groups(machine, Streams(seed)).arrival[0] for seed in range(3)] == [0, 0, 0]
    assert workload.different_seeds(machine) == 3
    assert workload.but(windows=1).different_seeds(machine) == 1
    assert workload.but(instructions="instruction_mix").different_seeds(machine) is None
    message = refusal(workload.but(windows=11).check_machine, machine, "workload", "a.yaml")
    assert message == "a.yaml: workload.windows must be at most 10, the kernels that are taken. Got 11. Nearest: 10."


def test_instructions_are_drawn_a_kernel_and_seen_by_every_group_of_it(tmp_path):
    kernels = [{**KERNEL, "start_ns": 1000 * k} for k in range(20)]
    workload = TraceGroups(trace=kineto(kernels, tmp_path), instructions="instruction_mix")
    drawn = workload.groups(Machine(), Streams(1)).instructions.reshape(20, 6, 6)
    assert (drawn == drawn[:, :1]).all()
    assert len(np.unique(drawn[:, 0], axis=0)) == 3
    assert drawn.tolist() != workload.groups(Machine(), Streams(2)).instructions.reshape(20, 6, 6).tolist()
    assert not TraceGroups(trace=workload.trace).groups(Machine(), Streams(1)).instructions.any()


def test_a_trace_without_registers_is_refused_with_the_lever_that_takes_none(tmp_path):
    trace = kineto([KERNEL, {**KERNEL, "start_ns": 50}], tmp_path, without=["registers per thread"])
    workload = TraceGroups(trace=trace)
    assert refusal(workload.check_machine, Machine(), "workload", "a.yaml") == (
        f"a.yaml: {trace}: cannot become groups: 2 of 2 kernels have no registers (a Kineto trace of an NVIDIA card "
        "has them as `registers per thread`, a rocprofv3 JSON as `arch_vgpr_count`, a rocprofiler-compute CSV as "
        "`Arch_VGPR`); `unrecorded: none` takes them to ask for none."
    )
    result = workload.but(unrecorded="none").groups(Machine(), Streams(0))
    assert (result.demand["vgpr"].tolist(), result.demand["shared"].tolist()) == ([0] * 12, [1] * 12)
    bare = TraceGroups(trace=kineto([KERNEL], tmp_path, without=["registers per thread", "shared memory"]))
    assert refusal(bare.groups, Machine(), Streams(0)).count("have no") == 2
    assert bare.but(unrecorded="none").groups(Machine(), Streams(0)).demand["shared"].tolist() == [0] * 6
    gridless = TraceGroups(trace=kineto([KERNEL], tmp_path, without=["registers per thread", "grid"]))
    assert "unrecorded" not in refusal(gridless.groups, Machine(), Streams(0))


def test_kernels_that_were_not_recorded_whole_are_left_out_only_when_asked(tmp_path):
    document = json.loads((DATA / "kineto_nvidia.json").read_text())
    del document["traceEvents"][next(k for k, e in enumerate(document["traceEvents"]) if e["name"] == "first\\gemm")][
        "args"
    ]["registers per thread"]
    place = tmp_path / "t.json"
    place.write_text(json.dumps(document))
    workload, machine = TraceGroups(trace=str(place)), read_machine("a100")
    message = refusal(workload.groups, machine, Streams(0))
    assert "1 of 3 kernels have no registers (" in message
    assert message.endswith("`incomplete: skip` leaves those out; `unrecorded: none` takes them to ask for none.")
    assert workload.but(incomplete="skip").facts(machine)["kernels_incomplete"] == 1
    assert workload.but(unrecorded="none").facts(machine)["kernels_incomplete"] == 0


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (
            {"shared_bytes": 90_000},
            "shared_segments of a group of kernel 'k0' must be at most 128, all that a module has. Got 176. "
            "Nearest: machine: v100.",
        ),
        (
            {"threads": 1024, "vgprs": 128},
            "vgpr_blocks of a group of kernel 'k0' must be at most 16, as 4 of its 16 waves share a unit of 64 blocks. "
            "Got 32. Nearest: machine: mi250x.",
        ),
        (
            {"threads": 8192},
            "waves of a group of kernel 'k0' must be at most 40, all that a module has slots for. Got 128. "
            "No preset holds as much.",
        ),
    ],
)
def test_a_group_that_no_module_can_hold_is_refused_with_the_preset_that_can(tmp_path, kernel, says):
    workload = TraceGroups(trace=kineto([{**KERNEL, **kernel}], tmp_path))
    assert refusal(workload.groups, Machine(), Streams(0)) == f"{workload.trace}: {says}"


def test_kernels_that_last_too_long_are_left_out_and_counted(tmp_path):
    kernels = [{**KERNEL, "start_ns": 1000 * k, "duration_ns": d} for k, d in enumerate([1000, 5000, 90_000])]
    workload = TraceGroups(trace=kineto(kernels, tmp_path), longest_us=5)
    assert len(workload.groups(Machine(), Streams(0)).waves) == 2 * KERNEL["workgroups"]
    assert workload.facts(Machine())["kernels_longer"] == 1
    message = refusal(workload.but(longest_us=0.5).groups, Machine(), Streams(0))
    assert message == f"{workload.trace}: no kernel is taken, so there is no group."


def test_more_groups_than_memory_holds_are_refused_with_a_count(tmp_path):
    workload = TraceGroups(trace=kineto([{**KERNEL, "workgroups": MOST_GROUPS + 1}], tmp_path))
    message = refusal(workload.groups, Machine(), Streams(0))
    assert message == (
        f"{workload.trace}: gives 10000001 groups, more than 10000000; take fewer with most_a_kernel, windows or "
        "count. Nearest: count: 10000000."
    )
    assert len(workload.but(count=5).groups(Machine(), Streams(0)).waves) == 5
    assert workload.facts(Machine())["groups"] == MOST_GROUPS + 1


def test_it_reads_from_a_sweep_file_pickles_is_shown_shortly_and_is_named_by_contents(tmp_path):
    text = (DATA / "rocprofv3.json").read_bytes()
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(text)
    here, there = (
        read_workload({"trace": str(tmp_path / name), "count": 5}, wants="groups") for name in ("a.json", "b.json")
    )
    assert here == TraceGroups(trace=str(tmp_path / "a.json"), count=5).pinned()
    assert pickle.loads(pickle.dumps(here)) == here
    assert here.short() == "trace_groups(trace=a.json, count=5)"
    assert here.identity() == there.identity() != here.but(windows=2).identity()
    assert str(tmp_path) not in repr(here.identity())
    assert refusal(TraceGroups, trace="x", priorities=[]) == (
        "trace_groups.priorities must hold at least one priority. Got []."
    )


def test_what_is_given_out_is_ones_own():
    workload, machine = TraceGroups(trace=str(DATA / "rocprofv3.json"), most_a_kernel=1), read_machine("mi300x")
    first = workload.groups(machine, Streams(1))
    first.waves[:], first.demand["vgpr"][:] = 77, 77
    again = workload.groups(machine, Streams(2))
    assert 77 not in again.waves
    assert 77 not in again.demand["vgpr"]


SERVING, NOTHING = {"vgpr": 18, "sgpr": 7, "shared": 123}, {"vgpr": 0, "sgpr": 0, "shared": 0}
REAL = [
    ("hta_a100_nccl_rank", "a100", {}, (138075, 2, 17, {"vgpr": 32, "shared": 1288})),
    ("rocprofv3_mi355x_part1", "mi355x", {}, (296622, 64, 16, SERVING)),
    ("rocprofv3_mi355x_part1", "mi355x", {"channel_of": "queue"}, (296622, 5, 16, SERVING)),
    ("hta_sampled_rank_0", "a100", {}, (50313, 4, 32, {"vgpr": 32, "shared": 1288})),
    ("tracelens_h100_falconsai_vit", "h100", {}, (9734, 1, 16, {"vgpr": 32, "shared": 1816})),
    ("kineto_v100_resnet50_workers0", "v100", {}, (317112, 1, 16, {"vgpr": 20, "shared": 192})),
    (
        "tracelens_mi300x_timesformer",
        "mi300x",
        {"unrecorded": "none"},
        (27110, 1, 16, NOTHING),
    ),
    (
        "tracelens_mi300x_qwen1.5_0.5b",
        "mi300x",
        {"unrecorded": "none", "incomplete": "skip"},
        (59991, 1, 8, NOTHING),
    ),
    ("omniperf_mi100_mixbench_pmc_perf", "mi250x", {}, (10688, 1, 4, {"vgpr": 5, "sgpr": 2, "shared": 0})),
]


@needs_public_traces
@pytest.mark.parametrize(("name", "machine", "levers", "expected"), thinned([pytest.param(*case) for case in REAL], 4))
def test_real_traces_give_groups_for_their_machine(monkeypatch, name, machine, levers, expected):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    result = TraceGroups(trace=name, most_a_kernel=64, **levers).groups(preset(machine).machine(), Streams(1))
    most = {label: int(blocks.max()) for label, blocks in result.demand.items()}
    assert (len(result.waves), len(np.unique(result.channel)), int(result.waves.max()), most) == expected
    assert result.arrival[0] == 0
    assert (np.diff(result.arrival) >= 0).all()
    assert result.duration.min() >= 1
    assert result.channel.max() + 1 == expected[1]


@needs_public_traces
def test_every_workgroup_of_a_real_trace_may_be_taken(monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    workload = TraceGroups(trace="hta_a100_alexnet")
    machine = read_machine("a100")
    assert len(workload.groups(machine, Streams(1)).waves) == 971288 == workload.facts(machine)["workgroups"]


@needs_public_traces
def test_a_real_trace_without_registers_says_so(monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    message = refusal(TraceGroups(trace="tracelens_mi210_gpu_only").groups, read_machine("mi250x"), Streams(1))
    assert "562 of 562 kernels have no registers (" in message
    assert message.endswith("`unrecorded: none` takes them to ask for none.")
