"""Snapshots of PyTorch's CUDA memory (`torch.cuda.memory._dump_snapshot`): pickles of plain values.

`segments` is the memory got from the driver, as it was after the last event. `device_traces` holds a list a card of the
events that a ring of the card kept, oldest first (PyTorch 2.1 to 2.6, torch/csrc/cuda/memory_snapshot.cpp and
c10/cuda/CUDACachingAllocator.cpp). Sizes of events are requested sizes. The rings of several cards begin at different
times. What was live before the first event is told by both: blocks that are released but were not allocated, and blocks
that are live at the end without an event. A block is back when `free_completed` says so, not when `free_requested`
does. An `oom` is a request that failed after all cached memory had been given back. With expandable segments memory is
got and given back by `segment_map` and `segment_unmap`. Other actions and keys say nothing of memory and are passed
over.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.workloads.allocations import UNKNOWN, Block, MemoryRows
from workbench.workloads.allocator_log import (
    ALLOC,
    FREE_COMPLETED,
    INACTIVE,
    OOM,
    OTHER,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    AllocatorLog,
)
from workbench.workloads.catalogue import trace_file
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.plain_pickle import holds_half, plain_values, values_with
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_log import Streamed, TorchLogs, torch_logs
from workbench.workloads.importers.trace import Trace

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_FIRST_EVENTS = re.compile(rb"device_traces(?:\x94|q.|r....)?\](?:\x94|q.|r....)?\(?(\])", re.DOTALL)
"""Where the events of the first device begin: the key, a list, and in that another."""
_CURE = "call torch.cuda.memory._record_memory_history() first and write it with torch.cuda.memory._dump_snapshot"
_GROWS = np.array([SEGMENT_ALLOC, SEGMENT_MAP])
_SHRINKS = np.array([SEGMENT_FREE, SEGMENT_UNMAP])


class TorchSnapshot(Importer):
    """Read as a whole."""

    format = "torch_memory_snapshot"
    description = "a pickled memory snapshot of PyTorch"

    def recognises(self, head: bytes) -> bool:
        return _PICKLE.match(head) is not None

    def read(self, source: Source) -> Trace:
        content = _logs(source.whole(), source.where)
        if not any(len(log.events.action) or len(log.segments.size) for log in content.logs):
            raise InputError(f"{source.where}: holds the segments of a moment and no history; {_CURE}.")
        rows = MemoryRows()
        for log in content.logs:
            _add(rows, log, content.of_allocator)
        rows.also_before(block for log in content.logs for block in _live(log))
        table = rows.table(with_calls=content.of_allocator)
        logs = content.logs if content.of_allocator else ()
        return self.trace(source, allocations=table, noted=_noted(content), logs=logs)


def read_snapshot(source: Source) -> TorchLogs:
    """Return the content of a snapshot, be it without a history: the segments of a moment.

    Raises
    ------
    InputError
        The file is no memory snapshot.
    """
    return _logs(source.whole(), source.where)


def is_snapshot(path: str | Path) -> bool:
    """Return whether a trace is a memory snapshot of PyTorch.

    Raises
    ------
    InputError
        There is no such file.
    """
    return TorchSnapshot().recognises(Source(trace_file(str(path))).head)


def _logs(content: bytes, where: str) -> TorchLogs:
    """Return the content of a pickle, be it a bare list of segments."""
    streamed = _streamed(content, where)
    if streamed is not None:
        return streamed
    values, size = plain_values(content, where), len(content)
    del content
    if _are_segments(values):
        segments = values["segments"] if isinstance(values, dict) else values
        return torch_logs({"segments": segments, "device_traces": []}, where, size)
    return torch_logs(values, where, size)


def _streamed(content: bytes, where: str) -> TorchLogs | None:
    """Return the content of a pickle, its events read piece by piece; None = that is not to be had for this one.

    The list of the first device's events is found by the bytes before it. Where that was no such list, or anything is
    wrong with the file, the whole is read once more, and said what is wrong.
    """
    begins = _FIRST_EVENTS.search(content)
    if begins is None or holds_half(content):
        return None
    rows = Streamed(0, where)
    try:
        values = values_with(content, begins.start(1), rows)
        if values["device_traces"][0] is not rows:
            return None
        values["device_traces"][0] = []
        return torch_logs(values, where, len(content), rows)
    except MemoryError:
        raise
    except Exception:  # whatever is wrong, reading the whole says it
        return None


def _noted(logs: TorchLogs) -> dict[str, Any]:
    return {
        "segments": sum(len(log.segments.size) for log in logs.logs),
        "segment_bytes": sum(log.reserved_at_end for log in logs.logs),
        "live_blocks_at_end": sum(int(np.count_nonzero(log.blocks.state != INACTIVE)) for log in logs.logs),
        "events": sum(logs.actions.values()),
        "actions": dict(logs.actions),
        **({"by_card": [_peaks(log) for log in logs.logs]} if logs.of_allocator else {}),
    }


def _peaks(log: AllocatorLog) -> dict[str, int]:
    """Return the most that one card's allocator had from the driver, and that was asked for, at a time."""
    events = log.events
    grown = events.size * (np.isin(events.action, _GROWS).astype(np.int64) - np.isin(events.action, _SHRINKS))
    live = events.size * ((events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED))
    requested_at_end = int(log.blocks.requested[log.blocks.state != INACTIVE].sum())
    return {
        "device": log.device,
        "reserved_peak_bytes": _highest(log.reserved_at_end, grown),
        "active_peak_bytes": _highest(requested_at_end, live),
    }


def _highest(at_end: int, change: np.ndarray) -> int:
    """Return the most there was at a time, from what there is after the last change."""
    upto = np.cumsum(change)
    return at_end if not len(upto) else at_end - int(upto[-1]) + max(int(upto.max()), 0)


def _live(log: AllocatorLog) -> list[Block]:
    """Return the blocks in use after the last event."""
    held = log.blocks.state != INACTIVE
    columns = (log.blocks.requested[held].tolist(), log.blocks.address[held].tolist())
    return [Block(size, log.device, address) for size, address in zip(*columns, strict=True)]


def _are_segments(values: Any) -> bool:
    """Return whether these are segments alone, as `torch.cuda.memory_snapshot()` gives them."""
    if isinstance(values, dict):
        return "segments" in values and "device_traces" not in values
    return isinstance(values, list) and bool(values) and all(isinstance(it, dict) and "blocks" in it for it in values)


def _add(rows: MemoryRows, log: AllocatorLog, of_allocator: bool) -> None:
    """Add the events of one card; without time stamps they are a microsecond apart.

    What the driver had given before the first event is what it has given in the end, less what events added; it is
    unknown in a snapshot that was made of a profile.
    """
    events = log.events
    signs = np.isin(events.action, _GROWS).astype(np.int64) - np.isin(events.action, _SHRINKS)
    grown = events.size * signs
    reserved = log.reserved_at_end - int(grown.sum()) + np.cumsum(grown)
    if not of_allocator:
        reserved = np.full(len(grown), UNKNOWN)
    times = np.where(events.time_us < 0, np.arange(len(grown)), events.time_us)
    time = np.maximum.accumulate(np.maximum(1000 * times, 0))
    held = events.action != OTHER
    columns = (events.action, time, events.address, events.size, grown, reserved)
    for action, when, address, size, change, had in zip(*(c[held].tolist() for c in columns), strict=True):
        if change:
            rows.driver_call(when, log.device, change)
        elif action == OOM:
            rows.refuse(when, log.device, size)
        elif action == ALLOC:
            rows.allocate(when, log.device, address, size, had)
        elif action == FREE_COMPLETED:
            rows.release(when, log.device, address, size, had)
