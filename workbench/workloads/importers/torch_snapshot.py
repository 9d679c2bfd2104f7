"""Snapshots of PyTorch's CUDA memory (`torch.cuda.memory._dump_snapshot`): pickles of plain values.

A pickle can ask for any class or function and have it called. This one is read by an unpickler that gives out none: a
file that asks for one is refused before anything of it is called. What is left are dictionaries, lists and numbers.

`segments` is what was got from the driver, as it was after the last event; `device_traces` holds a list a card of the
events that a ring of the card kept, oldest first (PyTorch 2.1 to 2.6, torch/csrc/cuda/memory_snapshot.cpp and
c10/cuda/CUDACachingAllocator.cpp; sizes of events are those that were asked for). The rings of several cards begin at
different times. What was live before the first event is told by both: blocks that are released but were not allocated,
and blocks that are live at the end without an event. A block is back when `free_completed` says so, not when
`free_requested` does. An `oom` is a request that failed after all cached memory had been given back. With expandable
segments memory is got and given back by `segment_map` and `segment_unmap`. Other actions and keys say nothing of memory
and are passed over.
"""

from __future__ import annotations

import io
import pickle
import re
from collections import Counter
from typing import Annotated, Any, NoReturn

import msgspec

from workbench.errors import InputError, shown
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.memory_rows import UNKNOWN, Block, MemoryRows, memory_trace
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace

_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_ALLOC, _FREE, _OOM = "alloc", "free_completed", "oom"
_GROW, _SHRINK = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
_CURE = "call torch.cuda.memory._record_memory_history() first and write it with torch.cuda.memory._dump_snapshot"
_LIVE = re.compile(r"active_")
"""A block's state: active_allocated, active_pending_free (old), active_awaiting_free, or inactive."""


_Bytes = Annotated[int, msgspec.Meta(ge=0)]


class _Once(msgspec.Struct):
    """A use of a block, in snapshots before PyTorch 2.1."""

    real_size: _Bytes


class _BlockOfSegment(msgspec.Struct):
    size: _Bytes
    state: str
    address: int = -1
    requested_size: int = -1
    history: list[_Once] = []

    @property
    def asked(self) -> int:
        if self.requested_size >= 0:
            return self.requested_size
        return self.history[0].real_size if self.history else self.size


class _Segment(msgspec.Struct):
    address: int
    total_size: _Bytes
    blocks: list[_BlockOfSegment] = []
    device: int = 0
    segment_type: str = ""

    def live(self) -> list[Block]:
        """The blocks in use; old snapshots leave addresses out, for blocks lie one after the other."""
        found, at = [], self.address
        for block in self.blocks:
            if _LIVE.match(block.state):
                found.append(Block(block.asked, self.device, at if block.address < 0 else block.address))
            at += block.size
        return found


class _Event(msgspec.Struct):
    action: str
    addr: int = -1
    size: _Bytes = 0
    time_us: int = -1


class _Snapshot(msgspec.Struct):
    segments: list[_Segment]
    device_traces: list[list[_Event]]

    @property
    def of_allocator(self) -> bool:
        """Whether the segments are what an allocator got from its driver; they are all small or large then."""
        return all(segment.segment_type for segment in self.segments)


class TorchSnapshot(Importer):
    """Read as a whole."""

    format = "torch_memory_snapshot"
    says = "a pickled memory snapshot of PyTorch"

    def recognises(self, head: bytes) -> bool:
        return _PICKLE.match(head) is not None

    def read(self, source: Source) -> Trace:
        snapshot = _snapshot(_plain(source.whole(), source.where), source.where)
        rows = MemoryRows()
        counts = Counter(event.action for events in snapshot.device_traces for event in events)
        for device, events in enumerate(snapshot.device_traces):
            _add(rows, device, events, _reserved_before(snapshot, device, events), source.where)
        rows.also_before(block for segment in snapshot.segments for block in segment.live())
        table = rows.table(calls_told=snapshot.of_allocator)
        noted = {
            "segments": len(snapshot.segments),
            "segment_bytes": sum(segment.total_size for segment in snapshot.segments),
            "live_blocks_at_end": sum(len(segment.live()) for segment in snapshot.segments),
            "events": sum(counts.values()),
            "actions": dict(sorted(counts.items())),
        }
        return memory_trace(source.path, self.format, table, noted)


class _PlainUnpickler(pickle.Unpickler):
    """Gives out no class and no function, and follows no persistent id."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise _Asks(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _Asks("a persistent object")


class _Asks(Exception):
    """What a pickle asked for."""


def _plain(content: bytes, where: str) -> Any:
    """The plain values of a pickle.

    Raises
    ------
    InputError
        It asks for anything that is not plain, and then nothing of it was called; or it is cut off or damaged.
    """
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except _Asks as asked:
        raise InputError(
            f"{where}: asks for {shown(str(asked))}, and a memory snapshot needs no class; it was refused and nothing "
            "in it was executed."
        ) from None
    except Exception as problem:  # what the unpickler raises at damaged bytes is not documented
        raise InputError(f"{where}: is no whole pickle ({type(problem).__name__}).") from None


def _snapshot(found: Any, where: str) -> _Snapshot:
    if _are_segments(found):
        raise InputError(f"{where}: holds the segments of a moment and no history; {_CURE}.")
    try:
        return msgspec.convert(found, _Snapshot)
    except (msgspec.ValidationError, RecursionError) as problem:
        raise InputError(f"{where}: is no memory snapshot of PyTorch ({problem}).") from None


def _are_segments(found: Any) -> bool:
    """Whether these are segments alone, as `torch.cuda.memory_snapshot()` gives them."""
    if isinstance(found, dict):
        return "segments" in found and "device_traces" not in found
    return isinstance(found, list) and bool(found) and all(isinstance(it, dict) and "blocks" in it for it in found)


def _reserved_before(snapshot: _Snapshot, device: int, events: list[_Event]) -> int:
    """What the driver had given before the first event: what it has given in the end, less what events added.

    Unknown in a snapshot that was made of a profile: its one segment a card spans all addresses that were seen.
    """
    if not snapshot.of_allocator:
        return UNKNOWN
    at_end = sum(segment.total_size for segment in snapshot.segments if segment.device == device)
    return at_end - sum(_grown(event) for event in events)


def _grown(event: _Event) -> int:
    return event.size * ((event.action in _GROW) - (event.action in _SHRINK))


def _add(rows: MemoryRows, device: int, events: list[_Event], reserved: int, where: str) -> None:
    """The events of one card; without time stamps they are a microsecond apart."""
    last = 0
    for place, event in enumerate(events):
        last = max(last, 1000 * (place if event.time_us < 0 else event.time_us))
        reserved += 0 if reserved == UNKNOWN else _grown(event)
        if event.addr < 0 and event.action in (_ALLOC, _FREE):
            raise InputError(
                f"{where}: an event {event.action} of device {device} has no address; the file is damaged."
            )
        if event.action in _GROW + _SHRINK:
            rows.driver_call(last, device, _grown(event))
        elif event.action == _OOM:
            rows.refuse(last, device, event.size)
        elif event.action == _ALLOC:
            rows.allocate(last, device, event.addr, event.size, reserved)
        elif event.action == _FREE:
            rows.release(last, device, event.addr, event.size, reserved)
