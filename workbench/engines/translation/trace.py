"""The trace as the loop takes it: checked, in pieces that fit the cache, each page with its short number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.engines.translation.closed_loop import link_rows
from workbench.engines.translation.ordering import by_cycle_and_core, first_bad_row, is_in_order
from workbench.engines.translation.releasing import UNKNOWN
from workbench.engines.translation.shape import Rows
from workbench.engines.translation.slots import Case
from workbench.engines.translation.tags import Tags
from workbench.errors import InputError
from workbench.structures.page_numbers import PageNumbers, new_page_numbers, number_pages, with_room
from workbench.workloads.accesses import Accesses

PIECE = 1 << 16
"""Rows that are taken at a time: what is computed for a row is still in the cache when it is served."""
_NO_ROWS = np.zeros(0, np.bool_)
_NO_NUMBERS = np.zeros(0, np.int64)


class Trace:
    """The rows of a workload in pieces, whichever way the workload cuts them."""

    def __init__(self, case: Case) -> None:
        self._machine, self.tags = case.machine, Tags(case.machine, case.options)
        self._workload, self._streams = case.setup.workload, case.streams
        self._rows_before, self._cycle = 0, -(1 << 62)
        self.numbers: PageNumbers = new_page_numbers(1024)

    def pieces(self) -> Iterator[Rows]:
        """Every row in order."""
        for block in self._workload.accesses(self._machine, self._streams):
            for first in range(0, len(block.cycle), PIECE):
                part = slice(first, first + PIECE)
                yield self._rows(block.cycle[part], block.core[part], block.page[part], _unmaps(block, part))

    def pieces_in_order(self) -> Iterator[Rows]:
        """Every row in the order in which cores issue: by cycle, then by core, then as in the trace."""
        before: Rows | None = None
        for rows in self.pieces():
            if before is not None and _is_one_cycle(before, rows):
                before = _joined([before, rows])
                continue
            if before is not None:
                yield in_order(before)
            before = rows
        if before is not None:
            yield in_order(before)

    def taken(self, block: Accesses) -> Rows:
        """The rows of a block that comes from somewhere else."""
        return self._rows(block.cycle, block.core, block.page, _unmaps(block, slice(None)))

    def _rows(self, cycle: Any, core: Any, page: Any, unmap: np.ndarray) -> Rows:
        cycle, page = np.ascontiguousarray(cycle, np.int64), np.ascontiguousarray(page, np.int64)
        core = np.ascontiguousarray(core)
        self._check(cycle, core, page)
        key, number = self.tags.of(page), np.empty(page.size, np.int32)
        self.numbers = with_room(self.numbers, page.size)
        number_pages(self.numbers, key, number)
        order = np.arange(self._rows_before - cycle.size, self._rows_before)
        return Rows(cycle, core.astype(np.int32, copy=False), page, key, number, unmap, order, _NO_NUMBERS)

    def _check(self, cycle: np.ndarray, core: np.ndarray, page: np.ndarray) -> None:
        cores, pages = self._machine.cores, self._machine.pages
        bad = int(first_bad_row(cycle, core, page, self._cycle, cores, pages))
        if bad != UNKNOWN:
            raise _wrong_row([cycle, core, page], bad, self._rows_before + bad, cores, pages)
        self._rows_before += cycle.size
        self._cycle = int(cycle[-1])


def _unmaps(block: Accesses, part: slice) -> np.ndarray:
    return _NO_ROWS if block.unmap is None else np.ascontiguousarray(block.unmap[part], np.bool_)


def _wrong_row(columns: list[np.ndarray], bad: int, row: int, cores: int, pages: int) -> InputError:
    cycle, core, page = (int(column[bad]) for column in columns)
    if not 0 <= core < cores:
        return InputError(f"access {row} is by core {core}; the machine has cores 0 to {cores - 1}.")
    if not 0 <= page < pages:
        return InputError(f"access {row} is to page {page}; addresses of the machine end at page {pages - 1}.")
    return InputError(f"access {row} is at cycle {cycle}, before the one before it; cycles must not decrease.")


def _is_one_cycle(before: Rows, rows: Rows) -> bool:
    """Return whether a cycle goes on from one piece to the next with cores that belong before those of the first."""
    goes_on = before.cycle[-1] == rows.cycle[0]
    return bool(goes_on) and not is_in_order(_joined([before, rows]))


def in_order(rows: Rows) -> Rows:
    """Return the rows by cycle, then by core, then as they are."""
    if is_in_order(rows):
        return rows
    order = by_cycle_and_core(rows)
    return Rows(*(column[order] if column.size else column for column in rows))


def _joined(pieces: list[Rows]) -> Rows:
    """Return several pieces as one."""
    unmaps = any(rows.unmap.size for rows in pieces)
    whole = [rows._replace(unmap=_all_unmaps(rows)) if unmaps else rows for rows in pieces]
    columns = [np.concatenate([rows[k] for rows in whole]) for k in range(len(Rows._fields) - 1)]
    return Rows._make([*columns, _NO_NUMBERS])


def together(left: Rows, more: list[Rows], next_row: np.ndarray) -> Rows:
    """The rows that are left, and more behind them, with each core's order; `next_row` is filled."""
    joined = _joined([left, *more])
    following = np.empty(joined.cycle.size, np.int64)
    link_rows(joined.core, following, next_row)
    return joined._replace(following=following)


def _all_unmaps(rows: Rows) -> np.ndarray:
    return rows.unmap if rows.unmap.size else np.zeros(rows.cycle.size, np.bool_)


def left_over(rows: Rows, next_row: np.ndarray) -> Rows:
    """The rows that are not issued yet."""
    first = np.where(next_row == UNKNOWN, rows.cycle.size, next_row)
    kept = np.arange(rows.cycle.size) >= first[rows.core] if rows.core.size else np.zeros(0, bool)
    return Rows._make([*(column[kept] if column.size else column for column in rows[:-1]), _NO_NUMBERS])


def no_rows() -> Rows:
    """No rows."""
    none = _NO_NUMBERS
    return Rows(none, none.astype(np.int32), none, none, none.astype(np.int32), _NO_ROWS, none, none)
