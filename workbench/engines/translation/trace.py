"""The trace as the loop takes it: checked, in pieces that fit the cache, each page with its short number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.translation.loop import UNKNOWN, first_bad_row, link_rows
from workbench.engines.translation.shape import Rows
from workbench.errors import InputError
from workbench.streams import Streams
from workbench.structures.page_numbers import PageNumbers, new_page_numbers, number_pages, with_room
from workbench.workloads.accesses import Accesses

PIECE = 1 << 16
"""Rows that are taken at a time: what is computed for a row is still in the cache when it is served."""
ALONE = 1 << 58
"""Added to the key of a page whose neighbours' frames do not lie beside its own."""
_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_NO_ROWS = np.zeros(0, np.bool_)


class Trace:
    """The rows of a workload in pieces, whichever way the workload cuts them."""

    def __init__(self, setup: Setup, streams: Streams) -> None:
        self._machine: Any = setup.machine
        self._options: Any = setup.options
        self._blocks: Iterator[Accesses] = iter(setup.workload.accesses(setup.machine, streams))
        self._rows_before, self._cycle = 0, -(1 << 62)
        self.numbers: PageNumbers = new_page_numbers(1024)

    def pieces(self) -> Iterator[Rows]:
        """Every row in order."""
        for block in self._blocks:
            self._check(block)
            for first in range(0, len(block.cycle), PIECE):
                part = slice(first, first + PIECE)
                yield self._rows(block.cycle[part], block.core[part], block.page[part], _unmaps(block, part))

    def _rows(self, cycle: Any, core: Any, page: Any, unmap: np.ndarray) -> Rows:
        page = np.ascontiguousarray(page, np.int64)
        key, number = self.keys(page), np.empty(page.size, np.int32)
        self.numbers = with_room(self.numbers, page.size)
        number_pages(self.numbers, key, number)
        cycle, core = np.ascontiguousarray(cycle, np.int64), np.ascontiguousarray(core, np.int32)
        return Rows(cycle, core, page, key, number, unmap, np.zeros(0, np.int64))

    def keys(self, page: np.ndarray) -> np.ndarray:
        """What the entries of pages are found by: int64[rows]; themselves, unless an entry covers several."""
        if self._options.pages_an_entry == 1:
            return page
        group = page // self._options.pages_an_entry
        drawn = ((group.astype(np.uint64) * _GOLDEN) >> np.uint64(11)) * 2.0**-53
        return np.where(drawn < self._options.contiguous_share, group, page + ALONE)

    def first_pages(self, key: np.ndarray) -> np.ndarray:
        """The first page that an entry with this key covers."""
        return np.where(key >= ALONE, key - ALONE, key * self._options.pages_an_entry)

    def _check(self, block: Accesses) -> None:
        cores, pages = self._machine.cores, self._machine.pages
        columns = [np.ascontiguousarray(column, np.int64) for column in (block.cycle, block.core, block.page)]
        bad = int(first_bad_row(columns[0], columns[1], columns[2], self._cycle, cores, pages))
        if bad != UNKNOWN:
            raise _wrong_row(columns, bad, self._rows_before + bad, cores, pages)
        self._rows_before += len(block.cycle)
        self._cycle = int(columns[0][-1]) if len(block.cycle) else self._cycle


def _unmaps(block: Accesses, part: slice) -> np.ndarray:
    return _NO_ROWS if block.unmap is None else np.ascontiguousarray(block.unmap[part], np.bool_)


def _wrong_row(columns: list[np.ndarray], bad: int, row: int, cores: int, pages: int) -> InputError:
    cycle, core, page = (int(column[bad]) for column in columns)
    if not 0 <= core < cores:
        return InputError(f"access {row} is by core {core}; the machine has cores 0 to {cores - 1}.")
    if not 0 <= page < pages:
        return InputError(f"access {row} is to page {page}; addresses of the machine end at page {pages - 1}.")
    return InputError(f"access {row} is at cycle {cycle}, before the one before it; cycles must not decrease.")


def together(left: Rows, more: list[Rows], next_row: np.ndarray) -> Rows:
    """The rows that are left, and more behind them, with each core's order; `next_row` is filled."""
    unmaps = any(rows.unmap.size for rows in (left, *more))
    whole = [rows._replace(unmap=_all_unmaps(rows)) if unmaps else rows for rows in (left, *more)]
    joined = [np.concatenate([rows[k] for rows in whole]) for k in range(6)]
    following = np.empty(joined[0].size, np.int64)
    link_rows(joined[1], following, next_row)
    return Rows(joined[0], joined[1], joined[2], joined[3], joined[4], joined[5], following)


def _all_unmaps(rows: Rows) -> np.ndarray:
    return rows.unmap if rows.unmap.size else np.zeros(rows.cycle.size, np.bool_)


def left_over(rows: Rows, next_row: np.ndarray) -> Rows:
    """The rows that are not issued yet."""
    first = np.where(next_row == UNKNOWN, rows.cycle.size, next_row)
    kept = np.arange(rows.cycle.size) >= first[rows.core] if rows.core.size else np.zeros(0, bool)
    columns = [column[kept] if column.size else column for column in rows[:6]]
    return Rows(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], rows.following[:0])


def no_rows() -> Rows:
    """No rows."""
    none = np.zeros(0, np.int64)
    return Rows(none, none.astype(np.int32), none, none, none.astype(np.int32), _NO_ROWS, none)
