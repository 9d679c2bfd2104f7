"""Logs of blocks: read as kernels and as blocks, as a workload with each block's duration, and refused when broken."""

import json

import numpy as np
import pytest

import workbench as wb
from tests.workloads.importers.profiles import writer
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.block_times import read_blocks
from workbench.workloads.synthetic.instructions import InstructionMix, Mix
from workbench.workloads.trace_blocks import TraceBlocks
from workbench.workloads.workload_key import read_workload

SPIN = {
    "kernel_name": "spin",
    "block_count": 3,
    "thread_count": 256,
    "shared_memory": 1024,
    "block_times": [10.0000005, 10.0000015, 10.0, 10.000002, 10.000001, 10.000004],
    "block_smids": [2, 0, 2],
}
WALK = {
    **SPIN,
    "kernel_name": "walk",
    "block_count": 1,
    "block_times": [9.999999, 10.0],
    "block_smids": [1],
    "stream": 4,
}
LOG = {
    "scenario_name": "two kernels",
    "benchmark_name": "spin",
    "max_resident_threads": 6144,
    "times": [{}, {"cpu_times": [1.0, 2.0]}, SPIN, WALK],
}
OLD = {
    "scenario_name": "old",
    "benchmark_name": "mandelbrot",
    "thread_count": 64,
    "max_resident_threads": 6144,
    "times": [{}, {"kernel_times": [1.0, 2.0], "block_times": [1.0, 1.5], "cpu_core": 0}],
}
SAMPLES = {"block times": ("block_times_json", writer(LOG)), "old block times": ("block_times_json", writer(OLD))}


def test_kernels_start_with_their_first_block_and_end_with_their_last(tmp_path):
    trace = read_trace(writer(LOG)(tmp_path / "t.json"))
    kernels = trace.kernels
    assert [kernels.name_of(row) for row in range(2)] == ["spin", "walk"]
    assert kernels.start_ns.tolist() == [1000, 0]
    assert kernels.duration_ns.tolist() == [4000, 1000]
    assert (kernels.workgroups.tolist(), kernels.threads.tolist()) == ([3, 1], [256, 256])
    assert (kernels.shared_bytes.tolist(), kernels.stream.tolist(), kernels.vgprs) == ([1024, 1024], [0, 4], None)
    assert (trace.facts()["blocks"], trace.facts()["modules"]) == (4, 3)


def test_blocks_keep_their_module_and_times(tmp_path):
    log = read_blocks(writer(LOG)(tmp_path / "t.json"))
    assert log.module.tolist() == [2, 0, 2, 1]
    assert log.kernel.tolist() == [0, 0, 0, 1]
    assert log.start_ns.tolist() == [1500, 1000, 2000, 0]
    assert log.end_ns.tolist() == [2500, 3000, 5000, 1000]
    assert (log.scenario, log.most_resident_threads, log.registers) == ("two kernels", 6144, (-1, -1))


def test_older_files_have_threads_once_and_no_modules(tmp_path):
    log = read_blocks(writer(OLD)(tmp_path / "t.json"))
    assert (log.threads, log.module.tolist(), log.names) == ((64,), [-1], ("mandelbrot",))
    assert "modules" not in read_trace(tmp_path / "t.json").facts()


def test_as_a_workload_each_group_may_last_as_its_block_did(tmp_path):
    place = str(writer(LOG)(tmp_path / "t.json"))
    workload = read_workload({"trace": place, "unrecorded": "none"}, wants="groups")
    assert isinstance(workload, TraceBlocks)
    groups = workload.groups(Machine(), Streams(0))
    assert groups.duration.tolist() == [1000, 1000, 2000, 3000]
    assert groups.arrival.tolist() == [0, 1000, 1000, 1000]
    assert groups.channel.tolist() == [0, 1, 1, 1]
    assert groups.waves.tolist() == [4, 4, 4, 4]
    assert workload.but(most_a_kernel=2, count=2).groups(Machine(), Streams(0)).duration.tolist() == [1000, 1000]
    whole = workload.but(durations="kernels", duration_rule="whole").groups(Machine(), Streams(0))
    assert whole.duration.tolist() == [1000, 4000, 4000, 4000]
    assert np.array_equal(whole.arrival, groups.arrival)


def test_windows_and_instructions_go_with_the_blocks_that_are_taken(tmp_path):
    workload = TraceBlocks(trace=str(writer(LOG)(tmp_path / "t.json")), unrecorded="none", windows=2)
    workload = workload.but(instructions=InstructionMix(mixes=(Mix(load=1000),)))
    parts = [workload.groups(Machine(), Streams(seed)) for seed in (0, 1)]
    assert [part.duration.tolist() for part in parts] == [[1000], [1000, 2000, 3000]]
    assert [part.instructions[:, 1].tolist() for part in parts] == [[4000], [4000, 8000, 12000]]


def test_a_sweep_may_name_the_log_and_runs_it(tmp_path):
    place = str(writer(LOG)(tmp_path / "t.json"))
    sweep = {"engine": "dispatch", "workload": {"trace": place, "unrecorded": "none"}, "measures": ["makespan_cycles"]}
    assert wb.run({**sweep, "seeds": 1}, workers=0).table["makespan_cycles"].tolist() == [4002]  # a group a round


BROKEN = [
    ({"block_times": [1.0, 2.0, 3.0]}, "kernel 0: block_times must hold a start and an end for each block. Got 3 numb"),
    ({"block_count": 2}, "must hold a start and an end for each block. Got 6 numbers."),
    ({"block_smids": [0]}, "kernel 0: block_smids must hold one SM for each of 3 blocks. Got 1."),
    ({"block_smids": [0, -1, 0]}, "kernel 0: an SM must be a number from 0 to 4095. Got -1."),
    (
        {"block_times": [2.0, 1.0, 0, 1, 0, 1]},
        "kernel 0: block 0 must end after its start, in seconds. Got 2.0 and 1.0.",
    ),
    ({"thread_count": None}, "kernel 0: thread_count must be at least 1. Got None."),
    ({"block_times": ["x"]}, "is not as cuda_scheduling_examiner writes it"),
    ({"registers": 8}, "t.json: registers must be given for each kernel or for none. Got it for some."),
    ({"block_times": []}, "must hold block_times of at least one kernel. Got none."),
]


@pytest.mark.parametrize(("change", "sentence"), BROKEN)
def test_a_broken_log_is_refused_in_one_sentence(tmp_path, change, sentence):
    place = writer({**LOG, "times": [{}, {**SPIN, **change}, *([WALK] if "registers" in change else [])]})(
        tmp_path / "t.json"
    )
    with pytest.raises(InputError) as wrong:
        read_trace(place)
    assert sentence in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_a_log_of_a_benchmark_that_was_stopped_is_refused(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(LOG)[:-10])
    with pytest.raises(InputError, match="is not as cuda_scheduling_examiner writes it"):
        read_trace(tmp_path / "t.json")
