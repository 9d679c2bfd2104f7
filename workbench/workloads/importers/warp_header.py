"""The header of an Accel-Sim / NVBit trace: `-key = value` lines up to `#traces format`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.errors import InputError, shown
from workbench.workloads.importers.warp_line import Layout

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
        x, y, z = self.grid
        return x * y * z

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
            raise InputError(f"{where}: line {number}: expected `-key = value` or `#traces format`. Got {shown(line)}.")
        entries[key[1:].strip()] = (number, value.strip())
    raise InputError(f"{where}: ends within its header; expected a line `#traces format`.")


def _header(said: dict[str, tuple[int, str]], fields: str, where: str) -> WarpHeader:
    def number(key: str, base: int = 10, default: int | None = None) -> int:
        line, text = _said(said, key, where, default)
        try:
            return int(text, base)
        except ValueError:
            raise InputError(f"{where}: line {line}: {key} must be a whole number. Got {shown(text)}.") from None

    def triple(key: str) -> tuple[int, int, int]:
        line, text = _said(said, key, where)
        found = re.fullmatch(r"\((\d{1,10}),(\d{1,10}),(\d{1,10})\)", text.replace(" ", ""))
        if not found or not all(int(part) for part in found.groups()):
            raise InputError(f"{where}: line {line}: {key} must be (x,y,z), each at least 1. Got {shown(text)}.")
        x, y, z = map(int, found.groups())
        return x, y, z

    version = number("accelsim tracer version")
    if version not in VERSIONS:
        line = said["accelsim tracer version"][0]
        raise InputError(f"{where}: line {line}: accelsim tracer version must be 3, 4 or 5. Got {version}.")
    return WarpHeader(
        kernel=_said(said, "kernel name", where)[1],
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


def _said(said: dict[str, tuple[int, str]], key: str, where: str, default: int | None = None) -> tuple[int, str]:
    if key in said:
        return said[key]
    if default is None:
        raise InputError(f"{where}: its header has no `-{key}`, which every Accel-Sim trace has.")
    return 0, str(default)
