"""Lines of an Accel-Sim / NVBit trace: its header, and the instructions of warps.

The header is `-key = value` lines up to `#traces format`. A line below it is an instruction of a warp. After the
numbers that say whose it is come PC, active mask, how many destinations and which, opcode, how many sources and which,
and width in bytes. A memory instruction then has the form of its addresses, and the addresses. Mode 0 gives every
active lane's address, mode 1 the first and the stride between active lanes, mode 2 the first and the difference of each
further one to the one before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source


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
OF_RAW = 4
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
        """Return the words of lines except their instruction; those of a raw file begin with block x, y, z and warp."""
        before = int(self.lineinfo)
        if not grouped:
            before += OF_RAW + (_OF_CLUSTER if "cluster" in self.fields else 0)
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


def _header(entries: dict[str, tuple[int, str]], fields: str, where: str) -> WarpHeader:
    def text_of(key: str, default: int | None = None) -> tuple[int, str]:
        if key not in entries and default is None:
            raise InputError(f"{where}: its header has no `-{key}`, which every Accel-Sim trace has.")
        return entries.get(key, (0, str(default)))

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
        line = entries["accelsim tracer version"][0]
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
