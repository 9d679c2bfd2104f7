"""An Accel-Sim / NVBit trace read once, from end to end: the addresses that its warps touch, in batches.

Raw files (`.trace`) hold instructions in the order in which the tracer drained them, each line with its block and warp.
Grouped files (`.traceg`) hold one thread block after the other and warp after warp within it. Neither says when.

The header is `-key = value` lines up to `#traces format`. A line below it is an instruction of a warp: after the
numbers that say whose it is, PC, active mask, how many destinations and which, opcode, how many sources and which,
width in bytes; of a memory instruction then how its addresses are written, and these. Mode 0 gives every active lane's
address, mode 1 the first and the stride between active lanes, mode 2 the first and the difference of each further one
to the one before.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.units import is_count
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.unreadable import refuse_unreadable

BATCH = 1 << 18
"""Addresses of a batch, about."""
_SHARED_WINDOW = 1 << 24
_OF_SHARED = ("LDS", "LDSM", "STS", "STSM", "ATOMS")
_ADDRESSES = 1 << 63


class Touches(NamedTuple):
    """What a batch of memory instructions touches in global memory, in the order of the file."""

    block: np.ndarray
    """int64[instructions], the thread block of each, numbered in the grid, x fastest."""
    warp: np.ndarray
    """int64[instructions], the warp of its block."""
    lanes: np.ndarray
    """int64[instructions], how many lanes of each were active, at least 1."""
    address: np.ndarray
    """int64[all lanes], the addresses of one instruction after the other."""


class TouchRows:
    """Gathers what instructions touch, a batch at a time."""

    def __init__(self) -> None:
        self._columns = tuple(array("q") for _ in Touches._fields)

    def add(self, block: int, warp: int, addresses: list[int]) -> None:
        """Add an instruction with the addresses of its active lanes."""
        for column, value in zip(self._columns, (block, warp, len(addresses))):
            column.append(value)
        self._columns[-1].extend(addresses)

    @property
    def full(self) -> bool:
        """Return whether there is a batch."""
        return len(self._columns[-1]) >= BATCH

    def batch(self) -> Touches:
        """Return what was added since the last batch."""
        held, self._columns = self._columns, tuple(array("q") for _ in Touches._fields)
        return Touches(*(np.array(column, np.int64) for column in held))


class WarpReader:
    """Reads one trace; what it has counted is complete when all batches have been read.

    An instruction touches shared memory, which has no pages, if its opcode says so (LDS, STS, ...), and if its first
    address is an offset below 2^24 or lies in the window of shared memory. An LDGSTS copies from global to shared
    memory and has both; a raw file gives each a line, and the one with the address in shared memory is left out. Local
    memory is taken at the addresses that were recorded.

    Raises
    ------
    InputError
        The header is not that of a trace.
    """

    def __init__(self, source: Source) -> None:
        self.where = source.where
        refuse_unreadable(source)
        self._lines: NumberedLines = numbered_lines(source)
        self.header = warp_header(self._lines, self.where)
        self.grouped = False
        self.instructions = 0
        self.declared = 0
        self.opcodes: Counter[str] = Counter()
        self.modes: Counter[int] = Counter()
        self.of_shared = 0
        self.warps: set[int] = set()
        self._rows = TouchRows()
        self._warps_a_block = -(-math.prod(self.header.block) // LANES)

    @property
    def blocks(self) -> int:
        """Return how many thread blocks have been read of."""
        return len({warp // self._warps_a_block for warp in self.warps})

    def batches(self) -> Iterator[Touches]:
        """Return what is touched, batch by batch.

        Raises
        ------
        InputError
            A line is not as it must be, or the file is cut off: one sentence with file, line, expected and got.
        """
        first = next(self._lines, None)
        if first is None:
            raise InputError(f"{self.where}: ends after its header; expected instructions.")
        self.grouped = first[1].startswith("#BEGIN_TB")
        return self._grouped() if self.grouped else self._raw(first)

    def _raw(self, first: tuple[int, str]) -> Iterator[Touches]:
        layout = self.header.layout(grouped=False)
        for number, line in chain([first], self._lines):
            if line.startswith(("#", "-")):
                raise self._wrong(number, "expected an instruction, as in the raw trace above it", line)
            fields = line.split()
            parsed = self._parsed(number, fields, layout)
            if not all(map(is_count, fields[:_OF_RAW])):
                raise self._wrong(number, "expected thread block x, y, z and warp", " ".join(fields[:_OF_RAW]))
            x, y, z, warp = (int(field) for field in fields[:_OF_RAW])
            block = block_number(self.header.grid, (x, y, z), self.where, number)
            self._take(number, fields, parsed, block, self._warp(number, warp))
            if self._rows.full:
                yield self._rows.batch()
        yield self._rows.batch()

    def _warp(self, number: int, warp: int) -> int:
        if warp >= self._warps_a_block:
            raise self._wrong(number, f"expected a warp below {self._warps_a_block}", str(warp))
        return warp

    def _grouped(self) -> Iterator[Touches]:
        number = -1
        while number:
            self._thread_block()
            if self._rows.full:
                yield self._rows.batch()
            number, line = next(self._lines, (0, ""))
            if number and not line.startswith("#BEGIN_TB"):
                raise self._wrong(number, "expected #BEGIN_TB or the end of the file", line)
        yield self._rows.batch()

    def _thread_block(self) -> None:
        """Read all warps of a block, up to its #END_TB."""
        layout, block, warp, left = self.header.layout(grouped=True), -1, -1, 0
        for number, line in self._lines:
            key, assigned, value = line.partition("=")
            if left and not assigned and not line.startswith("#"):
                fields = line.split()
                self._take(number, fields, self._parsed(number, fields, layout), block, warp)
                left -= 1
            elif left:
                raise self._wrong(number, f"expected {left} more instructions of warp {warp}", line)
            elif line.startswith("#END_TB"):
                return
            elif key.strip() == "thread block":
                x, y, z = self._numbers(number, value, 3)
                block = block_number(self.header.grid, (x, y, z), self.where, number)
            elif key.strip() == "warp":
                warp = self._warp(number, *self._numbers(number, value, 1))
            elif key.strip() == "insts" and block >= 0 <= warp:
                (left,) = self._numbers(number, value, 1)
                self.declared += left
            elif not key.startswith("cluster"):
                raise self._wrong(number, "expected `thread block =`, `warp =`, `insts =` or #END_TB", line)
        rest = f"{left} more instructions of warp {warp}" if left else "#END_TB"
        raise InputError(f"{self.where}: is cut off; expected {rest} of thread block {block}. Got the end of the file.")

    def _numbers(self, number: int, text: str, count: int) -> list[int]:
        parts = [part.strip() for part in text.split(",")]
        if len(parts) != count or not all(is_count(part, most_digits=11) for part in parts):
            raise self._wrong(number, f"expected {count} whole numbers", text.strip())
        return [int(part) for part in parts]

    def _parsed(self, number: int, fields: list[str], layout: Layout) -> Instruction:
        try:
            return instruction(fields, layout)
        except InputError as wrong:
            raise InputError(f"{self.where}: line {number}: {wrong}") from None

    def _take(self, number: int, fields: list[str], found: Instruction, block: int, warp: int) -> None:
        """Count an instruction, and keep what it touches of global memory."""
        opcode = found.opcode.partition(".")[0]
        in_shared = found.mode >= 0 and is_shared(opcode, found.addresses, self.header.shared_base)
        if opcode == "LDGSTS" and in_shared:
            return
        self.instructions += 1
        self.warps.add(block * self._warps_a_block + warp)
        if found.mode < 0:
            return
        self.opcodes[opcode] += 1
        self.modes[found.mode] += 1
        self.of_shared += in_shared
        if in_shared or not found.addresses:
            return
        if min(found.addresses) < 0 or max(found.addresses) >= _ADDRESSES:
            raise self._wrong(number, "expected addresses of at most 63 bits", " ".join(fields[-3:]))
        self._rows.add(block, warp, found.addresses)

    def _wrong(self, number: int, expected: str, got: str) -> InputError:
        return wrong_line(self.where, number, expected, got)


def is_shared(opcode: str, addresses: list[int], base: int = -1) -> bool:
    """Return whether an instruction touches shared memory, whose window begins at `base` (-1 = it is not said).

    >>> is_shared("LDS", []), is_shared("LD", [64]), is_shared("LD", [1 << 40])
    (True, True, False)
    """
    if opcode in _OF_SHARED:
        return True
    if not addresses or opcode in ("LDL", "STL"):
        return False
    return addresses[0] < _SHARED_WINDOW or 0 <= base <= addresses[0] < base + _SHARED_WINDOW


def numbered_lines(source: Source) -> NumberedLines:
    """Yield the lines that are not blank."""
    return ((number, stripped) for number, line in enumerate(source.lines(), 1) if (stripped := line.strip()))


def wrong_line(where: str, number: int, expected: str, got: str) -> InputError:
    """Return the refusal of a line."""
    return InputError(f"{where}: line {number}: {expected}. Got {shown(got)}.")


def block_number(grid: tuple[int, int, int], place: tuple[int, int, int], where: str, number: int) -> int:
    """Return a thread block's number in its grid, x fastest; the line that names one outside is refused."""
    if any(at >= size for at, size in zip(place, grid)):
        raise wrong_line(where, number, f"expected a thread block of the grid {grid}", str(place))
    return place[0] + grid[0] * (place[1] + grid[1] * place[2])


VERSIONS = (3, 4, 5)
_OF_RAW = 4
_OF_CLUSTER = 7
NumberedLines = Iterator[tuple[int, str]]
"""Lines with their numbers from 1 on, without blank ones and without blanks around them."""


class WarpHeader(NamedTuple):
    """What a trace says of its kernel."""

    kernel: str
    grid: tuple[int, int, int]
    """Thread blocks along x, y and z."""
    block: tuple[int, int, int]
    """Threads of a block along x, y and z."""
    shared_bytes: int
    """Of a block."""
    registers: int
    """Of a thread."""
    compute_capability: int
    stream: int
    version: int
    """Of the tracer: 3 to 5."""
    shared_base: int
    """Where the window of shared memory begins among the addresses; -1 = it is not said."""
    lineinfo: bool
    fields: str
    """What stands behind `#traces format =`."""

    @property
    def thread_blocks(self) -> int:
        """Return the thread blocks of the grid."""
        return math.prod(self.grid)

    def layout(self, grouped: bool) -> Layout:
        """Return what lines have besides their instruction; those of a raw file begin with block x, y, z and warp."""
        before = int(self.lineinfo)
        if not grouped:
            before += _OF_RAW + (_OF_CLUSTER if "cluster" in self.fields else 0)
        return Layout(before, int(self.version >= 5 or self.fields.endswith("immediate")))


def warp_header(lines: NumberedLines, where: str) -> WarpHeader:
    """Return the header; the lines are read up to `#traces format`.

    Raises
    ------
    InputError
        The header ends before its end, lacks what is needed, or a value is not as it must be.
    """
    entries: dict[str, tuple[int, str]] = {}
    for number, line in lines:
        if line.startswith("#traces format"):
            return _header(entries, line.partition("=")[2].strip(), where)
        key, separator, value = line.partition("=")
        if not line.startswith("-") or not separator:
            raise wrong_line(where, number, "expected `-key = value` or `#traces format`", line)
        entries[key[1:].strip()] = (number, value.strip())
    raise InputError(f"{where}: ends within its header; expected a line `#traces format`.")


def _header(said: dict[str, tuple[int, str]], fields: str, where: str) -> WarpHeader:
    def text_of(key: str, default: int | None = None) -> tuple[int, str]:
        if key not in said and default is None:
            raise InputError(f"{where}: its header has no `-{key}`, which every Accel-Sim trace has.")
        return said.get(key, (0, str(default)))

    def number(key: str, base: int = 10, default: int | None = None) -> int:
        line, text = text_of(key, default)
        try:
            return int(text, base)
        except ValueError:
            raise wrong_line(where, line, f"{key} must be a whole number", text) from None

    def triple(key: str) -> tuple[int, int, int]:
        line, text = text_of(key)
        match = re.fullmatch(r"\((\d{1,10}),(\d{1,10}),(\d{1,10})\)", text.replace(" ", ""))
        if not match or not all(int(part) for part in match.groups()):
            raise wrong_line(where, line, f"{key} must be (x,y,z), each at least 1", text)
        x, y, z = map(int, match.groups())
        return x, y, z

    version = number("accelsim tracer version")
    if version not in VERSIONS:
        line = said["accelsim tracer version"][0]
        raise InputError(f"{where}: line {line}: accelsim tracer version must be 3, 4 or 5. Got {version}.")
    return WarpHeader(
        kernel=text_of("kernel name")[1],
        grid=triple("grid dim"),
        block=triple("block dim"),
        shared_bytes=number("shmem", default=0),
        registers=number("nregs", default=0),
        compute_capability=number("binary version", default=0),
        stream=number("cuda stream id", default=0),
        version=version,
        shared_base=number("shmem base_addr", 16, default=-1),
        lineinfo=bool(number("enable lineinfo", default=0)),
        fields=fields,
    )


LANES = 32
MODES = (0, 1, 2)
_HEX = re.compile(r"(0[xX])?[0-9a-fA-F]+", re.ASCII)


class Layout(NamedTuple):
    """What the lines of a trace have besides the instruction."""

    before: int
    """Fields before the PC: where the warp is, and the line of its source code."""
    after: int
    """Fields behind all others: 1 where immediates are recorded."""


class Instruction(NamedTuple):
    """One instruction of a warp."""

    opcode: str
    """With its modifiers: LDG.E.SYS."""
    mode: int
    """How its addresses are written; -1 = it is no memory instruction."""
    addresses: list[int]
    """One for each active lane, in the order of lanes; empty where it is no memory instruction."""


def instruction(fields: list[str], layout: Layout) -> Instruction:
    """Parse the instruction of a line.

    >>> line = "0008 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f00 8"
    >>> instruction(line.split(), Layout(0, 0)).addresses == [0x7F00, 0x7F08, 0x7F10, 0x7F18]
    True
    >>> instruction("0008 ffffffff 1 R1 MOV 0 0".split(), Layout(0, 0)).mode
    -1
    >>> instruction("0008 0000000f 1 R2 LDG.E 1 R4 4 1 0x7f00".split(), Layout(0, 0))
    Traceback (most recent call last):
    workbench.errors.InputError: must have 11 fields. It has 10.

    Raises
    ------
    InputError
        The line is cut off or is no instruction: what was expected and what stands there.
    """
    at, what = layout.before + 1, "an active mask of 32 lanes in hex"
    try:
        mask = int(fields[at], 16)
        if mask >> LANES:
            raise ValueError
        at, what = at + 1, "how many destinations, a whole number"
        at, what = at + 1 + _count(fields[at]), "an opcode"
        opcode = fields[at]
        if not opcode[0].isalpha():
            raise ValueError
        at, what = at + 1, "how many sources, a whole number"
        at, what = at + 1 + _count(fields[at]), "the width in bytes"
        mode, lanes, width = -1, mask.bit_count(), _count(fields[at])
        if width:
            at, what = at + 1, "an address encoding 0, 1 or 2"
            mode = MODES.index(int(fields[at]))
        at, what = at + 1, ""
        end = at + (lanes, 2, max(lanes, 1), 0)[mode]
        if len(fields) != end + layout.after:
            raise InputError(f"must have {end + layout.after} fields. It has {len(fields)}.")
        return Instruction(opcode, mode, _addresses(mode, lanes, fields[at:end]) if width else [])
    except InputError:
        raise
    except (ValueError, IndexError):
        pass
    if not _HEX.fullmatch("".join(fields[layout.before : layout.before + 1])):
        at, what = layout.before, "the PC in hex"
    if not what:
        rest = shown(" ".join(fields[at:]))
        raise InputError(f"expected addresses in hex and whole differences from field {at + 1} on. Got {rest}.")
    got = shown(fields[at]) if at < len(fields) else "the end of the line"
    raise InputError(f"expected {what} in field {at + 1}. Got {got}.")


def _count(field: str) -> int:
    count = int(field)
    if count < 0:
        raise ValueError
    return count


def _addresses(mode: int, lanes: int, written: list[str]) -> list[int]:
    if mode == 0:
        return [int(address, 16) for address in written]
    address = int(written[0], 16)
    if mode == 1:
        stride = int(written[1])
        return [address + lane * stride for lane in range(lanes)]
    return list(accumulate(map(int, written[1:]), initial=address))[:lanes]
