"""The raw memory timeline that PyTorch's profiler exports and Holistic Trace Analysis reads: times, actions, bytes.

A JSON list of [time in ns, action, bytes, category]: 1 what was there before, 2 created, 3 another category or version
(in pairs that cancel out), 4 destroyed. There are no addresses: a block is told by its size alone.
"""

from __future__ import annotations

import re
from collections import Counter

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.workloads.allocations import AllocationTable, LiveBefore
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.memory_rows import live_after, memory_trace
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace

_BEGINS = re.compile(rb"\s*\[\s*\[\s*-?\d+\s*,\s*[1-4]\s*,\s*-?\d+\s*,\s*\d+\s*\]")
_BEFORE, _CREATE, _CHANGE, _DESTROY = 1, 2, 3, 4
_records = msgspec.json.Decoder(list[tuple[int, int, int, int]])


class TorchTimeline(Importer):
    """Read as a whole: a record is some forty bytes."""

    format = "torch_memory_timeline_raw"
    says = "a raw memory timeline of PyTorch's profiler"

    def recognises(self, head: bytes) -> bool:
        return _BEGINS.match(head) is not None

    def read(self, source: Source) -> Trace:
        try:
            records = np.array(_records.decode(source.whole()), np.int64).reshape(-1, 4)
        except msgspec.DecodeError as problem:
            raise InputError(f"{source.where}: is no whole memory timeline ({problem}).") from None
        _check(records, source.where)
        moved = records[np.isin(records[:, 1], (_CREATE, _DESTROY))]
        moved = moved[np.argsort(moved[:, 0], kind="stable")]
        held = records[records[:, 1] == _BEFORE, 2]
        before = LiveBefore(held, np.zeros(len(held), np.int64), None)
        device = np.zeros(len(moved), np.int64)
        live = live_after(moved[:, 2], device, before)
        table = AllocationTable(moved[:, 0].copy(), moved[:, 2].copy(), device, None, live, None, before)
        return memory_trace(source.path, self.format, table, _noted(records))


def _check(records: np.ndarray, where: str) -> None:
    """Refuse actions that there are not, and bytes whose sign says otherwise than their action."""
    action, size = records[:, 1], records[:, 2]
    wrong = (action < _BEFORE) | (action > _DESTROY)
    wrong |= ((action <= _CREATE) & (size < 0)) | ((action == _DESTROY) & (size > 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{where}: record {row} must have an action from 1 to 4, and bytes below zero where it is 4 alone. "
            f"Got action {action[row]} with {size[row]} bytes."
        )


def _noted(records: np.ndarray) -> dict[str, object]:
    def of(action: int) -> np.ndarray:
        return records[records[:, 1] == action, 2]

    running = np.cumsum(records[:, 2])
    counts = {name: Counter(records[:, k].tolist()) for name, k in (("actions", 1), ("categories", 3))}
    return {
        "records": len(records),
        **{name: {str(key): count for key, count in sorted(found.items())} for name, found in counts.items()},
        "preexisting_bytes": int(of(_BEFORE).sum()),
        "created_bytes": int(of(_CREATE).sum()),
        "destroyed_bytes": -int(of(_DESTROY).sum()),
        "version_change_net_bytes": int(of(_CHANGE).sum()),
        "running_peak_bytes": int(running.max(initial=0)),
        "live_bytes_at_end": int(running[-1]) if len(running) else 0,
    }
