"""Small files of every profiler's format, made by code from the formats' public schemas; no recorded data."""

from __future__ import annotations

import functools
import json
import sqlite3
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

KERNEL_COLUMNS = (
    "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, "
    "streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, "
    "shortName INTEGER NOT NULL, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, "
    "gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
    "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER"
)
NSYS_KERNELS = [
    # start, end, device, context, stream, correlation, pid, demangled, short, registers, grid, block, static, dynamic, node
    (1000, 6000, 0, 1, 7, 101, 9, 1, 2, 64, 4, 2, 1, 128, 1, 1, 1024, 512, None),
    (7000, 7500, 0, 1, 7, 102, 9, 3, 3, 16, 10, 1, 1, 256, 1, 1, 0, 0, None),
    (8000, 9000, 1, 1, 13, 103, 9, 1, 2, 64, 1, 1, 1, 32, 2, 1, 1024, 49152, 77),
]
CARDS = "(id INTEGER, name TEXT, smCount INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, maxShmemPerSm INTEGER)"


def database(path: Path, statements: Iterable[str], rows: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    """Make a SQLite file of statements, and of rows of tables."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
        for table, lines in rows.items():
            marks = ", ".join("?" * len(lines[0])) if lines else ""
            if lines:
                connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', lines)
    return path


def nsys(path: Path, kernels: Sequence[Sequence[Any]] = NSYS_KERNELS, columns: str = KERNEL_COLUMNS) -> Path:
    """An export of Nsight Systems, schema 3."""
    tables = {
        "StringIds": "(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        "META_DATA_EXPORT": "(name TEXT NOT NULL, value TEXT)",
        "TARGET_INFO_GPU": CARDS,
        "CUPTI_ACTIVITY_KIND_MEMCPY": "(start INTEGER, end INTEGER, bytes INTEGER)",
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "(start INTEGER, end INTEGER, graphId INTEGER)",
        "CUPTI_ACTIVITY_KIND_KERNEL": f"({columns})",
    }
    rows: dict[str, Sequence[Sequence[Any]]] = {
        "StringIds": [(1, "void gemm<float>(float*)"), (2, "gemm"), (3, "fill(int*)")],
        "META_DATA_EXPORT": [("EXPORT_SCHEMA_VERSION", "3.15.1")],
        "TARGET_INFO_GPU": [(0, "NVIDIA H100 80GB HBM3", 132, 32, 64, 233472)],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [(1, 2, 4096), (3, 4, 4096)],
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [(9100, 9900, 1)],
        "CUPTI_ACTIVITY_KIND_KERNEL": kernels,
    }
    return database(path, (f"CREATE TABLE {name} {reply}" for name, reply in tables.items()), rows)


UUID = "_0000a1b2_c3d4_7e5f_8a9b_0123456789ab"
AGENT = json.dumps(
    {
        "cu_count": 304,
        "simd_per_cu": 4,
        "max_waves_per_simd": 8,
        "wave_front_size": 64,
        "lds_size_in_kb": 64,
        "id": {"handle": 1},
    }
)
DISPATCHES = [
    # id, agent, kernel, queue, stream, start, end, LDS, workgroup, grid
    (1, 2, 10, 1, 0, 1000, 5000, 16896, 64, 4, 1, 1000, 8, 1),
    (2, 3, 11, 2, 5, 6000, 6500, 0, 256, 1, 1, 512, 1, 1),
    (3, 2, 10, 1, 0, 7000, 7001, 1024, 64, 1, 1, 64, 1, 1),
]
_SHAPE = (
    "group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, "
    "workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, "
    "grid_size_z INTEGER NOT NULL"
)
_OWN = "agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL"
ROCPD = {
    "3": f"(id INTEGER PRIMARY KEY, {_OWN}, start BIGINT NOT NULL, end BIGINT NOT NULL, {_SHAPE})",
    "4": f"(id INTEGER PRIMARY KEY, track_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, start BIGINT, end BIGINT, {_SHAPE})",
    "4 with time stamps": (
        "(id INTEGER PRIMARY KEY, track_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL, start_id INTEGER, end_id INTEGER, "
        f"{_SHAPE})"
    ),
}


def rocpd(
    path: Path, schema: str = "3", endings: Sequence[str] = (UUID,), rows: Sequence[Sequence[Any]] = DISPATCHES
) -> Path:
    """A database of rocprofv3 of one of the schemas, of one or more recordings."""
    for ending in endings:
        tables, contents = _rocpd(schema, rows)
        statements = [f'CREATE TABLE "{name}{ending}" {reply}' for name, reply in tables.items()]
        database(path, statements, {f"{name}{ending}": lines for name, lines in contents.items()})
    database(path, [f'CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM "rocpd_kernel_dispatch{endings[0]}"'], {})
    return path


def _rocpd(schema: str, rows: Sequence[Sequence[Any]]) -> tuple[dict[str, str], dict[str, list[tuple[Any, ...]]]]:
    tables = {
        "rocpd_metadata": "(id INTEGER PRIMARY KEY, tag TEXT, value TEXT)",
        "rocpd_info_agent": "(id INTEGER PRIMARY KEY, nid INTEGER, type TEXT, type_index INTEGER, name TEXT, product_name TEXT, extdata JSONB)",
        "rocpd_info_kernel_symbol": (
            "(id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT, sgpr_count INTEGER, arch_vgpr_count INTEGER, "
            "accum_vgpr_count INTEGER)"
        ),
        "rocpd_track": "(id INTEGER PRIMARY KEY, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER)",
        "rocpd_timestamp": "(id INTEGER PRIMARY KEY, value BIGINT NOT NULL)",
        "rocpd_memory_copy": "(id INTEGER PRIMARY KEY, size INTEGER)",
        "rocpd_kernel_dispatch": ROCPD[schema],
    }
    contents: dict[str, list[tuple[Any, ...]]] = {
        "rocpd_metadata": [(1, "schema_version", schema[0])],
        "rocpd_info_agent": [
            (1, 1, "CPU", 0, "AMD EPYC 9654", "AMD EPYC 9654", "{}"),
            (2, 1, "GPU", 0, "gfx942", "AMD Instinct MI300X", AGENT),
            (3, 1, "GPU", 1, "gfx942", "AMD Instinct MI300X", "not JSON"),
        ],
        "rocpd_info_kernel_symbol": [(10, "_Z4gemmPf.kd", "gemm(float*)", 96, 88, 40), (11, "fill.kd", None, 16, 8, 0)],
        "rocpd_memory_copy": [(1, 4096)],
    }
    contents["rocpd_kernel_dispatch"] = []
    if schema == "3":
        for key, agent, kernel, queue, stream, *rest in rows:
            contents["rocpd_kernel_dispatch"].append((key, agent, kernel, queue, stream, *rest))
        return tables, contents
    contents["rocpd_track"] = [(100 + row[0], row[1], row[3], row[4]) for row in rows]
    contents["rocpd_timestamp"] = [(1000 + 2 * row[0] + k, row[5 + k]) for row in rows for k in (0, 1)]
    for key, _, kernel, _, _, start, end, *shape in rows:
        times = (start, end) if schema == "4" else (1000 + 2 * key, 1001 + 2 * key)
        contents["rocpd_kernel_dispatch"].append((key, 100 + key, kernel, *times, *shape))
    return tables, contents


NSYS_CSV = """NOTICE: Existing SQLite export found: run.sqlite

Processing [run.sqlite] with [/opt/nvidia/nsight-systems/reports/cuda_gpu_trace.py]...
Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
500,100,99,,,,,,,,,,4.194,12000.000,Pageable,Device,NVIDIA H100 80GB HBM3 (0),1,,7,[CUDA memcpy Host-to-Device]
1000,5000,101,4,2,1,128,1,1,64,0.001,0.049,,,,,NVIDIA H100 80GB HBM3 (0),1,,7,"void gemm<float, int>(float*, int)"
7000,500,102,10,1,1,256,1,1,16,0.000,0.000,,,,,NVIDIA H100 80GB HBM3 (0),1,,7,fill(int*)
"""
NSYS_CSV_BYTES = """Start(s),Duration(us),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (B),DymSMem (B),Bytes (B),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name
0.000001,5,101,4,2,1,128,1,1,64,1024,49152,,,,,NVIDIA A100 (3),1,7,gemm
0.000009,0.5,,,,,,,,,,,1024,9,,Device,NVIDIA A100 (3),1,7,[CUDA memset]
"""
_V6 = '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"'
_AXES = '"Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"'
ROCM6_CSV = f"""{_V6},"Private_Segment_Size","Group_Segment_Size",{_AXES}
"KERNEL_DISPATCH",1,2,69,1,16,"void add<float>(float*, int)",1451,1000,5000,0,16896,64,4,1,1000,8,1
"""
ROCM7_CSV = f"""{_V6.replace('"Thread_Id"', '"Stream_Id","Thread_Id"')},"LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",{_AXES}
"KERNEL_DISPATCH","Agent 4",2,5,69,1,16,"void add<float>(float*, int)",1451,1000,5000,16896,0,88,40,96,64,4,1,1000,8,1
"KERNEL_DISPATCH","GPU 3",2,0,69,2,17,"fill",1452,6000,6500,0,0,8,0,16,256,1,1,512,1,1
"""
ROCPD_CSV = ROCM7_CSV.replace("LDS_Block", "Lds_Block").replace("VGPR", "Vgpr").replace("SGPR", "Sgpr")
ROCPD_CSV = "".join(
    f"{guid},{line}\n" for guid, line in zip(('"Guid"', '"0000a1b2"', '"0000a1b2"'), ROCPD_CSV.splitlines())
)


def varint(value: int) -> bytes:
    """A number as a varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | str | bytes | float) -> bytes:
    """A field of a protobuf message."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields: tuple[int, Any]) -> bytes:
    """A message of fields."""
    return b"".join(field(number, value) for number, value in fields)


WARP_HEADER = """-kernel name = vectoradd
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (32,1,1)
-accelsim tracer version = 5

#traces format = PC mask
"""
TRACEZ = WARP_HEADER.encode() + b"\x00" + struct.pack("<II", 4, 1024) + b"\x28\xb5\x2f\xfd" + struct.pack("<IQ", 0, 300)


def writer(contents: str | bytes | dict[str, Any]) -> Callable[[Path], Path]:
    """Return what writes a file of some contents."""
    data = json.dumps(contents).encode() if isinstance(contents, dict) else contents
    data = data.encode() if isinstance(data, str) else data

    def write(path: Path) -> Path:
        path.write_bytes(data)
        return path

    return write


SAMPLES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "nsys": ("nsys_sqlite", nsys),
    "rocpd 3": ("rocpd_sqlite", rocpd),
    "rocpd 4": ("rocpd_sqlite", lambda path: rocpd(path, "4")),
    "nsys CSV": ("nsys_gpu_trace_csv", writer(NSYS_CSV)),
    "nsys CSV in bytes": ("nsys_gpu_trace_csv", writer(NSYS_CSV_BYTES)),
    "ROCm 6 CSV": ("rocprofv3_kernel_trace_csv", writer(ROCM6_CSV)),
    "ROCm 7 CSV": ("rocprofv3_kernel_trace_csv", writer(ROCM7_CSV)),
    "rocpd CSV": ("rocprofv3_kernel_trace_csv", writer(ROCPD_CSV)),
}
"""Files of formats that several tests read: the format's name, and what writes one. Others stand beside their tests."""


@functools.cache
def samples() -> dict[str, tuple[str, Callable[[Path], Path]]]:
    """Return every sample of this folder by its name: what a module holds as `SAMPLES`."""
    modules = [import_module(f"{__package__}.{one.name}") for one in iter_modules([str(Path(__file__).parent)])]
    return {name: sample for module in modules for name, sample in getattr(module, "SAMPLES", {}).items()}
