"""What must a row of blocks hold for a probe to report enough? A run of free cells, for every probe of known rule."""

from __future__ import annotations

from typing import NamedTuple


class CellRun(NamedTuple):
    """A run of wholly free cells, each cell so many blocks in a row from block 0 on."""

    cell_blocks: int
    """1 where a run may start at any block, the group's size where only whole groups count."""
    run: int | None
    """Cells that must be free in a row; None where no state is enough."""


def exact(demand: int) -> CellRun:
    """Of a probe that reports the longest run.

    >>> exact(5)
    CellRun(cell_blocks=1, run=5)
    """
    return CellRun(1, demand)


def grouped(demand: int, blocks: int, groups: int) -> CellRun:
    """Of a probe that sees whole groups alone: as many groups as hold the demand (spec 3, R42).

    >>> grouped(5, 128, 32)
    CellRun(cell_blocks=4, run=2)
    """
    size = blocks // groups
    return CellRun(size, -(-demand // size))


def sampled(demand: int, run_lengths: tuple[int, ...]) -> CellRun:
    """Of a probe that tells some run lengths apart: the least of them that is enough (spec 3, R46).

    >>> sampled(5, (1, 2, 4, 6)), sampled(7, (1, 2, 4, 6))
    (CellRun(cell_blocks=1, run=6), CellRun(cell_blocks=1, run=None))
    """
    return CellRun(1, min((length for length in run_lengths if length >= demand), default=None))
