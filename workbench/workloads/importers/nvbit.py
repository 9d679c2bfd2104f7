"""The output of NVBit's tool mem_trace: every memory instruction of every warp, of all kernels of a program.

Lines that do not begin with `MEMTRACE:` are the program's own and are skipped. An instruction has 32 addresses; 0 is a
lane that was not active. The tool counts launches from 0. Before NVBit 1.7 it raised the count before it printed the
line of the launch, so that the first launch is called 1 there and 0 in its instructions; so launches are counted here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from workbench.errors import InputError
from workbench.workloads.importers.accelsim_lines import block_number, wrong_line
from workbench.workloads.importers.address_footprint import AddressTrace, Footprint
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_reader import Touches, TouchRows, is_shared

SIGN = b"MEMTRACE: CTX 0x"


class NvbitMemTrace(Importer):
    """Reading keeps the distinct pages and warps, not the addresses."""

    format = "nvbit_mem_trace"
    description = "output of NVBit's tool mem_trace"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return head.startswith(SIGN) or b"\n" + SIGN in head

    def read(self, source: Source) -> AddressTrace:
        reader, footprint = MemTraceReader(source), Footprint()
        for part in reader.parts():
            footprint.add(part.batches())
        launches = reader.launches
        if not launches:
            raise InputError(f"{source.where}: names no launch; the lines with LAUNCH must be in the output too.")
        noted = {
            "kernels": len(launches),
            "unique_names": len({launch.name for launch in launches}),
            "thread_blocks": sum(launch.thread_blocks for launch in launches),
            "max_shared_bytes": max(launch.shared_bytes for launch in launches),
            "registers": max(launch.registers for launch in launches),
            "warps": len(reader.warps),
            "memory_instructions": reader.instructions,
            "shared_memory_instructions": reader.of_shared,
            "global_memory_instructions": reader.instructions - reader.of_shared,
            **footprint.facts(),
            "memory_opcodes": dict(sorted(reader.opcodes.items())),
        }
        return AddressTrace(*self.trace(source, noted=noted))


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
        return math.prod(self.grid)

    @property
    def warps_a_block(self) -> int:
        """Return the warps of a thread block."""
        return -(-math.prod(self.block) // _WARP)


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
        """Yield the touches of launches, in the order of the output; each part is to be read before the next.

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
        match = _LAUNCH.match(line)
        if match is None:
            expected = "expected a launch with grid size, block size, nregs and shmem"
            raise wrong_line(self.where, number, expected, line.rstrip())
        (x, y, z), (of_x, of_y, of_z) = (map(int, match[which].split(",")) for which in ("grid", "block"))
        grid, block = (x, y, z), (of_x, of_y, of_z)
        if min(*grid, *block) < 1:
            expected = "expected a grid and a block of at least 1 along each axis"
            raise wrong_line(self.where, number, expected, f"{grid}, {block}")
        self.launches.append(Launch(match["name"], grid, block, int(match["registers"]), int(match["shared"])))

    def _access(self, number: int, line: str) -> Access:
        """Return an instruction, and count it; without addresses if those are not in global memory."""
        match = _ACCESS.match(line)
        if match is None:
            expected = "expected grid_launch_id, CTA, warp, opcode and addresses in hex"
            raise wrong_line(self.where, number, expected, line)
        place, x, y, z, warp = (int(part) for part in match.groups()[:5])
        if place >= len(self.launches):
            expected = f"expected an instruction of the {len(self.launches)} launches above"
            raise wrong_line(self.where, number, expected, line)
        launch = self.launches[place]
        if warp >= launch.warps_a_block:
            raise wrong_line(self.where, number, f"expected a warp below {launch.warps_a_block}", str(warp))
        block = block_number(launch.grid, (x, y, z), self.where, number)
        addresses = [address for text in match[7].split() if (address := int(text, 16))]
        if max(addresses, default=0) >= _HIGHEST:
            raise wrong_line(self.where, number, "expected addresses of at most 63 bits", hex(max(addresses)))
        self.warps.add((place, block * launch.warps_a_block + warp))
        opcode = match[6].partition(".")[0]
        in_shared = is_shared(opcode, addresses)
        self.instructions += 1
        self.of_shared += in_shared
        self.opcodes[opcode] += 1
        return Access(place, block, warp, [] if in_shared else addresses)


def _batches(accesses: Iterator[Access]) -> Iterator[Touches]:
    """Yield accesses as columns; instructions that touch no global memory are left out."""
    rows = TouchRows()
    for access in accesses:
        if access.addresses:
            rows.add(access.block, access.warp, access.addresses)
        if rows.full:
            yield rows.batch()
    yield rows.batch()
