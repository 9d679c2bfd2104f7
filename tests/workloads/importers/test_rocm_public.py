"""Every number that facts.json gives for files of AMD's tools, and every row against a plain reading of the file."""

import csv
import gzip
import json
from collections import Counter

import numpy as np
import pytest

from tests.oracles.kineto import busy_union, most_at_once
from tests.public_traces import FACTS, files, needs_public_traces, path
from workbench.workloads.importers import read_trace

pytestmark = needs_public_traces


@pytest.fixture(scope="module", params=files("rocprofv3_json"))
def both(request):
    """What is read of a file of rocprofv3, and the file as JSON."""
    file = request.param
    return file, read_trace(path(file)), json.loads(gzip.decompress(path(file).read_bytes()))["rocprofiler-sdk-tool"][0]


def test_every_number_of_the_rocprofv3_facts(both):
    file, trace, document = both
    expected = FACTS[file]
    table, message, card = trace.kernels, trace.facts(), trace.cards[0]
    spans = list(zip(table.start_ns.tolist(), (table.start_ns + table.duration_ns).tolist(), strict=True))
    shapes = Counter(",".join(map(str, block)) for block in table.block.tolist())
    shared = Counter(table.shared_bytes.tolist())
    result = {
        "format": message["format"],
        "dispatches": message["dispatches"],
        "kernel_ids_used": message["kernel_ids"],
        "unique_kernel_names": message["unique_names"],
        "agents": len(document["agents"]),
        "gpu_agents": message["cards"],
        "agents_used": message["devices"],
        "queues": message["queues"],
        "streams": message["streams"],
        "gpu0": {
            "cu_count": card.compute_units,
            "simd_per_cu": card.simds_a_unit,
            "max_waves_per_simd": card.waves_a_unit // card.simds_a_unit,
            "lds_size_in_kb": card.shared_memory_bytes // 1024,
            "wave_front_size": card.wave_size,
            "gfx_target_version": _version(card.architecture),
        },
        "sum_duration_ns": message["total_duration_ns"],
        "max_duration_ns": table.duration_ns.max(),
        "busy_union_ns": busy_union(spans),
        "max_concurrent": most_at_once(spans),
        "top_workgroup_xyz": [[shape, shapes[shape]] for shape, _ in expected["top_workgroup_xyz"]],
        "top_threads_per_workgroup": [list(row) for row in Counter(table.threads.tolist()).most_common(5)],
        "sum_workgroups": message["workgroups"],
        "max_group_segment_size": message["max_shared_bytes"],
        "dispatches_with_lds": message["dispatches_with_shared_memory"],
        "top_group_segment_size": [[size, shared[size]] for size, _ in expected["top_group_segment_size"]],
        "dispatches_with_grid_not_multiple_of_workgroup": sum(_ragged(r) for r in _records(document)),
        "max_arch_vgpr": table.vgprs.max(),
        "max_accum_vgpr": table.accum_vgprs.max(),
        "max_sgpr": table.sgprs.max(),
        "max_private_segment_size": max(r["dispatch_info"]["private_segment_size"] for r in _records(document)),
    }
    assert result == expected


def test_every_dispatch_is_what_a_plain_reading_finds(both):
    _, trace, document = both
    table = trace.kernels
    symbols = {symbol["kernel_id"]: symbol for symbol in document["kernel_symbols"]}
    for k, record in enumerate(_records(document)):
        info = record["dispatch_info"]
        symbol = symbols[info["kernel_id"]]
        grid, block = info["grid_size"], info["workgroup_size"]
        assert table.name_of(k) == symbol["formatted_kernel_name"]
        assert (table.start_ns[k], table.start_ns[k] + table.duration_ns[k]) == (
            record["start_timestamp"],
            record["end_timestamp"],
        )
        assert table.workgroups[k] * table.threads[k] == grid["x"] * grid["y"] * grid["z"]
        assert table.block[k].tolist() == [block["x"], block["y"], block["z"]]
        assert table.shared_bytes[k] == info["group_segment_size"]
        assert (table.vgprs[k], table.sgprs[k]) == (symbol["arch_vgpr_count"], symbol["sgpr_count"])
        assert (table.stream[k], table.correlation[k]) == (
            record["stream_id"]["handle"],
            record["correlation_id"]["internal"],
        )


@pytest.mark.parametrize("file", files("omniperf_pmc_csv"))
def test_every_number_of_the_rocprof_compute_facts(file):
    expected = dict(FACTS[file])
    trace = read_trace(path(file))
    table, message = trace.kernels, trace.facts()
    # facts.json was made with doubles, which hold time stamps of 16 digits to 2 ns; the exact sum is checked below
    assert message["total_duration_ns"] == pytest.approx(expected.pop("sum_duration_ns"), abs=2 * table.rows)
    items = Counter((table.workgroups * table.threads).tolist())
    used = message["columns_used"]
    result = {
        "format": message["format"],
        "rows": message["dispatches"],
        "columns": message["columns"],
        "column_names_used": {what: used[what] for what in ("grid", "workgroup", "lds", "vgpr", "sgpr", "name")},
        "unique_kernel_names": message["unique_names"],
        "top_workgroup": [list(row) for row in Counter(table.threads.tolist()).most_common()],
        "top_grid_work_items": sorted(map(list, items.items()), key=lambda row: (-row[1], row[0])),
        "sum_workgroups": message["workgroups"],
        "max_lds": message["max_shared_bytes"],
        "max_vgpr": message["max_registers"],
        "max_sgpr": table.sgprs.max(),
    }
    assert result == expected


@pytest.mark.parametrize("file", files("omniperf_pmc_csv"))
def test_every_row_is_what_a_plain_reading_finds(file):
    table = read_trace(path(file)).kernels
    with gzip.open(path(file), "rt", newline="") as text:
        rows = list(csv.DictReader(text))
    assert table.rows == len(rows)
    for k, row in enumerate(rows):
        grid = int(row.get("grd") or row["Grid_Size"])
        assert table.name_of(k) == row["Kernel_Name"]
        assert table.device[k] == int(row["GPU_ID"])
        assert table.threads[k] == int(row["Workgroup_Size"])
        assert table.workgroups[k] == grid // int(row["Workgroup_Size"])
        assert table.shared_bytes[k] == int(row["LDS_Per_Workgroup"])
        assert table.vgprs[k] == int(row.get("vgpr") or row["Arch_VGPR"])
        if "E" not in row["Start_Timestamp"]:
            assert table.start_ns[k] == int(row["Start_Timestamp"])
            assert table.start_ns[k] + table.duration_ns[k] == int(row["End_Timestamp"])
        else:
            assert table.start_ns[k] == 810970000000000  # 8.1097E+14 as the file has it
            assert table.duration_ns[k] == 0


def test_rounded_time_stamps_are_said_and_not_passed_on_as_durations():
    trace = read_trace(path("rocm/omniperf_mi300x_vcopy_pmc_perf.csv.gz"))
    assert trace.missing() == ["all dispatches last 0 ns (the time stamps were rounded; take a trace in nanoseconds)"]


def _records(document):
    return document["buffer_records"]["kernel_dispatch"]


def _ragged(record):
    info = record["dispatch_info"]
    return any(info["grid_size"][axis] % info["workgroup_size"][axis] for axis in "xyz")


def _version(architecture):
    """gfx950 as gfx_target_version writes it: 90500."""
    digits = architecture.removeprefix("gfx")
    return int(digits[:-2]) * 10_000 + int(digits[-2], 16) * 100 + int(digits[-1], 16)


@pytest.mark.slow
def test_the_accelerator_of_the_serving_trace_calls_itself_mi350x():
    cards = read_trace(path("rocm/rocprofv3_mi355x_part1.json.gz")).cards
    assert {card.name for card in cards} == {"AMD Instinct MI350X"}
    assert np.unique([card.number for card in cards]).tolist() == list(range(8))
