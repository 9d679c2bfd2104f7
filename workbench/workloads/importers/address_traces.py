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

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.units import is_count
from workbench.workloads.importers.importer import Importer, Trace
from workbench.workloads.importers.source import Source, is_tracez
from workbench.workloads.importers.warp_reader import BATCH, Touches, WarpReader, is_shared
from workbench.workloads.kernels import KernelRows


class RawWarpTrace(Importer):
    """Lines in the order in which they were drained."""

    format = "accelsim_trace_raw"
    says = "kernel-N.trace of Accel-Sim's NVBit tracer"

    def recognises(self, head: bytes) -> bool:
        return _is_warp_trace(head) and not _is_grouped(head)

    def read(self, source: Source) -> AddressTrace:
        return _read(source, self.format)


class GroupedWarpTrace(Importer):
    """One thread block after the other."""

    format = "accelsim_trace_grouped"
    says = "kernel-N.traceg of Accel-Sim"

    def recognises(self, head: bytes) -> bool:
        return _is_warp_trace(head) and _is_grouped(head)

    def read(self, source: Source) -> AddressTrace:
        return _read(source, self.format)


def _read(source: Source, of_format: str) -> AddressTrace:
    noted = warp_facts(WarpReader(source), Footprint())
    return AddressTrace(source.path, of_format, "kernels", KernelRows().table(), noted=noted)


def _is_warp_trace(head: bytes) -> bool:
    return head.lstrip().startswith((b"-kernel name", b"-kernel id", b"-grid dim")) and not is_tracez(head)


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
    says = "kernelslist of Accel-Sim's tracer"

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
        return AddressTrace(source.path, self.format, "kernels", KernelRows().table(), noted=noted)


def read_listing(source: Source) -> Listing:
    """Read what a kernelslist says.

    Raises
    ------
    InputError
        A line is neither a copy nor the trace of a kernel.
    """
    kernels, copy_bytes, lines = [], [], 0
    for number, line in _lines(source):
        lines += 1
        fields = line.split(",")
        if line.startswith("kernel-"):
            kernels.append(_file_name(line, f"{source.where}: line {number}"))
        elif fields[0] == "MemcpyHtoD" and len(fields) == 3 and is_count(fields[2]):
            copy_bytes.append(int(fields[2]))
        else:
            expected = "expected `kernel-...` or `MemcpyHtoD,address,bytes`"
            raise InputError(f"{source.where}: line {number}: {expected}. Got {shown(line)}.")
    return Listing(lines, kernels, copy_bytes)


def _file_name(name: str, place: str) -> str:
    """Return the name of a trace, which lies beside its list; one that names folders could lead anywhere."""
    if len(name) > _LONGEST_NAME or not name.isprintable() or {"/", "\\"} & set(name):
        expected = f"expected the name of a file beside the list, of at most {_LONGEST_NAME} letters"
        raise InputError(f"{place}: {expected}. Got {shown(name)}.")
    return name


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


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield number, line.strip()


class NvbitMemTrace(Importer):
    """Reading keeps the distinct pages and warps, not the addresses."""

    format = "nvbit_mem_trace"
    says = "output of NVBit's tool mem_trace"

    def recognises(self, head: bytes) -> bool:
        return head.startswith(SIGN) or b"\n" + SIGN in head

    def read(self, source: Source) -> AddressTrace:
        reader, footprint = MemTraceReader(source), Footprint()
        for part in reader.parts():
            for _ in footprint.passing(part.batches()):
                pass
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
        return AddressTrace(source.path, self.format, "kernels", KernelRows().table(), noted=noted)


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


_SIZES = {"pages_4k": 1 << 12, "pages_64k": 1 << 16, "pages_2m": 1 << 21}


class AddressTrace(Trace):
    """A trace that says what its kernels touched, not how long they ran: it gives accesses, never workgroups."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of its format, and what it lacks."""
        return {"format": self.format, **self.noted, "missing": self.missing()}

    def missing(self, needed: object = ()) -> list[str]:
        """Return that a trace of addresses has no times, whatever is needed."""
        return ["it holds no times (it says what each warp executed, in its order, not when)"]


class Footprint:
    """The global addresses of one trace, or of all traces of a list."""

    def __init__(self) -> None:
        self.addresses = 0
        self._pages = {name: PageSet(size) for name, size in _SIZES.items()}
        self._lowest, self._highest = 1 << 63, -1

    def passing(self, batches: Iterator[Touches]) -> Iterator[Touches]:
        """Yield the same batches, counted as they go by."""
        for batch in batches:
            self._add(batch)
            yield batch

    def facts(self) -> dict[str, Any]:
        """Return the counts of addresses and pages, and what lies at the ends."""
        result: dict[str, Any] = {"global_addresses": self.addresses}
        result |= {name: len(pages) for name, pages in self._pages.items()}
        if self.addresses:
            result |= {"lowest_address": hex(self._lowest), "highest_address": hex(self._highest)}
        return result

    def _add(self, batch: Touches) -> None:
        if not len(batch.address):
            return
        self.addresses += len(batch.address)
        for pages in self._pages.values():
            pages.add(batch.address)
        self._lowest = min(self._lowest, int(batch.address.min()))
        self._highest = max(self._highest, int(batch.address.max()))


def warp_facts(reader: WarpReader, footprint: Footprint) -> dict[str, Any]:
    """Return the facts of one trace; it is read to its end."""
    for _ in footprint.passing(reader.batches()):
        pass
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


class PageSet:
    """The distinct pages of a size; it grows with the pages, not with the addresses.

    >>> pages = PageSet(4096)
    >>> pages.add(np.array([0, 4095, 4096]))
    >>> pages.add(np.array([4097, 9000]))
    >>> len(pages)
    3
    """

    def __init__(self, page_bytes: int) -> None:
        self._shift = page_bytes.bit_length() - 1
        self._pages = np.empty(0, np.int64)

    def add(self, address: np.ndarray) -> None:
        """Count the pages of some addresses: int64[count]."""
        self._pages = np.union1d(self._pages, address >> self._shift)

    def __len__(self) -> int:
        return len(self._pages)
