"""The corners of each format, on traces that are written by hand so that every number can be seen in the file."""

import bz2
import gzip
import lzma
from pathlib import Path

import pytest

from workbench.workloads.importers import read_trace

DATA = Path(__file__).parents[2] / "data" / "traces"


def test_kineto_of_an_nvidia_card():
    trace = read_trace(DATA / "kineto_nvidia.json")
    table = trace.kernels
    assert table.unique_names == ('second "gemm", [a]{b}', "first\\gemm")
    assert table.name.tolist() == [0, 1, 0]
    assert table.start_ns.tolist() == [1712195495505610125, 1712195495505583297, 1712195495505620000]
    assert table.duration_ns.tolist() == [40500, 10000, 1]
    assert table.stream.tolist() == [7, 7, 20]
    assert table.workgroups.tolist() == [216, 5, 1]
    assert table.threads.tolist() == [256, 64, 32]
    assert table.shared_bytes.tolist() == [49152, 0, 1025]
    assert table.vgprs.tolist() == [64, 32, 64]
    assert table.sgprs is None
    assert trace.allocations.bytes.tolist() == [512, -512]
    assert trace.facts() == {
        "format": "kineto",
        "kernels": 3,
        "unique_names": 2,
        "total_duration_ns": 50501,
        "devices": 1,
        "device_numbers": [0],
        "streams": 2,
        "zero_durations": 0,
        "span_ns": 67328,
        "max_shared_bytes": 49152,
        "kernels_with_shared_memory": 2,
        "workgroups": 222,
        "kernels_with_grid": 3,
        "max_threads": 256,
        "max_registers": 64,
        "events": 11,
        "memcpys": 1,
        "memsets": 1,
        "allocations": 1,
        "frees": 1,
        "allocated_bytes": 512,
        "freed_bytes": 512,
        "largest_allocation_bytes": 512,
        "peak_window_bytes": 512,
        "peak_live_bytes": 1536,
        "peak_reserved_bytes": 4096,
        "addresses": 1,
        "cards": 1,
        "card_names": ["NVIDIA A100-SXM4-40GB"],
        "missing": [],
    }


def test_kineto_as_a_bare_list_of_events(tmp_path):
    whole = (DATA / "kineto_nvidia.json").read_text()
    events = whole[whole.index("[", whole.index("traceEvents")) : whole.rindex("]") + 1]
    (tmp_path / "list.json").write_text(events)
    bare, full = read_trace(tmp_path / "list.json"), read_trace(DATA / "kineto_nvidia.json")
    assert bare.kernels.start_ns.tolist() == full.kernels.start_ns.tolist()
    assert bare.cards == ()
    assert "cards" not in bare.facts()


def test_kineto_of_an_amd_card_counts_grids_of_extended_launches_in_workgroups():
    trace = read_trace(DATA / "kineto_amd.json")
    table, message = trace.kernels, trace.facts()
    assert table.workgroups.tolist() == [8, 588, -1]
    assert table.shared_bytes is None
    assert table.vgprs is None
    assert (message["grids_in_work_items"], message["grid_sum_recorded"], message["workgroups"]) == (1, 2588, 596)
    assert "max_shared_bytes" not in message
    assert message["missing"][0].startswith("1 of 3 kernels have no grid (")
    assert message["missing"][1].startswith(
        "3 of 3 kernels have no shared memory (a Kineto trace of an NVIDIA card has it"
    )


def test_rocprofv3():
    trace = read_trace(DATA / "rocprofv3.json")
    table = trace.kernels
    assert [table.name_of(k) for k in range(2)] == ["gemm", "fill.kd"]
    assert table.workgroups.tolist() == [16 * 2, 2]
    assert table.threads.tolist() == [256, 256]
    assert table.shared_bytes.tolist() == [16896, 0]
    assert table.registers().tolist() == [128, 8]
    assert table.device.tolist() == [1, 1]
    assert [(card.number, card.waves_a_unit, card.shared_memory_bytes) for card in trace.cards] == [
        (0, 32, 65536),
        (1, 32, 65536),
    ]
    assert trace.facts()["dispatches"] == 2


def test_rocprof_compute_of_two_versions():
    old, new = read_trace(DATA / "pmc_perf_old.csv"), read_trace(DATA / "pmc_perf_new.csv")
    assert old.kernels.unique_names == ("copy(double*, int)", "fill")
    assert old.kernels.workgroups.tolist() == [4, 1]
    assert old.kernels.duration_ns.tolist() == [326237, 1]
    assert old.kernels.accum_vgprs is None
    assert old.facts()["columns_used"]["grid"] == "grd"
    assert new.kernels.unique_names == ("vecCopy(double*, double*, int) (.kd)",)
    assert new.kernels.start_ns.tolist() == [810970000000000]
    assert new.kernels.registers().tolist() == [8]
    assert new.facts()["columns_used"]["grid"] == "Grid_Size"
    assert new.kernels.stream is None


@pytest.mark.parametrize(("suffix", "module"), [("gz", gzip), ("xz", lzma), ("bz2", bz2), ("json", gzip)])
def test_compression_is_recognised_by_content(tmp_path, suffix, module):
    place = tmp_path / f"trace.{suffix}"
    place.write_bytes(module.compress((DATA / "rocprofv3.json").read_bytes()))
    assert read_trace(place).facts() == read_trace(DATA / "rocprofv3.json").facts()
