"""An Accel-Sim / NVBit trace read once, from end to end: the addresses that its warps touch, in batches.

Raw files (`.trace`) hold instructions in the order in which the tracer drained them, each line with its block and warp.
Grouped files (`.traceg`) hold one thread block after the other and warp after warp within it. Neither says when.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.units import is_count
from workbench.workloads.importers.accelsim_lines import (
    LANES,
    OF_RAW,
    Instruction,
    Layout,
    NumberedLines,
    block_number,
    instruction,
    numbered_lines,
    warp_header,
    wrong_line,
)
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
        """Return the rows that were added since the last batch."""
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
        """Return the number of thread blocks that have been read of."""
        return len({warp // self._warps_a_block for warp in self.warps})

    def batches(self) -> Iterator[Touches]:
        """Return the touches, batch by batch.

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
            if not all(map(is_count, fields[:OF_RAW])):
                raise self._wrong(number, "expected thread block x, y, z and warp", " ".join(fields[:OF_RAW]))
            x, y, z, warp = (int(field) for field in fields[:OF_RAW])
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

    def _take(self, number: int, fields: list[str], parsed: Instruction, block: int, warp: int) -> None:
        """Count an instruction, and keep what it touches of global memory."""
        opcode = parsed.opcode.partition(".")[0]
        in_shared = parsed.mode >= 0 and is_shared(opcode, parsed.addresses, self.header.shared_base)
        if opcode == "LDGSTS" and in_shared:
            return
        self.instructions += 1
        self.warps.add(block * self._warps_a_block + warp)
        if parsed.mode < 0:
            return
        self.opcodes[opcode] += 1
        self.modes[parsed.mode] += 1
        self.of_shared += in_shared
        if in_shared or not parsed.addresses:
            return
        if min(parsed.addresses) < 0 or max(parsed.addresses) >= _ADDRESSES:
            raise self._wrong(number, "expected addresses of at most 63 bits", " ".join(fields[-3:]))
        self._rows.add(block, warp, parsed.addresses)

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
