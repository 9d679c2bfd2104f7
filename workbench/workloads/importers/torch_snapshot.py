"""Snapshots of PyTorch's CUDA memory (`torch.cuda.memory._dump_snapshot`): pickles of plain values.

A pickle can ask for any class or function and have it called. This one is read by an unpickler that gives out none: a
file that asks for one is refused before anything of it is called, and what it takes is bounded by its size. What is
left are dictionaries, lists and numbers.

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
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from workbench.errors import InputError, shown
from workbench.structures import pickle_scan
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
        found = _logs(source.whole(), source.where)
        if not any(len(log.events.action) or len(log.segments.size) for log in found.logs):
            raise InputError(f"{source.where}: holds the segments of a moment and no history; {_CURE}.")
        rows = MemoryRows()
        for log in found.logs:
            _add(rows, log, found.of_allocator)
        rows.also_before(block for log in found.logs for block in _live(log))
        table = rows.table(calls_told=found.of_allocator)
        logs = found.logs if found.of_allocator else ()
        return self.trace(source, allocations=table, noted=_noted(found), logs=logs)


def read_snapshot(source: Source) -> TorchLogs:
    """Return what a snapshot holds, be it without a history: the segments of a moment.

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
    """Return what a pickle holds, be it a bare list of segments."""
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
    """Return what a pickle holds, its events read piece by piece; None = that is not to be had for this one.

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


def _noted(found: TorchLogs) -> dict[str, Any]:
    return {
        "segments": sum(len(log.segments.size) for log in found.logs),
        "segment_bytes": sum(log.reserved_at_end for log in found.logs),
        "live_blocks_at_end": sum(int(np.count_nonzero(log.blocks.state != INACTIVE)) for log in found.logs),
        "events": sum(found.actions.values()),
        "actions": dict(found.actions),
        **({"by_card": [_peaks(log) for log in found.logs]} if found.of_allocator else {}),
    }


def _peaks(log: AllocatorLog) -> dict[str, int]:
    """Return the most that one card's allocator had from the driver, and that was asked for, at a time."""
    events = log.events
    grown = events.size * (np.isin(events.action, _GROWS).astype(np.int64) - np.isin(events.action, _SHRINKS))
    live = events.size * ((events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED))
    asked_at_end = int(log.blocks.asked[log.blocks.state != INACTIVE].sum())
    return {
        "device": log.device,
        "reserved_peak_bytes": _highest(log.reserved_at_end, grown),
        "active_peak_bytes": _highest(asked_at_end, live),
    }


def _highest(at_end: int, change: np.ndarray) -> int:
    """Return the most there was at a time, from what there is after the last change."""
    upto = np.cumsum(change)
    return at_end if not len(upto) else at_end - int(upto[-1]) + max(int(upto.max()), 0)


def _live(log: AllocatorLog) -> list[Block]:
    """Return the blocks in use after the last event."""
    held = log.blocks.state != INACTIVE
    columns = (log.blocks.asked[held].tolist(), log.blocks.address[held].tolist())
    return [Block(asked, log.device, address) for asked, address in zip(*columns, strict=True)]


def _are_segments(found: Any) -> bool:
    """Return whether these are segments alone, as `torch.cuda.memory_snapshot()` gives them."""
    if isinstance(found, dict):
        return "segments" in found and "device_traces" not in found
    return isinstance(found, list) and bool(found) and all(isinstance(it, dict) and "blocks" in it for it in found)


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


_AHEAD = 1 << 18
"""Bytes of a file that are read at a time."""
_WRONG = {
    pickle_scan.CUT_OFF: "it is cut off",
    pickle_scan.LARGE_MEMO: "it numbers values higher than it has any",
    pickle_scan.UNUSUAL: "it holds an opcode that plain values do not need",
    pickle_scan.LARGE_TUPLE: f"it holds a tuple of more than {pickle_scan.MOST_PARTS:,} parts",
    pickle_scan.LONG_NUMBER: f"it holds a number of more than {pickle_scan.MOST_DIGITS} bytes",
    pickle_scan.EMPTY_STACK: "it takes what is not there",
}


class _PlainUnpickler(pickle.Unpickler):
    """Gives out no class and no function, and follows no persistent id."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise _Asks(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _Asks("a persistent object")


class _Asks(Exception):
    """What a pickle asked for."""


class _WithStandIn(_PlainUnpickler):
    """Gives out one object of this process, once, where a list stood in the file."""

    def __init__(self, file: io.BufferedReader, stand_in: Any) -> None:
        super().__init__(file)
        self._left = [stand_in]

    def persistent_load(self, pid: Any) -> Any:
        return self._left.pop()  # a second time is an IndexError: the file asks for something itself


_STANDS_IN = b"NQ"
"""Opcodes that push nothing, and then what `persistent_load` says of it."""


_FRAME, _FRAMED = 0x95, 4
"""The opcode that says how many bytes belong together, and the first protocol that has it."""


class _OneReplaced(io.RawIOBase):
    """The bytes of a pickle with the opcode at one place replaced, without a copy of them; its frame is made longer."""

    def __init__(self, content: bytes, at: int) -> None:
        view, frame = memoryview(content), _frame_of(content, at)
        before = [view[:at]]
        if frame is not None:
            start, length = frame
            longer = bytes([_FRAME]) + (length + len(_STANDS_IN) - 1).to_bytes(8, "little")
            before = [view[:start], memoryview(longer), view[start + len(longer) : at]]
        self._ahead = [*before, memoryview(_STANDS_IN), view[at + 1 :]]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while self._ahead and not self._ahead[0]:
            del self._ahead[0]
        if not self._ahead:
            return 0
        piece = self._ahead[0][: len(buffer)]
        buffer[: len(piece)] = piece
        self._ahead[0] = self._ahead[0][len(piece) :]
        return len(piece)


def _frame_of(content: bytes, at: int) -> tuple[int, int] | None:
    """Return where the frame around a place begins, and its length; None = the protocol has no frames.

    Raises
    ------
    ValueError
        The place is in none of the frames that follow one another from the beginning.
    """
    if content[1] < _FRAMED:
        return None
    start = 2
    while content[start] == _FRAME:
        length = int.from_bytes(content[start + 1 : start + 9], "little")
        if at < start + 9 + length:
            return start, length
        start += 9 + length
    raise ValueError


def values_with(content: bytes, at: int, stand_in: Any) -> Any:
    """Return the plain values of a pickle, an object of this process in the place of the list that begins at a byte.

    What the file puts into that list goes to the object's `extend`, piece by piece: whole it is never in memory.

    Raises
    ------
    Exception
        Whatever goes wrong, also that no list begins there; `plain_values` has the sentence for it.

    Examples
    --------
    >>> content, pieces = pickle.dumps({"a": [1, 2], "b": 3}), []
    >>> values_with(content, content.index(b"]"), pieces), pieces
    ({'a': [1, 2], 'b': 3}, [1, 2])
    """
    if pickle_scan.look(np.frombuffer(content, np.uint8))[0] != pickle_scan.SOUND:
        raise ValueError
    return _WithStandIn(io.BufferedReader(_OneReplaced(content, at), _AHEAD), stand_in).load()


def holds_half(content: bytes) -> bool:
    """Return whether a text of a sound pickle holds half a character; numbers may look the same, and are none."""
    return b"\xed" in content and pickle_scan.holds_half_a_character(np.frombuffer(content, np.uint8))


def plain_values(content: bytes, where: str) -> Any:
    """Return the plain values of a pickle.

    Raises
    ------
    InputError
        It asks for anything that is not plain, and then nothing of it was called; it would take memory out of all
        proportion to its size; or it is cut off or damaged.

    Examples
    --------
    >>> plain_values(pickle.dumps({"size": 512}), "it")
    {'size': 512}
    >>> plain_values(bytes.fromhex("80045d72000000102e"), "nine.pickle")
    Traceback (most recent call last):
    workbench.errors.InputError: nine.pickle: is no whole pickle (byte 3: it numbers values higher than it has any).
    """
    wrong, at = pickle_scan.look(np.frombuffer(content, np.uint8))
    if wrong != pickle_scan.SOUND:
        raise InputError(f"{where}: is no whole pickle (byte {at:,}: {_WRONG[wrong]}).")
    try:
        values = _PlainUnpickler(io.BytesIO(content)).load()
    except _Asks as asked:
        raise InputError(
            f"{where}: asks for {shown(str(asked))}, and a memory snapshot needs no class; it was refused and nothing "
            "in it was executed."
        ) from None
    except MemoryError:
        raise
    except Exception as problem:  # what the unpickler raises at damaged bytes is not documented
        raise InputError(f"{where}: is no whole pickle ({type(problem).__name__}).") from None
    if holds_half(content):
        raise InputError(f"{where}: holds a text with half a character (a lone surrogate); the file is damaged.")
    return values
