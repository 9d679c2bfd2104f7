"""Large profiles imported: a Kineto trace, an export of Nsight Systems and a database of rocprofv3.

    $ python -m benchmarks.importers --bytes 1GB --kernels 10000000

The files are made here, in a temporary folder that goes again. The reference only parses the same file: `json.loads` of
the trace, SQLite's `SELECT *` of the table of kernels. Databases of ten million kernels take 2 GB of disk.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.turns import Side, clocked, compared, spent
from workbench.units import parse_bytes
from workbench.workloads.importers import Trace, read_trace

BYTES, KERNELS, ROUNDS = 10_000_000, 100_000, 7
"""Of the files of `workbench bench importers`."""
_NAMES = 40
"""Names of kernels."""
_OPERATORS = 5
"""Operators and Python frames of each before a kernel: 12 events and 2.5 kB a kernel, as PyTorch's traces have them."""
_COUNTED = "WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k + 1 < {}) "
_CPU_EVENT = (
    '{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":7,"tid":7,"ts":%d,"dur":9,'
    '"args":{"External id":%d,"Sequence number":%d,"Fwd thread id":0,"Record function id":0,"Ev Idx":%d}},\n'
)
_PYTHON_EVENT = (
    '{"ph":"X","cat":"python_function","name":"torch/nn/modules/module.py(1511): _wrapped_call_impl <built-in %d>",'
    '"pid":7,"tid":7,"ts":%d,"dur":9,"args":{"Python parent id":%d,"Python id":%d,"Ev Idx":%d}},\n'
)
_LAUNCH = (
    '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":%d,"dur":5,'
    '"args":{"External id":%d,"cbid":211,"correlation":%d}},\n'
)
_KERNEL = (
    '{"ph":"X","cat":"kernel","name":"void gemm<float, %d>(float const*, float*, int)","pid":0,"tid":7,"ts":%d,"dur":4,'
    '"args":{"External id":%d,"queued":0,"device":0,"context":1,"stream":7,"correlation":%d,"registers per thread":64,'
    '"shared memory":49152,"blocks per SM":1.5,"warps per SM":12,"grid":[%d,2,1],"block":[128,1,1],'
    '"est. achieved occupancy %%":38}},\n'
)


class Made(NamedTuple):
    """A file and what it holds."""

    path: Path
    kernels: int


def importers() -> list[dict[str, Any]]:
    """Make and read the three files, the databases with so many kernels, the trace of so many bytes."""
    return list(_measured(BYTES, KERNELS))


def _measured(size: int, kernels: int) -> Iterator[dict[str, Any]]:
    """Yield a row a file; each is removed before the next is made."""
    makers: dict[str, tuple[Callable[[Path], Made], str, Callable[[Path], object]]] = {
        "kineto": (lambda path: kineto(path, size), "json.loads", _parsed),
        "nsys_sqlite": (lambda path: nsys(path, kernels), "SELECT *", _selected),
        "rocpd_sqlite": (lambda path: rocpd(path, kernels), "SELECT *", _selected),
    }
    for name, (make, reference, parse) in makers.items():
        with tempfile.TemporaryDirectory(prefix="importers") as folder:
            made = make(Path(folder, name))
            references = {reference: clocked(made.kernels, partial(parse, made.path))}
            variant = f"{name}, {made.path.stat().st_size / 1e6:,.0f} MB"
            yield from compared("importers", variant, "kernels", _ours(made), references, ROUNDS)


def _ours(made: Made) -> Side:
    def run() -> float:
        traces: list[Trace] = []
        seconds = spent(lambda: traces.append(read_trace(made.path)))
        assert traces[0].kernels.rows == made.kernels
        return seconds

    return Side(made.kernels, run)


def _parsed(path: Path) -> object:
    return json.loads(path.read_bytes())


def _selected(path: Path) -> object:
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        (table,) = [name for name in names if "KIND_KERNEL" in name or "kernel_dispatch" in name]
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def kineto(path: Path, size: int) -> Made:
    """Write a trace of PyTorch's profiler of so many bytes: operators, frames, a launch and a kernel, over and over."""
    kernels = 0
    with path.open("w") as file:
        file.write(
            '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132}],"traceEvents":[\n'
        )
        while file.tell() < size:
            file.write("".join(_events(kernels + k) for k in range(1000)))
            kernels += 1000
        file.write('{"ph":"M","name":"process_name","pid":7,"tid":0,"ts":0,"args":{"name":"python"}}\n]}\n')
    return Made(path, kernels)


def _events(number: int) -> str:
    time, grid = 10 * number, 1 + number % 1000
    frames = "".join(_PYTHON_EVENT % (k, time, number, number, number) for k in range(_OPERATORS))
    operators = _CPU_EVENT % (time, number, number, number) * _OPERATORS
    launch = _LAUNCH % (time + 1, number, number)
    return frames + operators + launch + _KERNEL % (number % _NAMES, time + 4, number, number, grid)


def nsys(path: Path, kernels: int) -> Made:
    """Write an export of Nsight Systems with so many kernels, in the columns of its schema 3."""
    columns = "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName"
    shape = "registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory"
    names = "SELECT k, 'void gemm<float, ' || k || '>(float const*, float*, int)' FROM n"
    values = (
        f"SELECT 10 * k, 10 * k + 7, 0, 1, 7, k, 9, k % {_NAMES}, k % {_NAMES}, 64, 1 + k % 1000, 2, 1, 128, 1, 1, 0, "
        "49152, NULL FROM n"
    )
    tables = {
        "StringIds (id INTEGER PRIMARY KEY, value TEXT)": _COUNTED.format(_NAMES) + names,
        "TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER)": "SELECT 0, 'NVIDIA H100', 132",
        f"CUPTI_ACTIVITY_KIND_KERNEL ({columns}, {shape}, graphNodeId)": _COUNTED.format(kernels) + values,
    }
    return _made(path, tables, kernels)


def rocpd(path: Path, kernels: int) -> Made:
    """Write a database of rocprofv3 with so many dispatches, in the columns of its schema 3."""
    ending = "_0000a1b2_c3d4_7e5f_8a9b_0123456789ab"
    dispatch = "id INTEGER PRIMARY KEY, agent_id, kernel_id, queue_id, stream_id, start, end, group_segment_size"
    shape = "workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z"
    values = f"SELECT k, 2, k % {_NAMES}, 1, 0, 10 * k, 10 * k + 7, 16384, 256, 1, 1, 256 * (1 + k % 1000), 2, 1 FROM n"
    symbol = "id INTEGER PRIMARY KEY, kernel_name, display_name, sgpr_count, arch_vgpr_count, accum_vgpr_count"
    symbols = "SELECT k, 'gemm' || k || '.kd', 'gemm<' || k || '>(float*)', 96, 88, 40 FROM n"
    tables = {
        f"rocpd_metadata{ending} (id INTEGER PRIMARY KEY, tag, value)": "SELECT 1, 'schema_version', '3'",
        f"rocpd_info_agent{ending} (id INTEGER PRIMARY KEY, nid, type, type_index, name, product_name, extdata)": (
            "SELECT 2, 1, 'GPU', 0, 'gfx942', 'AMD Instinct MI300X', '{}'"
        ),
        f"rocpd_info_kernel_symbol{ending} ({symbol})": _COUNTED.format(_NAMES) + symbols,
        f"rocpd_memory_copy{ending} (id INTEGER PRIMARY KEY, size)": "SELECT 1, 4096",
        f"rocpd_kernel_dispatch{ending} ({dispatch}, {shape})": _COUNTED.format(kernels) + values,
    }
    return _made(path, tables, kernels)


def _made(path: Path, tables: dict[str, str], kernels: int) -> Made:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = OFF")
        for table, rows in tables.items():
            connection.execute(f"CREATE TABLE {table}")
            connection.execute(f"INSERT INTO {table.split(' ')[0]} {rows}")
    return Made(path, kernels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", default=str(BYTES), help="of the Kineto trace, such as 1GB")
    parser.add_argument("--kernels", type=int, default=KERNELS, help="in each database")
    given = parser.parse_args()
    for measured in _measured(parse_bytes(given.bytes, "--bytes"), given.kernels):
        print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main()
