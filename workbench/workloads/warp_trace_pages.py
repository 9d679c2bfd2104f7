"""The accesses of the kernels of warp traces: their addresses on pages, their thread blocks on cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.workloads.accesses import Accesses
from workbench.workloads.dispatch_order import DispatchOrder
from workbench.workloads.importers.address_traces import MemTraceReader, NvbitMemTrace, Part
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_reader import Touches, WarpReader
from workbench.workloads.ordinals import Ordinals
from workbench.workloads.warp_pages import CoreClock, WarpPages, changes

if TYPE_CHECKING:
    from workbench.workloads.trace_accesses import Span


class Placing(NamedTuple):
    """How a trace lies on a machine: the levers of `TraceAccesses`, and what the machine and the trace add."""

    cores: int
    page_bytes: int
    order: DispatchOrder
    resident: int
    gap: float
    lowest: int
    """Address of the trace."""
    footprint: int
    copies: int
    apart: int
    """Bytes from the addresses of one copy to those of the next."""

    def last_page(self, span: Span) -> int:
        """Return the last page that a trace touches."""
        scaled = span.lowest + (span.highest - span.lowest) * self.footprint
        return (scaled + (self.copies - 1) * self.apart) // self.page_bytes

    def pages(self, address: np.ndarray, copy: np.ndarray) -> np.ndarray:
        """Return the page of each address of a copy: int64[count]."""
        scaled = self.lowest + (address - self.lowest) * self.footprint + copy * self.apart
        result: np.ndarray = scaled // self.page_bytes
        return result


def kernel_accesses(files: list[Path], placing: Placing) -> Iterator[Accesses]:
    """Yield the accesses of some kernels, one after the other."""
    clock = CoreClock(placing.cores, placing.gap)
    for file in files:
        for kernel in _kernels(Source(file)):
            for rows in _rows(kernel, placing):
                once = rows.coalesced()
                yield clock.accesses(once.core, once.page)


def _kernels(source: Source) -> Iterator[WarpReader | Part]:
    """Yield the kernels of a file: one of Accel-Sim's, as many as there are of NVBit's mem_trace."""
    if NvbitMemTrace().recognises(source.head):
        yield from MemTraceReader(source).parts()
    else:
        yield WarpReader(source)


def _rows(reader: WarpReader | Part, placing: Placing) -> Iterator[WarpPages]:
    batches, blocks = reader.batches(), reader.header.thread_blocks * placing.copies
    if not reader.grouped:
        return (_drained(touches, blocks, placing) for touches in batches)
    running = placing.order.period(blocks, placing.cores) * placing.resident
    together = max(running // placing.copies, 1)
    return (_in_step(touches, blocks, together, placing) for touches in _windows(batches, together))


def _windows(batches: Iterator[Touches], together: int) -> Iterator[Touches]:
    """Yield a grouped trace in parts of whole windows: so many thread blocks, or a multiple of that."""
    held: list[Touches] = []
    blocks = 0
    for batch in batches:
        held.append(batch)
        blocks += int(changes(batch.block).sum())
        if blocks >= together:
            whole = _joined(held)
            starts = np.flatnonzero(changes(whole.block))
            end = int(starts[blocks // together * together]) if blocks % together else len(whole.block)
            yield _part(whole, slice(0, end))
            held, blocks = [_part(whole, slice(end, None))], blocks % together
    if blocks:
        yield _joined(held)


def _joined(parts: list[Touches]) -> Touches:
    return Touches(*(np.concatenate(columns) for columns in zip(*parts)))


def _part(touches: Touches, rows: slice) -> Touches:
    lanes = np.concatenate([[0], np.cumsum(touches.lanes)])
    first, last, _ = rows.indices(len(touches.lanes))
    address = touches.address[lanes[first] : lanes[last]]
    return Touches(touches.block[rows], touches.warp[rows], touches.lanes[rows], address)


def _drained(touches: Touches, blocks: int, placing: Placing) -> WarpPages:
    """Return a batch of a raw trace: instructions keep the order of the file."""
    instruction, copy, page = _lanes(touches, placing)
    core = placing.order.core(touches.block[instruction] * placing.copies + copy, blocks, placing.cores)
    none = np.zeros(len(page), np.int64)
    return WarpPages(none, instruction, copy, none, page, core)


def _in_step(touches: Touches, blocks: int, together: int, placing: Placing) -> WarpPages:
    """Return the windows of a grouped trace: within a wave all warps go on together."""
    instruction, copy, page = _lanes(touches, placing)
    new_block = changes(touches.block)
    new_warp = np.flatnonzero(new_block | changes(touches.warp))
    step = np.arange(len(touches.block)) - np.repeat(new_warp, np.diff(new_warp, append=len(touches.block)))
    place = np.cumsum(new_block) - 1
    workgroup = (touches.block[new_block, None] * placing.copies + np.arange(placing.copies)).ravel()
    core = placing.order.core(workgroup, blocks, placing.cores)
    window = np.arange(len(workgroup)) // (together * placing.copies)
    turn = Ordinals(int(window[-1] + 1) * placing.cores).of(window * placing.cores + core)
    wave = window * len(workgroup) + turn // placing.resident
    local = place[instruction] * placing.copies + copy
    return WarpPages(wave[local], step[instruction], local, touches.warp[instruction], page, core[local])


def _lanes(touches: Touches, placing: Placing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return instruction, copy and page of every active lane of every copy: int64[lanes]."""
    lane = np.repeat(np.arange(len(touches.lanes)), touches.lanes)
    copy = np.repeat(np.arange(placing.copies), len(lane))
    page = placing.pages(np.tile(touches.address, placing.copies), copy)
    return np.tile(lane, placing.copies), copy, page
