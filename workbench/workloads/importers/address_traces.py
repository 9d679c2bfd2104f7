"""Traces of addresses: Accel-Sim's of one kernel and its kernelslist, and the output of NVBit's tool mem_trace.

They say what each warp executed, in its order, not when. Reading keeps the distinct pages and warps, not the addresses.

Accel-Sim: tracer versions 3 to 5, raw (`.trace`) and grouped by thread block (`.traceg`), read by `warp_reader`. A
kernelslist holds the copies and launches of a program in their order, beside the traces of its kernels.

NVBit's mem_trace prints every memory instruction of every warp, of all kernels of a program. Lines that do not begin
with `MEMTRACE:` are the program's own and are skipped. An instruction has 32 addresses; 0 is a lane that was not
active. The tool counts launches from 0. Before NVBit 1.7 it raised the count before it printed the line of the launch,
so that the first launch is called 1 there and 0 in its instructions; so launches are counted here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.units import is_count
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.importers.unreadable import is_tracez
from workbench.workloads.importers.warp_reader import (
    Touches,
    TouchRows,
    WarpReader,
    block_number,
    is_shared,
    numbered_lines,
    wrong_line,
)


class RawWarpTrace(Importer):
    """Lines in the order in which they were drained."""

    format = "accelsim_trace_raw"
    description = "kernel-N.trace of Accel-Sim's NVBit tracer"
    counted = "kernels"
    grouped: ClassVar[bool] = False

    def recognises(self, head: bytes) -> bool:
        begins = head.lstrip().startswith((b"-kernel name", b"-kernel id", b"-grid dim"))
        return begins and not is_tracez(head) and _is_grouped(head) == self.grouped

    def read(self, source: Source) -> AddressTrace:
        return AddressTrace(*self.trace(source, noted=warp_facts(WarpReader(source), Footprint())))


class GroupedWarpTrace(RawWarpTrace):
    """One thread block after the other."""

    format = "accelsim_trace_grouped"
    description = "kernel-N.traceg of Accel-Sim"
    grouped = True


def _is_grouped(head: bytes) -> bool:
    _, _, body = head.partition(b"#traces format")
    lines = (line for line in body.split(b"\n")[1:] if line.strip())
    return next(lines, b"").startswith(b"#BEGIN_TB")


_PACKED = ("", ".gz", ".xz", ".bz2")
_LONGEST_NAME = 200
"""Letters; file systems take 255 bytes, with the ending."""
_SUMMED = ("instructions", "memory_instructions", "shared_memory_instructions", "global_memory_instructions")


class Listing(NamedTuple):
    """What a kernelslist says."""

    lines: int
    kernels: list[str]
    """The traces' names, in the order of launches."""
    copy_bytes: list[int]
    """Bytes of each copy to the card."""


class KernelsList(Importer):
    """Every kernel whose trace lies beside the list is read; which are absent is a fact."""

    format = "kernelslist"
    description = "kernelslist of Accel-Sim's tracer"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        lines = [line for line in head.split(b"\n")[:64] if line.strip()]
        return bool(lines) and all(line.startswith((b"MemcpyHtoD,", b"kernel-")) for line in lines)

    def read(self, source: Source) -> AddressTrace:
        listing = read_listing(source)
        found = {name: trace_beside(source.path, name) for name in listing.kernels}
        footprint, names = Footprint(), set()
        totals = dict.fromkeys(_SUMMED, 0)
        for path in filter(None, (found[name] for name in listing.kernels)):
            facts = warp_facts(WarpReader(Source(path)), footprint)
            names.add(facts["kernel_name"])
            totals = {name: total + facts[name] for name, total in totals.items()}
        noted = {
            "lines": listing.lines,
            "kernels": len(listing.kernels),
            "copies": len(listing.copy_bytes),
            "copy_bytes": sum(listing.copy_bytes),
            "listed_but_absent": [name for name, path in found.items() if path is None],
            "trace_files_not_listed": _not_listed(source.path, listing.kernels),
            "unique_names": len(names),
            **totals,
            **footprint.facts(),
        }
        return AddressTrace(*self.trace(source, noted=noted))


def read_listing(source: Source) -> Listing:
    """Read what a kernelslist says.

    Raises
    ------
    InputError
        A line is neither a copy nor the trace of a kernel.
    """
    kernels, copy_bytes, lines = [], [], 0
    for number, line in numbered_lines(source):
        lines += 1
        fields = line.split(",")
        if line.startswith("kernel-"):
            if len(line) > _LONGEST_NAME or not line.isprintable() or {"/", "\\"} & set(line):
                # one that names folders could lead anywhere
                expected = f"expected the name of a file beside the list, of at most {_LONGEST_NAME} letters"
                raise wrong_line(source.where, number, expected, line)
            kernels.append(line)
        elif fields[0] == "MemcpyHtoD" and len(fields) == 3 and is_count(fields[2]):
            copy_bytes.append(int(fields[2]))
        else:
            raise wrong_line(source.where, number, "expected `kernel-...` or `MemcpyHtoD,address,bytes`", line)
    return Listing(lines, kernels, copy_bytes)


def trace_beside(path: Path, name: str) -> Path | None:
    """Return the trace that a list at a path names, compressed or not; None where it is absent."""
    plain = name.removesuffix(".xz").removesuffix(".gz")
    return next((found for packed in _PACKED if (found := path.with_name(plain + packed)).is_file()), None)


def _not_listed(path: Path, names: list[str]) -> int:
    """Return how many traces of kernels lie beside a list that does not name them."""
    listed = {trace_beside(path, name) for name in names}
    ends = tuple(f".trace{group}{packed}" for group in ("", "g") for packed in _PACKED)
    beside = (found for found in path.parent.glob("kernel-*") if found.name.endswith(ends))
    return sum(found not in listed for found in beside)


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


_SIZES = {"pages_4k": 12, "pages_64k": 16, "pages_2m": 21}
"""Bits of the address within a page."""


class AddressTrace(Trace):
    """A trace that says what its kernels touched, not how long they ran: it gives accesses, never workgroups."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of its format, and what it lacks."""
        return {"format": self.format, **self.noted, "missing": self.missing()}

    def missing(self, needed: object = ()) -> list[str]:
        """Return that a trace of addresses has no times, whatever is needed."""
        return ["it holds no times (it says what each warp executed, in its order, not when)"]


class Footprint:
    """The global addresses of one trace, or of all traces of a list; it grows with the pages, not with the addresses.

    >>> footprint = Footprint()
    >>> none = np.empty(0, np.int64)
    >>> footprint.add(Touches(none, none, none, np.array(addresses)) for addresses in ([0, 4095, 4096], [9000]))
    >>> footprint.facts()["pages_4k"], footprint.facts()["highest_address"]
    (3, '0x2328')
    """

    def __init__(self) -> None:
        self.addresses = 0
        self._pages = dict.fromkeys(_SIZES, np.empty(0, np.int64))
        self._lowest, self._highest = 1 << 63, -1

    def add(self, batches: Iterable[Touches]) -> None:
        """Count what some batches touch."""
        for address in (batch.address for batch in batches if len(batch.address)):
            self.addresses += len(address)
            for name, bits in _SIZES.items():
                self._pages[name] = np.union1d(self._pages[name], address >> bits)
            self._lowest = min(self._lowest, int(address.min()))
            self._highest = max(self._highest, int(address.max()))

    def facts(self) -> dict[str, Any]:
        """Return the counts of addresses and pages, and what lies at the ends."""
        result: dict[str, Any] = {"global_addresses": self.addresses}
        result |= {name: len(pages) for name, pages in self._pages.items()}
        if self.addresses:
            result |= {"lowest_address": hex(self._lowest), "highest_address": hex(self._highest)}
        return result


def warp_facts(reader: WarpReader, footprint: Footprint) -> dict[str, Any]:
    """Return the facts of one trace; it is read to its end."""
    footprint.add(reader.batches())
    header, of_memory = reader.header, sum(reader.opcodes.values())
    return {
        "kernels": 1,
        "unique_names": 1,
        "kernel_name": header.kernel,
        "grid": list(header.grid),
        "block": list(header.block),
        "max_shared_bytes": header.shared_bytes,
        "registers": header.registers,
        "binary_version": header.compute_capability,
        "tracer_version": header.version,
        "thread_blocks": reader.blocks,
        "warps": len(reader.warps),
        "instructions": reader.instructions,
        **({"instructions_declared": reader.declared} if reader.grouped else {}),
        "memory_instructions": of_memory,
        "shared_memory_instructions": reader.of_shared,
        "global_memory_instructions": of_memory - reader.of_shared,
        **footprint.facts(),
        "memory_opcodes": dict(sorted(reader.opcodes.items())),
        "address_modes": {str(mode): count for mode, count in sorted(reader.modes.items())},
    }
