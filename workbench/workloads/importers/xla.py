"""XLA's Chrome traces (`*.trace.json.gz`), as the profilers of JAX and TensorFlow write them, and kernel details.

A process is a card (`/device:GPU:0`), a thread a stream, an event a kernel if its arguments have `kernel_details`. A
trace holds at most a million events, the rest is cut by the profiler; the `.xplane.pb` next to it has all.

`kernel_details` says how a kernel was launched, as one line of `key:value` pairs. On NVIDIA it has registers, static
and dynamic shared memory, grid in thread blocks and block; on AMD `group_mem`, the LDS of a workgroup, and the grid in
workgroups too. Older versions of XLA wrote NVIDIA's line for AMD's cards, where registers and shared memory are then
whatever stood in memory (`regs:2191500840`): such values are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec
import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.json_arrays import JsonArray
from workbench.workloads.importers.kineto_events import EMPTY, decoded, nanoseconds
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.kernels import KernelRows, KernelTable, shape_of

_SIGNS = (b'"kernel_details"', b'"/device:GPU:', b'"highres-ticks"')
GPU = re.compile(r"/device:GPU:(\d{1,6})", re.ASCII)
STREAM = re.compile(r"Stream #(\d{1,12})", re.ASCII)
OPERATIONS = {"memcpy_details": "memcpys", "memset_details": "memsets"}

MOST_REGISTERS = 512
"""Of a thread: 255 on NVIDIA, 512 with accumulation registers on AMD."""
_MOST_DIGITS = 18


def kernel_details(line: str, where: str) -> tuple[dict[str, Any], bool]:
    """Return columns of `KernelTable` that a line tells, and whether registers and shared memory cannot be true.

    Raises
    ------
    InputError
        A value is no whole number, or grid or block are no three of them.

    Examples
    --------
    >>> kernel_details("regs:32 static_shared:1024 dynamic_shared:512 grid:16,2,1 block:128,1,1 occ_pct:50", "t")[0]
    {'block': (128, 1, 1), 'workgroups': 32, 'threads': 128, 'shared_bytes': 1536, 'vgprs': 32}
    >>> kernel_details(" grid:6240,1,1 block:256,1,1 private_mem:0 group_mem:2112 occ_pct:0", "t")[0]["shared_bytes"]
    2112
    """
    pairs = dict(part.partition(":")[::2] for part in line.split())

    def whole(key: str) -> int | None:
        return _digits(pairs[key], f"{where}: {key} of kernel_details") if key in pairs else None

    def triple(key: str) -> tuple[int, int, int] | None:
        if key not in pairs:
            return None
        parts = pairs[key].split(",")
        if len(parts) != 3:
            raise InputError(f"{where}: {key} of kernel_details must be three whole numbers. Got {shown(pairs[key])}.")
        x, y, z = (_digits(part, f"{where}: {key} of kernel_details") for part in parts)
        return x, y, z

    registers = whole("regs")
    # of a workgroup: AMD's, as XLA of 2021 had it, or NVIDIA's static and dynamic together
    shared = whole("group_mem" if "group_mem" in pairs else "shared")
    if shared is None:
        static, dynamic = whole("static_shared"), whole("dynamic_shared")
        shared = None if static is None or dynamic is None else static + dynamic
    columns = shape_of(triple("grid"), triple("block"))
    if registers is not None and registers > MOST_REGISTERS:
        return columns, True
    return {**columns, "shared_bytes": shared, "vgprs": registers}, False


def _digits(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise InputError(f"{what} must be a whole number. Got {shown(text)}.")
    return int(text)


class _Args(msgspec.Struct):
    """The arguments that are used; XLA writes all values as texts."""

    kernel_details: str | None = None
    memcpy_details: str | None = None
    memset_details: str | None = None
    correlation_id: str | int | None = None
    name: str | None = None


class _Event(msgspec.Struct):
    ph: str | None = None
    pid: int = 0
    tid: int = 0
    name: str | None = None
    ts: msgspec.Raw = EMPTY
    dur: msgspec.Raw = EMPTY
    args: _Args | None = None


_events = msgspec.json.Decoder(list[_Event])


def is_xla_trace(head: bytes) -> bool:
    """Return whether contents begin as a Chrome trace of XLA's."""
    return head.lstrip()[:1] == b"{" and b'"traceEvents"' in head and any(sign in head for sign in _SIGNS)


class JaxTrace(Importer):
    """Read in pieces: memory holds the columns of the kernels, not the file."""

    format = "jax_trace_json"
    description = "*.trace.json.gz of JAX or TensorFlow (XLA's profiler)"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return is_xla_trace(head)

    def read(self, source: Source) -> Trace:
        events = JsonArray(source.pieces(), "traceEvents", source.where)
        reader = _Reader(source.where)
        for batch in events.batches():
            for event in decoded(_events, batch, source.where, "its traceEvents are not as XLA writes them"):
                reader.take(event)
        return self.trace(
            source,
            reader.table(),
            noted={name: reader.counts[name] for name in ("events", "memcpys", "memsets")}
            | ({"kernels_with_implausible_registers": bad} if (bad := reader.counts["implausible"]) else {}),
        )


class _Reader:
    """Gathers kernels, and the names of processes and threads, which may come behind them."""

    def __init__(self, where: str) -> None:
        self.counts = Counter[str]()
        self._where = where
        self._rows = KernelRows()
        self._cards: dict[int, int] = {}
        self._streams: dict[tuple[int, int], int] = {}

    def take(self, event: _Event) -> None:
        """Take an event of any kind."""
        self.counts["events"] += 1
        args = event.args
        if args is None:
            return
        if event.ph == "M":
            self._name(event, args.name or "")
        elif event.ph == "X" and args.kernel_details is not None:
            self._kernel(event, args.kernel_details, args.correlation_id)
        elif event.ph == "X":
            self.counts["memcpys"] += args.memcpy_details is not None
            self.counts["memsets"] += args.memset_details is not None

    def table(self) -> KernelTable:
        """Return the kernels, cards and streams by their own numbers where they were named."""
        table = self._rows.table()
        pairs = list(zip(table.device.tolist(), [] if table.stream is None else table.stream.tolist()))
        device = np.array([self._cards.get(pid, pid) for pid, _ in pairs], np.int64)
        stream = np.array([self._streams.get(pair, pair[1]) for pair in pairs], np.int64)
        return table._replace(device=device, stream=stream if table.stream is not None else None)

    def _name(self, event: _Event, name: str) -> None:
        if event.name == "process_name" and (gpu := GPU.search(name)):
            self._cards[event.pid] = int(gpu[1])
        elif event.name == "thread_name" and (stream := STREAM.match(name)):
            self._streams[event.pid, event.tid] = int(stream[1])

    def _kernel(self, event: _Event, line: str, correlation: Any) -> None:
        place = f"event {self.counts['events']}"
        columns, implausible = kernel_details(line, f"{self._where}: {place}")
        self.counts["implausible"] += implausible
        self._rows.add(
            event.name or "",
            **columns,
            start_ns=nanoseconds(event.ts, self._where, f"ts of {place}"),
            duration_ns=nanoseconds(event.dur, self._where, f"dur of {place}"),
            device=event.pid,
            stream=event.tid,
            correlation=_digits(correlation, f"{self._where}: correlation_id of {place}")
            if isinstance(correlation, str)
            else correlation,
        )
