"""Nsight Systems: the SQLite export and the CSV of cuda_gpu_trace, kernel by kernel; what damaged ones say."""

import numpy as np
import pytest

from tests.workloads.importers import profiles
from tests.workloads.importers.refusing import refusal
from workbench.workloads.importers import read_trace
from workbench.workloads.launches import launches_of


def test_an_export_kernel_by_kernel(tmp_path):
    trace = read_trace(profiles.nsys(tmp_path / "run.sqlite"))
    table = trace.kernels
    assert [table.name_of(row) for row in range(3)] == [
        "void gemm<float>(float*)",
        "fill(int*)",
        "void gemm<float>(float*)",
    ]
    assert table.start_ns.tolist() == [1000, 7000, 8000]
    assert table.duration_ns.tolist() == [5000, 500, 1000]
    assert table.device.tolist() == [0, 0, 1]
    assert table.stream.tolist() == [7, 7, 13]
    assert table.workgroups.tolist() == [8, 10, 1]
    assert table.block.tolist() == [[128, 1, 1], [256, 1, 1], [32, 2, 1]]
    assert table.threads.tolist() == [128, 256, 64]
    assert table.shared_bytes.tolist() == [1536, 0, 50176]
    assert table.vgprs.tolist() == [64, 16, 64]
    assert table.correlation.tolist() == [101, 102, 103]
    assert trace.facts() == {
        "format": "nsys_sqlite",
        "kernels": 3,
        "unique_names": 2,
        "total_duration_ns": 6500,
        "devices": 2,
        "device_numbers": [0, 1],
        "streams": 2,
        "zero_durations": 0,
        "span_ns": 8000,
        "max_shared_bytes": 50176,
        "kernels_with_shared_memory": 2,
        "workgroups": 19,
        "kernels_with_grid": 3,
        "max_threads": 256,
        "max_registers": 64,
        "schema": "3.15.1",
        "memcpys": 2,
        "memsets": 0,
        "kernels_of_graphs": 1,
        "graphs_without_kernels": 1,
        "cards": 1,
        "card_names": ["NVIDIA H100 80GB HBM3"],
        "missing": [],
    }
    card = trace.cards[0]
    assert (card.compute_units, card.wave_size, card.waves_a_unit, card.threads_a_unit) == (132, 32, 64, 2048)
    assert (card.shared_memory_bytes, card.registers_a_unit) == (233472, None)


def test_columns_that_a_schema_lacks_are_missing_not_zero(tmp_path):
    columns = "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, shortName INTEGER"
    trace = read_trace(profiles.nsys(tmp_path / "old.sqlite", [(5, 9, 0, 7, 2), (10, 12, 0, 7, 3)], columns))
    assert trace.kernels.unique_names == ("gemm", "fill(int*)")
    assert trace.kernels.workgroups is None
    assert trace.kernels.shared_bytes is None
    assert [clause[:32] for clause in trace.missing()] == [
        "2 of 2 kernels have no grid (ker",
        "2 of 2 kernels have no shared me",
    ]


def test_a_null_is_missing_in_its_row(tmp_path):
    columns = profiles.KERNEL_COLUMNS.replace("dynamicSharedMemory INTEGER NOT NULL", "dynamicSharedMemory INTEGER")
    rows = [(*row[:17], None, None) if k else row for k, row in enumerate(profiles.NSYS_KERNELS)]
    assert read_trace(profiles.nsys(tmp_path / "t", rows, columns)).kernels.shared_bytes.tolist() == [1536, -1, -1]


def test_narrow_columns_are_wide_once_they_are_launches(tmp_path):
    trace = read_trace(profiles.nsys(tmp_path / "t"))
    assert trace.kernels.workgroups.dtype == np.int8
    launches, _ = launches_of(trace)
    for column in (launches.workgroups, launches.shared_bytes, launches.duration_ns, launches.threads, launches.stream):
        assert column.dtype == np.int64
    assert launches.shared_bytes.tolist() == [1536, 0]


BAD = [
    ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 9223372036854775807", "holds a number that does not fit in 64 bits;"),
    (
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -9223372036854775807",
        "holds a number that does not fit in 64 bits;",
    ),
    ("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL", "holds no kernels; record with `nsys profile --trace=cuda`."),
    (
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'many'",
        "gridX of CUPTI_ACTIVITY_KIND_KERNEL must be whole numbers. Got",
    ),
    (
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1.5",
        "end of CUPTI_ACTIVITY_KIND_KERNEL must be whole numbers. Got 1.5.",
    ),
    ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 0", "duration_ns of kernels 0 is below zero. Got -1000."),
    (
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1 << 62",
        "holds a number that does not fit in 64 bits; the file is",
    ),
    (
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 44",
        "a kernel's name is string 44, which StringIds does not",
    ),
    ("DROP TABLE StringIds", "a kernel's name is string 1, which StringIds does not have."),
    (
        "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO begin",
        "CUPTI_ACTIVITY_KIND_KERNEL has no column start,",
    ),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_a_bad_export_is_refused_in_one_sentence(tmp_path, change, says):
    path = profiles.nsys(tmp_path / "run.sqlite")
    profiles.database(path, [change], {})
    assert refusal(path).startswith(says)


def test_csv_in_nanoseconds_and_rounded_megabytes(tmp_path):
    (tmp_path / "t.csv").write_text(profiles.NSYS_CSV)
    trace = read_trace(tmp_path / "t.csv")
    table = trace.kernels
    assert table.unique_names == ("void gemm<float, int>(float*, int)", "fill(int*)")
    assert (table.start_ns.tolist(), table.duration_ns.tolist()) == ([1000, 7000], [5000, 500])
    assert (table.workgroups.tolist(), table.threads.tolist()) == ([8, 10], [128, 256])
    assert (table.shared_bytes.tolist(), table.vgprs.tolist()) == ([50000, 0], [64, 16])
    assert [(card.number, card.name) for card in trace.cards] == [(0, "NVIDIA H100 80GB HBM3")]
    facts = trace.facts()
    assert (facts["memcpys"], facts["memsets"], facts["shared_bytes_rounded_to"]) == (1, 0, 1000)


def test_csv_with_other_units(tmp_path):
    (tmp_path / "t.csv").write_text(profiles.NSYS_CSV_BYTES)
    trace = read_trace(tmp_path / "t.csv")
    table = trace.kernels
    assert (table.start_ns.tolist(), table.duration_ns.tolist()) == ([1000], [5000])
    assert (table.shared_bytes.tolist(), table.device.tolist()) == ([50176], [3])
    assert trace.facts()["memsets"] == 1
    assert "shared_bytes_rounded_to" not in trace.facts()


BAD_CSV = [
    (("1000,5000,101", "soon,5000,101"), "line 6: Start (ns) must be a number. Got 'soon'."),
    (("1000,5000,101", ",5000,101"), "line 6: a kernel needs a start and a duration."),
    (("1000,5000,101,4", "1000,5000,101,²"), "line 6: GrdX must be a number. Got '²'."),
    (("1000,5000,101,4", "1000,5000,101,0"), "line 6: grdx, grdy, grdz must each be at least 1. Got (0, 2, 1)."),
    (("1000,5000,101,4", "1000,5000,101,1.5"), "line 6: GrdX must be a whole number. Got '1.5'."),
    (("1000,5000,101,4", "1000,5000,101," + "9" * 5000), "line 6: GrdX must be a number. Got '999"),
    (("Start (ns)", "Start (fortnights)"), "line 6: Start (fortnights) must be in ns, nsec,"),
    (("Start (ns)", "Start (n\x1bs)"), "line 6: Start (ns) must be in ns, nsec,"),
    (("StcSMem (MB)", "StcSMem (pages)"), "line 6: StcSMem (pages) must be in b, byte,"),
    (
        ('HBM3 (0),1,,7,"void', 'HBM3,1,,7,"void'),
        "line 6: Device must be a name and a number, such as `NVIDIA H100 (0)`.",
    ),
    ((",7,fill(int*)", ",7"), "line 7: has 20 fields where the header has 21; the file is cut off or damaged."),
    (('int)"', "int)"), "line 7 is no CSV ("),
]


@pytest.mark.parametrize(("change", "says"), BAD_CSV)
def test_a_bad_csv_is_refused_in_one_sentence(tmp_path, change, says):
    (tmp_path / "t.csv").write_text(profiles.NSYS_CSV.replace(*change))
    assert refusal(tmp_path / "t.csv").startswith(says)
