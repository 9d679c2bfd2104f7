"""rocprofv3 of ROCm 6 and 7: the database of its three schemas, and the CSV in its column sets, by dispatch."""

import pytest

from tests.public_recordings import recording
from tests.workloads.importers import profiles
from tests.workloads.importers.refusing import refusal
from workbench.workloads.importers import read_trace


@pytest.mark.parametrize("schema", profiles.ROCPD)
def test_a_database_dispatch_by_dispatch(tmp_path, schema):
    trace = read_trace(profiles.rocpd(tmp_path / "1_results.db", schema))
    table = trace.kernels
    assert [table.name_of(row) for row in range(3)] == ["gemm(float*)", "fill.kd", "gemm(float*)"]
    assert table.start_ns.tolist() == [1000, 6000, 7000]
    assert table.duration_ns.tolist() == [4000, 500, 1]
    assert table.device.tolist() == [0, 1, 0]
    assert (table.stream.tolist(), table.queue.tolist()) == ([0, 5, 0], [1, 2, 1])
    assert table.workgroups.tolist() == [16 * 2, 2, 1]
    assert table.block.tolist() == [[64, 4, 1], [256, 1, 1], [64, 1, 1]]
    assert table.shared_bytes.tolist() == [16896, 0, 1024]
    assert (table.registers().tolist(), table.sgprs.tolist()) == ([128, 8, 128], [96, 16, 96])
    facts = trace.facts()
    assert {name: facts[name] for name in ("schema", "recordings", "memcpys", "dispatches", "streams", "cards")} == {
        "schema": schema[0],
        "recordings": 1,
        "memcpys": 1,
        "dispatches": 3,
        "streams": 2,
        "cards": 2,
    }
    assert facts["missing"] == []
    reply, untold = trace.cards
    assert (reply.name, reply.architecture, reply.compute_units) == ("AMD Instinct MI300X", "gfx942", 304)
    assert (reply.waves_a_unit, reply.shared_memory_bytes) == (32, 65536)
    assert (untold.number, untold.compute_units) == (1, None)


def test_recordings_of_one_file_are_one_trace(tmp_path):
    trace = read_trace(profiles.rocpd(tmp_path / "t.db", endings=(profiles.UUID, "_11")))
    assert trace.kernels.rows == 6
    assert trace.kernels.unique_names == ("gemm(float*)", "fill.kd")
    assert trace.facts()["recordings"] == 2


def test_cards_of_two_machines_are_counted_through(tmp_path):
    path = profiles.rocpd(tmp_path / "t.db")
    profiles.database(path, [f'UPDATE "rocpd_info_agent{profiles.UUID}" SET nid = 2, type_index = 0 WHERE id = 3'], {})
    trace = read_trace(path)
    assert trace.kernels.device.tolist() == [0, 1, 0]
    assert [card.number for card in trace.cards] == [0, 1]


def test_the_views_of_a_file_are_not_run(tmp_path):
    path = profiles.rocpd(tmp_path / "t.db")
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    profiles.database(path, ["DROP VIEW rocpd_kernel_dispatch", f"CREATE VIEW rocpd_kernel_dispatch AS {endless}"], {})
    assert read_trace(path).kernels.rows == 3


DISPATCH, AGENT = f'"rocpd_kernel_dispatch{profiles.UUID}"', f'"rocpd_info_agent{profiles.UUID}"'
BAD = [
    (f"UPDATE {DISPATCH} SET kernel_id = 77", "a dispatch names kernel 77, which the file does not list."),
    (f"UPDATE {DISPATCH} SET agent_id = 1", "a dispatch names GPU agent 1, which the file does not list."),
    (
        f"UPDATE {DISPATCH} SET workgroup_size_y = 0 WHERE id = 2",
        "dispatch 2 has the workgroup size (256, 0, 1); each axis",
    ),
    (
        f"UPDATE {DISPATCH} SET grid_size_x = 1 << 62, grid_size_y = 1 << 40",
        "holds a number that does not fit in 64 bits",
    ),
    (f"UPDATE {DISPATCH} SET end = start - 1 WHERE id = 1", "duration_ns of dispatches 0 is below zero. Got -1."),
    (
        f"UPDATE {DISPATCH} SET start = 'soon'",
        f"start of rocpd_kernel_dispatch{profiles.UUID} must be whole numbers. Got 'soon'",
    ),
    (
        f"ALTER TABLE {DISPATCH} DROP COLUMN grid_size_z",
        f"rocpd_kernel_dispatch{profiles.UUID} has no column grid_size_z, so",
    ),
    (f"DROP TABLE {DISPATCH}", "holds no dispatches; record with `rocprofv3 --kernel-trace`."),
    (f"DROP TABLE {AGENT}", "a dispatch names GPU agent 2, which the file does not list."),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_a_bad_database_is_refused_in_one_sentence(tmp_path, change, says):
    path = profiles.rocpd(tmp_path / "t.db")
    profiles.database(path, ["DROP VIEW rocpd_kernel_dispatch", change], {})
    assert refusal(path).startswith(says)


@pytest.mark.parametrize("table", ["rocpd_timestamp", "rocpd_track"])
def test_what_a_track_or_a_time_stamp_lacks_is_refused(tmp_path, table):
    path = profiles.rocpd(tmp_path / "t.db", "4 with time stamps")
    profiles.database(path, [f'DELETE FROM "{table}{profiles.UUID}"'], {})
    assert refusal(path).startswith("a dispatch names ")


def test_csv_of_rocm_6(tmp_path):
    (tmp_path / "t.csv").write_text(profiles.ROCM6_CSV)
    trace = read_trace(tmp_path / "t.csv")
    table = trace.kernels
    assert table.unique_names == ("void add<float>(float*, int)",)
    assert (table.duration_ns.tolist(), table.workgroups.tolist(), table.threads.tolist()) == ([4000], [32], [256])
    assert (table.shared_bytes.tolist(), table.vgprs, table.stream) == ([16896], None, None)
    assert trace.facts()["agents"] == ["1"]
    assert "shared_bytes_rounded_to" not in trace.facts()


def test_public_csv():
    facts = read_trace(recording("rocprofv3_kernel_trace_of_the_manual")).facts()
    reply = ("dispatches", "unique_names", "total_duration_ns", "workgroups", "max_threads", "missing")
    assert [facts[name] for name in reply] == [7, 3, 795_453, 7 * 16 * 1024, 64, []]


@pytest.mark.parametrize("text", [profiles.ROCM7_CSV, profiles.ROCPD_CSV])
def test_csv_of_rocm_7_and_of_rocpd_convert(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    trace = read_trace(tmp_path / "t.csv")
    table = trace.kernels
    assert table.device.tolist() == [4, 3]
    assert (table.stream.tolist(), table.queue.tolist()) == ([5, 0], [2, 2])
    assert (table.registers().tolist(), table.sgprs.tolist()) == ([128, 8], [96, 16])
    assert (table.shared_bytes.tolist(), table.workgroups.tolist()) == ([16896, 0], [32, 2])
    assert (trace.facts()["agents"], trace.facts()["shared_bytes_rounded_to"]) == (["Agent 4", "GPU 3"], 512)


ROCM5 = (
    '"Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr","lds","scr","arch_vgpr","accum_vgpr",'
    '"sgpr","wave_size","sig","obj","DispatchNs","BeginNs","EndNs","CompleteNs","DurationNs"\n'
    '0,"fill(int*) [clone .kd]",4,0,0,9,9,512,256,1024,0,8,0,16,64,"0x0","0x7f",900,1000,1500,1600,500\n'
)


def test_csv_of_rocm_5(tmp_path):
    (tmp_path / "results.csv").write_text(ROCM5)
    trace = read_trace(tmp_path / "results.csv")
    assert trace.format == "omniperf_pmc_csv"
    assert (trace.kernels.workgroups.tolist(), trace.kernels.duration_ns.tolist()) == ([2], [500])
    assert (trace.kernels.shared_bytes.tolist(), trace.kernels.vgprs.tolist()) == ([1024], [8])


BAD_CSV = [
    (
        ('"KERNEL_DISPATCH",1', '"KERNEL_DISPATCH",card one'),
        "line 2: Agent_Id must be a number, `Agent n` or `GPU n`. Got",
    ),
    (("1000,5000,0", ",5000,0"), "line 2: a dispatch needs a start, an end, a grid and a workgroup size."),
    (
        ("64,4,1,1000", "64,0,1,1000"),
        "line 2: workgroup_size_x, workgroup_size_y, workgroup_size_z must each be at least 1.",
    ),
    (("16896", "big"), "line 2: Group_Segment_Size must be a number. Got 'big'."),
    (("1000,5000,0", "5000,1000,0"), "duration_ns of dispatches 0 is below zero. Got -4000."),
    ((",1000,8,1\n", ",1000,8\n"), "line 2: has 17 fields where the header has 18; the file is cut off or damaged."),
]


@pytest.mark.parametrize(("change", "says"), BAD_CSV)
def test_a_bad_csv_is_refused_in_one_sentence(tmp_path, change, says):
    (tmp_path / "t.csv").write_text(profiles.ROCM6_CSV.replace(*change))
    assert refusal(tmp_path / "t.csv").startswith(says)
