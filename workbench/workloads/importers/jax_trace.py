"""XLA's `*.trace.json.gz`: the Chrome trace that the profilers of JAX and TensorFlow write beside the `.xplane.pb`.

A process is a card (`/device:GPU:0`), a thread a stream, an event a kernel if its arguments have `kernel_details`. The
file holds at most a million events, the rest is cut by the profiler; the `.xplane.pb` beside it has all.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.json_array import JsonArray
from workbench.workloads.importers.kernel_details import kernel_details
from workbench.workloads.importers.kineto_events import EMPTY, decoded, nanoseconds
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.importers.xplane import add_kernel
from workbench.workloads.kernels import KernelRows, KernelTable

_SIGNS = (b'"kernel_details"', b'"/device:GPU:', b'"highres-ticks"')
_GPU = re.compile(r"/device:GPU:(\d{1,6})", re.ASCII)
_STREAM = re.compile(r"Stream #(\d{1,12})", re.ASCII)
_OPERATIONS = {"memcpy_details": "memcpys", "memset_details": "memsets"}


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
    says = "*.trace.json.gz of JAX or TensorFlow (XLA's profiler)"

    def recognises(self, head: bytes) -> bool:
        return is_xla_trace(head)

    def read(self, source: Source) -> Trace:
        events = JsonArray(source.pieces(), "traceEvents", source.where)
        reader = _Reader(source.where)
        for batch in events.batches():
            for event in decoded(_events, batch, source.where, "its traceEvents are not as XLA writes them"):
                reader.take(event)
        return Trace(
            path=source.path,
            format=self.format,
            counted="kernels",
            kernels=reader.table(),
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
        if event.name == "process_name" and (gpu := _GPU.search(name)):
            self._cards[event.pid] = int(gpu[1])
        elif event.name == "thread_name" and (stream := _STREAM.match(name)):
            self._streams[event.pid, event.tid] = int(stream[1])

    def _kernel(self, event: _Event, line: str, correlation: Any) -> None:
        place = f"event {self.counts['events']}"
        details = kernel_details(line, f"{self._where}: {place}")
        self.counts["implausible"] += details.implausible
        add_kernel(
            self._rows,
            event.name or "",
            details,
            nanoseconds(event.ts, self._where, f"ts of {place}"),
            nanoseconds(event.dur, self._where, f"dur of {place}"),
            event.pid,
            event.tid,
            _correlation(correlation, self._where, place),
        )


def _correlation(value: Any, where: str, place: str) -> int | None:
    if value is None or isinstance(value, int):
        return value
    if not (value.isascii() and value.isdigit()) or len(value) > 18:
        raise InputError(f"{where}: correlation_id of {place} must be a whole number. Got {value[:40]!r}.")
    return int(value)
