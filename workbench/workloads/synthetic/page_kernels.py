"""Kernels that say by formula which bytes each instruction of each warp touches; this makes accesses of it.

An access is one page of one instruction of a warp: the lanes are coalesced, as the load/store unit asks a TLB once for
each page. Arrays lie one behind the other, each from a page on. Which core runs a workgroup is the order of dispatch;
when an access is issued is the model of `warp_pages`. Shared memory, registers and caches have no part in it: every
load of global memory is a translation. `Spans` hold what instructions of warps touch as spans of bytes, in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.core_assignment import CoreAssignment, RoundRobin
from workbench.workloads.warp_pages import CoreClock, Ordinals, WarpPages, cut
from workbench.workloads.workload import Accesses, Workload

_SPANS_AT_ONCE = 1 << 17


class Spans(NamedTuple):
    """Bytes that instructions of warps touch, one row a span; the spans of an instruction may be many and overlap."""

    workgroup: np.ndarray
    """int64[spans], the place of each workgroup among those that were asked for."""
    warp: np.ndarray
    """int64[spans], of its workgroup."""
    step: np.ndarray
    """int64[spans], the how-manieth instruction of its warp; not every number need come."""
    first: np.ndarray
    """int64[spans], address of the first byte."""
    last: np.ndarray
    """int64[spans], address of the last byte."""

    def pages(self, page_bytes: int) -> tuple[np.ndarray, np.ndarray]:
        """Return every page of every span: int64[pages], the row of its span, and the page."""
        low, high = self.first // page_bytes, self.last // page_bytes
        if (low == high).all():
            return np.arange(len(low)), low
        row = np.repeat(np.arange(len(low)), high - low + 1)
        start = np.cumsum(high - low + 1) - (high - low + 1)
        return row, low[row] + np.arange(len(row)) - start[row]


Touched = Callable[[np.ndarray], Spans]
"""From int64[count] numbers of workgroups to what they touch."""


def spans(workgroup: np.ndarray, warp: Any, step: Any, first: np.ndarray, length: Any) -> Spans:
    """Return the spans of so many bytes from an address on, of columns that NumPy broadcasts; those of 0 bytes are
    none.

    >>> spans(np.arange(2)[:, None], 0, np.arange(2), np.array([[0, 8], [16, 24]]), np.array([8, 0])).first.tolist()
    [0, 16]
    """
    columns = np.broadcast_arrays(workgroup, warp, step, first, length)
    flat = [np.ascontiguousarray(column, np.int64).ravel() for column in columns]
    some = flat[4] > 0
    if not some.all():
        flat = [column[some] for column in flat]
    place, number, turn, begin, size = flat
    return Spans(place, number, turn, begin, begin + size - 1)


class Launch(NamedTuple):
    """One launch of a kernel."""

    workgroups: int
    """Of its grid."""
    spans: Touched
    """What some of them touch."""
    typical: int
    """How many spans a workgroup has, about."""


class Arrays:
    """Lays arrays one behind the other, each from a page on.

    >>> arrays = Arrays(4096)
    >>> arrays.place(5000), arrays.place(1), arrays.bytes
    (0, 8192, 12288)
    """

    def __init__(self, page_bytes: int) -> None:
        self._page_bytes = page_bytes
        self.bytes = 0

    def place(self, size: int) -> int:
        """Return the start of an array of so many bytes."""
        begins = self.bytes
        self.bytes += -(-size // self._page_bytes) * self._page_bytes
        return begins


class PageKernel(Workload):
    """The base of every kernel; `launches` says what it touches."""

    element_bytes: int = lever(
        4, least=1, most=16, scale="power_of_two", unit="bytes", description="an element of its arrays"
    )
    warp_size: int = lever(32, least=8, most=64, scale="power_of_two", unit="threads", description="threads of a warp")
    order: CoreAssignment = lever(RoundRobin(), description="which core runs each workgroup")
    resident: int = lever(2, least=1, most=64, unit="workgroups", description="workgroups that a core runs at once")
    gap: float = lever(4.0, least=0, most=1e6, unit="cycles", description="cycles between two accesses of a core")
    repeats: int = lever(1, least=1, most=1 << 30, unit="launches", description="how often all of it is launched")
    count: int = lever(0, least=0, most=10**12, unit="accesses", description="the first so many accesses; 0 = all")

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        """Return every launch, in order; `places` are the addresses at which the arrays begin."""
        raise NotImplementedError

    def array_bytes(self) -> list[int]:
        """Return the bytes of each array, in the order in which they lie."""
        raise NotImplementedError

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        try:
            self.order.check_cores(machine.cores, f"{path or self.name}.order")
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None
        self._check_warps(machine, path or self.name, where)
        arrays = Arrays(machine.page_bytes)
        for size in self.array_bytes():
            arrays.place(size)
        pages = arrays.bytes // machine.page_bytes
        if pages > machine.pages:
            problem = f"{path or self.name}: its arrays must fit in {machine.pages} pages, all that the machine has"
            raise InputError(at(where, f"{problem}. Got {pages}."))

    def _check_warps(self, machine: Any, path: str, where: str) -> None:
        """Refuse a warp size that the machine has not: warps, or equal parts of warps, access pages together."""
        whole = machine.wave_size
        if whole % self.warp_size:
            expected = f"must divide machine.wave_size ({whole}), the threads of its warps"
            raise wrong_value(where, f"{path}.warp_size", expected, self.warp_size, whole)

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        """Return the accesses, in blocks.

        Raises
        ------
        InputError
            The arrays do not fit the machine's addresses, the order of dispatch names a core that it lacks, or its
            warps are shorter than those of the kernel.
        """
        self.check_machine(machine)
        return cut(self._launched(machine, streams), self.count)

    def places(self, page_bytes: int) -> list[int]:
        """Return the start of each array."""
        arrays = Arrays(page_bytes)
        return [arrays.place(size) for size in self.array_bytes()]

    def warp_pages(self, machine: Any, streams: Streams) -> Iterator[WarpPages]:
        """Yield the touches of each warp, after all launches; every part holds whole workgroups of one launch."""
        for launch in self.launches(self.places(machine.page_bytes), streams):
            for rows in self._waves(launch, machine):
                yield rows.coalesced()

    def _launched(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        clock = CoreClock(machine.cores, self.gap)
        for _ in range(self.repeats):
            for rows in self.warp_pages(machine, streams):
                yield clock.accesses(rows.core, rows.page)

    def _waves(self, launch: Launch, machine: Any) -> Iterator[WarpPages]:
        """Yield some whole waves at a time of a launch."""
        number = np.arange(launch.workgroups)
        core = self.order.core_of(number, launch.workgroups, machine.cores)
        wave = Ordinals(machine.cores).of(core) // self.resident
        sequence = np.argsort(wave, kind="stable")
        ends = np.cumsum(np.bincount(wave))
        begin = 0
        while begin < launch.workgroups:
            wanted = begin + max(_SPANS_AT_ONCE // launch.typical, 1)
            end = int(ends[min(int(np.searchsorted(ends, wanted)), len(ends) - 1)])
            chosen = sequence[begin:end]
            touched = launch.spans(chosen)
            row, page = touched.pages(machine.page_bytes)
            place, warp, step = touched.workgroup[row], touched.warp[row], touched.step[row]
            yield WarpPages(wave[chosen][place], step, place + begin, warp, page, core[chosen][place])
            begin = end


def joined(parts: Sequence[Spans]) -> Spans:
    """Return the spans of several instructions together."""
    return Spans(*(np.concatenate(columns) for columns in zip(*parts)))
