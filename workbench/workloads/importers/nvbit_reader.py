"""The output of NVBit's example tool mem_trace read once: launches, and the addresses that each instruction touches.

Lines that do not begin with `MEMTRACE:` are the program's own and are skipped. An instruction has 32 addresses; 0 is a
lane that was not active. The tool counts launches from 0. Before NVBit 1.7 it raised the count before it printed the
line of the launch, so that the first launch is called 1 there and 0 in its instructions; so launches are counted here.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_reader import BATCH, Touches, is_shared

_LAUNCH = re.compile(
    r"MEMTRACE: CTX 0x[0-9a-f]+ - LAUNCH - Kernel pc 0x[0-9a-f]+ - Kernel name (?P<name>.*) - "
    r"grid launch id \d{1,18} - grid size (?P<grid>\d{1,10},\d{1,10},\d{1,10}) - "
    r"block size (?P<block>\d{1,10},\d{1,10},\d{1,10}) - nregs (?P<registers>\d{1,6}) - shmem (?P<shared>\d{1,10})",
    re.ASCII,
)
_ACCESS = re.compile(
    r"MEMTRACE: CTX 0x[0-9a-f]+ - grid_launch_id (\d{1,18}) - CTA (\d{1,10}),(\d{1,10}),(\d{1,10}) - "
    r"warp (\d{1,6}) - (\S{1,100}) - ((?:0x[0-9a-f]{1,16}(?: |$))*)$",
    re.ASCII,
)
SIGN = b"MEMTRACE: CTX 0x"
_HIGHEST = 1 << 63
_WARP = 32


class Launch(NamedTuple):
    """A kernel launch, as the tool prints it."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int
    """Of a thread."""
    shared_bytes: int
    """Of a thread block, static and dynamic together."""

    @property
    def thread_blocks(self) -> int:
        """Return the thread blocks of the grid."""
        x, y, z = self.grid
        return x * y * z

    @property
    def warps_a_block(self) -> int:
        """Return the warps of a thread block."""
        x, y, z = self.block
        return -(-x * y * z // _WARP)


class Part(NamedTuple):
    """What one launch touches, until instructions of another one follow; it reads as a raw warp trace does."""

    header: Launch
    touches: Iterator[Touches]
    grouped: bool = False

    def batches(self) -> Iterator[Touches]:
        """Return the batches, which can be read once."""
        return self.touches


class Access(NamedTuple):
    """One instruction of a warp."""

    launch: int
    """Its place among the launches."""
    block: int
    warp: int
    """Of its thread block."""
    addresses: list[int]
    """In global memory, of its active lanes."""


class MemTraceReader:
    """Reads one output; what it has counted is complete when all parts have been read."""

    def __init__(self, source: Source) -> None:
        self.where = source.where
        self.launches: list[Launch] = []
        self.instructions = 0
        self.of_shared = 0
        self.opcodes: Counter[str] = Counter()
        self.warps: set[tuple[int, int]] = set()
        self._source = source

    def parts(self) -> Iterator[Part]:
        """Yield what launches touch, in the order of the output; each part is to be read before the next.

        Raises
        ------
        InputError
            A line of the tool is not as it writes them, or is cut off.
        """
        for launch, accesses in groupby(self._accesses(), key=lambda access: access.launch):
            yield Part(self.launches[launch], _batches(accesses))

    def _accesses(self) -> Iterator[Access]:
        for number, line in enumerate(self._source.lines(), 1):
            if not line.startswith("MEMTRACE: CTX "):
                continue
            if " - LAUNCH - " in line:
                self._launch(number, line)
            else:
                yield self._access(number, line.rstrip())

    def _launch(self, number: int, line: str) -> None:
        found = _LAUNCH.match(line)
        if found is None:
            raise self._wrong(number, "expected a launch with grid size, block size, nregs and shmem", line.rstrip())
        grid, block = (_axes(found[which]) for which in ("grid", "block"))
        if min(*grid, *block) < 1:
            raise self._wrong(number, "expected a grid and a block of at least 1 along each axis", f"{grid}, {block}")
        self.launches.append(Launch(found["name"], grid, block, int(found["registers"]), int(found["shared"])))

    def _access(self, number: int, line: str) -> Access:
        """Return an instruction, and count it."""
        found = _ACCESS.match(line)
        if found is None:
            raise self._wrong(number, "expected grid_launch_id, CTA, warp, opcode and addresses in hex", line)
        place, x, y, z, warp = (int(part) for part in found.groups()[:5])
        if place >= len(self.launches):
            raise self._wrong(number, f"expected an instruction of the {len(self.launches)} launches above", line)
        launch = self.launches[place]
        if warp >= launch.warps_a_block:
            raise self._wrong(number, f"expected a warp below {launch.warps_a_block}", str(warp))
        block = self._block(number, launch, (x, y, z))
        addresses = [address for text in found[7].split() if (address := int(text, 16))]
        if max(addresses, default=0) >= _HIGHEST:
            raise self._wrong(number, "expected addresses of at most 63 bits", hex(max(addresses)))
        self.warps.add((place, block * launch.warps_a_block + warp))
        return Access(place, block, warp, self._global(found[6].partition(".")[0], addresses))

    def _global(self, opcode: str, addresses: list[int]) -> list[int]:
        """Return the addresses of an instruction if they are in global memory, and count it."""
        in_shared = is_shared(opcode, addresses)
        self.instructions += 1
        self.of_shared += in_shared
        self.opcodes[opcode] += 1
        return [] if in_shared else addresses

    def _block(self, number: int, launch: Launch, place: tuple[int, int, int]) -> int:
        """Return a thread block's number in its grid, x fastest."""
        if any(at >= size for at, size in zip(place, launch.grid)):
            raise self._wrong(number, f"expected a thread block of the grid {launch.grid}", str(place))
        (x, y, z), (of_x, of_y, _) = place, launch.grid
        return x + of_x * (y + of_y * z)

    def _wrong(self, number: int, expected: str, got: str) -> InputError:
        return InputError(f"{self.where}: line {number}: {expected}. Got {shown(got)}.")


def _batches(accesses: Iterator[Access]) -> Iterator[Touches]:
    """Yield accesses as columns; instructions that touch no global memory are left out."""
    columns = tuple(array("q") for _ in Touches._fields)
    for access in accesses:
        if not access.addresses:
            continue
        for column, value in zip(columns, (access.block, access.warp, len(access.addresses))):
            column.append(value)
        columns[-1].extend(access.addresses)
        if len(columns[-1]) >= BATCH:
            yield Touches(*(np.array(column, np.int64) for column in columns))
            columns = tuple(array("q") for _ in Touches._fields)
    yield Touches(*(np.array(column, np.int64) for column in columns))


def _axes(text: str) -> tuple[int, int, int]:
    x, y, z = map(int, text.split(","))
    return x, y, z
