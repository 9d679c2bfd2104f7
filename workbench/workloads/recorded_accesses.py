"""Recorded accesses to pages: what the warps of a real program touched, on the cores of a machine.

They come from a trace of warps, or piece by piece from a CSV file of the user's (`access_file`).

A trace says what each warp executed, not when nor on which core. Both are a model (`warp_pages`), and each of its parts
is a lever or stated here:

- `order` says which core runs a thread block.
- Of a grouped trace, `resident` thread blocks of every core run at once, in step. A raw trace was drained from warps
  that ran at once; its order is kept.
- An instruction makes one access for each distinct page of its active lanes, the lowest page first. Shared memory has
  no pages.
- The k-th access of a core is issued k times `gap` cycles after the first.
- The kernels of a kernelslist run one after the other, or all together.

Public traces are small. `footprint` and `copies` make a large workload from a small trace; the result is synthetic, and
says so. With `footprint` n every address is n times as far from the lowest one as it was, as if all elements were n
times as large. With `copies` n every thread block comes n times, each copy in pages of its own or in the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.files import digest_of_file
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.catalogue import trace_file
from workbench.workloads.core_assignment import CoreAssignment, RoundRobin
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.accelsim import KernelsList, read_listing, trace_beside
from workbench.workloads.importers.nvbit import MemTraceReader, NvbitMemTrace, Part
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_reader import Touches, WarpReader
from workbench.workloads.recorded import OfTrace, TraceFile, check_unchanged
from workbench.workloads.warp_pages import CoreClock, Ordinals, WarpPages, changes, cut, merged
from workbench.workloads.workload import Accesses

_FORMATS = ("accelsim_trace_raw", "accelsim_trace_grouped", "nvbit_mem_trace", KernelsList.format)


class TraceAccesses(OfTrace):
    """The global accesses of an Accel-Sim / NVBit trace, of the output of NVBit's mem_trace, or of the kernels that a
    kernelslist names.

    References
    ----------
    spec 4, section 6: real page traces from kernels where available.
    """

    order: CoreAssignment = lever(RoundRobin(), description="which core runs each thread block")
    resident: int = lever(
        2, least=1, most=64, unit="workgroups", description="thread blocks of a grouped trace that a core runs at once"
    )
    gap: float = lever(4.0, least=0, most=1e6, unit="cycles", description="cycles between two accesses of a core")
    kernels: Literal["in_turn", "together"] = lever(
        "in_turn", description="whether the kernels of a list run one after the other, or all from cycle 0 on"
    )
    footprint: int = lever(
        1,
        least=1,
        most=1 << 20,
        scale="log",
        description="how many times as far apart all addresses are (synthetic if > 1)",
    )
    copies: int = lever(1, least=1, most=1024, description="how often every thread block comes (synthetic if > 1)")
    copies_touch: Literal["own", "same"] = lever(
        "own", description="whether copies touch pages of their own, or the same"
    )
    count: int = lever(0, least=0, most=10**12, unit="accesses", description="the first so many accesses; 0 = all")

    def identity(self) -> dict[str, Any]:
        """Return the levers, with the trace and those that a list names by their contents."""
        own = super().identity()
        _, digests = self.located()
        own[self.name]["trace"]["kernels"] = list(digests[1:] or digests)
        return own

    def digests(self, path: Path, anew: bool = False) -> tuple[str, ...]:
        """Return the digest of the trace; of a list its own, then those of the traces that it names."""
        files = _files(path)
        return tuple(digest_of_file(file, anew) for file in (path, *(file for file in files if file != path)))

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        try:
            span = self._span()
            self.order.check_cores(machine.cores, f"{path or self.name}.order")
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None
        last, most = self._placing(machine).pages(span.highest, self.copies - 1), machine.pages
        if last >= most:
            raise InputError(
                at(where, f"{self._expectation(path)} {most}, all that the machine's addresses reach. Got page {last}.")
            )

    def _expectation(self, path: str) -> str:
        """Return the change that would bring all pages within reach."""
        for lever_name in ("footprint", "copies"):
            if getattr(self, lever_name) > 1:
                return f"{path or self.name}.{lever_name} must keep pages below"
        return f"{self.trace}: its pages must be below"

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        """Return the accesses, in blocks; the trace is read as they are asked for.

        Raises
        ------
        InputError
            The trace cannot be read, touches no global memory, or its pages are beyond the machine's addresses.
        """
        self.check_machine(machine)
        placing = self._placing(machine)
        path, digests = self.located()
        files = _files(path)
        if self.kernels == "together":
            blocks = cut(merged([kernel_accesses([file], placing) for file in files]), self.count)
        else:
            blocks = cut(kernel_accesses(files, placing), self.count)
        return _unchanged(blocks, files, digests[1:] or digests)

    def facts(self, machine: Any) -> dict[str, Any]:
        """Return the content of the trace, and the factor by which it was made larger."""
        result = read_trace(trace_file(self.trace)).facts()
        return {**result, "footprint": self.footprint, "copies": self.copies}

    def _span(self) -> Span:
        return _span(self.trace_file(), self.located()[1])

    def _placing(self, machine: Any) -> _Placing:
        return _Placing(self, machine.cores, machine.page_bytes, self._span())


class Span(NamedTuple):
    """Between which addresses a trace touches memory."""

    lowest: int
    highest: int


@lru_cache(maxsize=64)
def _span(file: TraceFile, sha256: tuple[str, ...]) -> Span:
    path, trace = file.path, read_trace(file.path)
    if trace.format not in _FORMATS:
        raise InputError(f"{path}: is a trace of kernels ({trace.format}), which says nothing of the pages they touch.")
    facts = trace.facts()
    if not facts["global_addresses"]:
        raise InputError(f"{path}: no instruction touches global memory, so there is no access.")
    return Span(int(facts["lowest_address"], 16), int(facts["highest_address"], 16))


def _unchanged(blocks: Iterator[Accesses], files: list[Path], digests: tuple[str, ...]) -> Iterator[Accesses]:
    """Yield the blocks, and refuse at their end a file that is not the one that was to be read."""
    yield from blocks
    for file, sha256 in zip(files, digests):
        check_unchanged(file, sha256)


def _files(path: Path) -> list[Path]:
    """Return the traces of kernels: the file itself, or those that a kernelslist names and that lie in its folder."""
    source = Source(path)
    if not KernelsList().recognises(source.head):
        return [path]
    named = [trace_beside(path, name) for name in read_listing(source).kernels]
    return [file for file in named if file is not None]


class _Placing(NamedTuple):
    """How a trace lies on a machine."""

    spec: TraceAccesses
    cores: int
    page_bytes: int
    span: Span

    @property
    def stride_bytes(self) -> int:
        """Return the bytes from the addresses of one copy to those of the next, in whole pages."""
        if self.spec.copies_touch == "same":
            return 0
        reach = (self.span.highest - self.span.lowest) * self.spec.footprint + self.page_bytes
        return -(-reach // self.page_bytes) * self.page_bytes

    def pages(self, address: Any, copy: Any) -> Any:
        """Return the page of an address of a copy, or of each of several: int64[count]."""
        lowest = self.span.lowest
        return (lowest + (address - lowest) * self.spec.footprint + copy * self.stride_bytes) // self.page_bytes


def kernel_accesses(files: list[Path], placing: _Placing) -> Iterator[Accesses]:
    """Yield the accesses of some kernels, one after the other."""
    clock = CoreClock(placing.cores, placing.spec.gap)
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


def _rows(reader: WarpReader | Part, placing: _Placing) -> Iterator[WarpPages]:
    batches, blocks = reader.batches(), reader.header.thread_blocks * placing.spec.copies
    if not reader.grouped:
        return (_drained(touches, blocks, placing) for touches in batches)
    running = placing.spec.order.period(blocks, placing.cores) * placing.spec.resident
    together = max(running // placing.spec.copies, 1)
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


def _drained(touches: Touches, blocks: int, placing: _Placing) -> WarpPages:
    """Return a batch of a raw trace: instructions keep the order of the file."""
    instruction, copy, page = _lanes(touches, placing)
    core = placing.spec.order.core_of(touches.block[instruction] * placing.spec.copies + copy, blocks, placing.cores)
    none = np.zeros(len(page), np.int64)
    return WarpPages(none, instruction, copy, none, page, core)


def _in_step(touches: Touches, blocks: int, together: int, placing: _Placing) -> WarpPages:
    """Return the windows of a grouped trace: within a wave all warps go on together."""
    instruction, copy, page = _lanes(touches, placing)
    new_block = changes(touches.block)
    new_warp = np.flatnonzero(new_block | changes(touches.warp))
    step = np.arange(len(touches.block)) - np.repeat(new_warp, np.diff(new_warp, append=len(touches.block)))
    place = np.cumsum(new_block) - 1
    workgroup = (touches.block[new_block, None] * placing.spec.copies + np.arange(placing.spec.copies)).ravel()
    core = placing.spec.order.core_of(workgroup, blocks, placing.cores)
    window = np.arange(len(workgroup)) // (together * placing.spec.copies)
    turn = Ordinals(int(window[-1] + 1) * placing.cores).of(window * placing.cores + core)
    wave = window * len(workgroup) + turn // placing.spec.resident
    local = place[instruction] * placing.spec.copies + copy
    return WarpPages(wave[local], step[instruction], local, touches.warp[instruction], page, core[local])


def _lanes(touches: Touches, placing: _Placing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return instruction, copy and page of every active lane of every copy: int64[lanes]."""
    lane = np.repeat(np.arange(len(touches.lanes)), touches.lanes)
    copy = np.repeat(np.arange(placing.spec.copies), len(lane))
    page = placing.pages(np.tile(touches.address, placing.spec.copies), copy)
    return np.tile(lane, placing.spec.copies), copy, page
