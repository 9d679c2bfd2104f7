"""The trace as the loop takes it: checked, in pieces that fit the cache, each page with its short number.

One pass over a piece checks its rows, numbers their pages and sees whether they are in the order in which cores issue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.compiled import kernel, prefetch
from workbench.engines.kit.checks import check_whole, refuse_number
from workbench.engines.kit.order import LAST_CYCLE
from workbench.engines.translation.lookup import UNKNOWN
from workbench.engines.translation.options import Case
from workbench.engines.translation.page_table import Tags
from workbench.engines.translation.state import Rows, to_int64
from workbench.errors import InputError
from workbench.machine.translation import TranslationMachine
from workbench.structures.key_index import PageNumbers, new_page_numbers, number_of, with_room
from workbench.workloads.workload import Accesses

PIECE = 1 << 18
"""Rows that are taken at a time: what is computed for a row is still in the cache when it is served."""
_NO_ROWS = np.zeros(0, np.bool_)
_NO_NUMBERS = np.zeros(0, np.int64)

IN_ORDER, UNSORTED, WRONG = range(3)
"""Within each cycle cores come in the order of their numbers; they do not; a row does not fit."""
NO_CORE: Any = np.int64(-1)
AHEAD = 1024
"""Rows between one that is taken and one that is fetched from memory meanwhile."""


class Trace:
    """The rows of a workload in pieces, whichever way the workload cuts them."""

    def __init__(self, case: Case, numbers: PageNumbers | None = None) -> None:
        self._machine, self.tags = case.machine, Tags(case.machine, case.options)
        self._reaches = _reaches(case.machine)
        self._workload, self._streams = case.setup.workload, case.streams
        self._rows_before, self._cycle = 0, -(1 << 62)
        self.numbers = new_page_numbers(1024) if numbers is None else numbers

    def pieces(self) -> Iterator[Rows]:
        """Yield every row in order."""
        return (rows for rows, _ in self._pieces())

    def pieces_in_order(self) -> Iterator[Rows]:
        """Yield every row in the order in which cores issue: by cycle, then by core, then as in the trace."""
        # Yield one piece late: its last cycle may continue in the next piece.
        held: Rows | None = None
        for rows, unsorted in self._pieces():
            if held is not None:
                if _is_torn(held, rows):
                    ready, rest = _before_last_cycle(held)
                    rows, unsorted = _joined([rest, rows]), True
                    held = ready
                if held.cycle.size:
                    yield held
            held = in_order(rows) if unsorted else rows
        if held is not None:
            yield held

    def taken(self, block: Accesses) -> Rows:
        """Return the rows of a block that comes from somewhere else."""
        self._check(block)
        return self._rows(block.cycle, block.core, block.page, _unmaps(block, slice(None)))[0]

    def _check(self, block: Accesses) -> None:
        """Refuse columns that are no whole numbers of one length, and a block that begins or ends at no cycle: whether
        cycles, cores and pages of its rows are there is looked at when they are taken."""
        cycle, rows, first = block.cycle, len(block.cycle), self._rows_before
        check_whole("access", "cycle", cycle, rows, 0, LAST_CYCLE, first)
        check_whole("access", "core", block.core, rows, 0, self._machine.cores - 1, first)
        check_whole("access", "page", block.page, rows, 0, self._machine.pages - 1, first)
        if block.unmap is not None:
            check_whole("access", "unmap", block.unmap, rows, 0, 1, first)
        for place in (0, rows - 1) if rows else ():
            if not 0 <= cycle[place] <= LAST_CYCLE:
                refuse_number("access", "cycle", place, cycle, 0, LAST_CYCLE, first)

    def _pieces(self) -> Iterator[tuple[Rows, bool]]:
        """Yield every row in order; and of each piece whether cores of a cycle stand in another order than their
        own."""
        given = self._workload.accesses(self._machine, self._streams)
        for block in (given,) if isinstance(given, Accesses) else given:
            self._check(block)
            for first in range(0, len(block.cycle), PIECE):
                part = slice(first, first + PIECE)
                yield self._rows(block.cycle[part], block.core[part], block.page[part], _unmaps(block, part))

    def _rows(self, cycle: np.ndarray, core: np.ndarray, page: np.ndarray, unmap: np.ndarray) -> tuple[Rows, bool]:
        cycle, page = np.ascontiguousarray(cycle, np.int64), np.ascontiguousarray(page, np.int64)
        core = np.ascontiguousarray(core)
        key, number, first = self.tags.of(page), np.empty(page.size, np.int32), self._rows_before
        result = self._take(cycle, core, page, key, number)
        core = core.astype(np.int32, copy=False)
        return Rows(cycle, core, page, key, number, unmap, _NO_NUMBERS, _NO_NUMBERS, first), result == UNSORTED

    def _take(self, cycle: np.ndarray, core: np.ndarray, page: np.ndarray, key: np.ndarray, number: np.ndarray) -> int:
        """Check and number rows, and return whether they are in the order of their cores."""
        self.numbers = with_room(self.numbers, page.size * (1 + len(self._reaches)))
        cores, pages = self._machine.cores, self._machine.pages
        result = int(take_rows(self.numbers, cycle, core, page, key, number, self._cycle, cores, pages))
        if result == WRONG:
            bad = first_wrong_row(cycle, core, page, self._cycle, cores, pages)
            raise _wrong_row([cycle, core, page], bad, self._rows_before + bad, cores, pages)
        for shift in self._reaches:
            number_first_pages(self.numbers, key, shift)
        self._rows_before += cycle.size
        self._cycle = int(cycle[-1])
        return result


def _reaches(machine: TranslationMachine) -> list[int]:
    """Return the binary logarithms of the pages that an entry covers of levels whose entries cover several."""
    levels = ((machine.middle_entries, machine.middle_pages), (machine.shared_entries, machine.shared_pages))
    return sorted({pages.bit_length() - 1 for entries, pages in levels if entries and pages > 1})


def _unmaps(block: Accesses, part: slice) -> np.ndarray:
    return _NO_ROWS if block.unmap is None else np.ascontiguousarray(block.unmap[part], np.bool_)


def _wrong_row(columns: list[np.ndarray], bad: int, row: int, cores: int, pages: int) -> InputError:
    cycle, core, page = (int(column[bad]) for column in columns)
    if not 0 <= core < cores:
        return InputError(f"access {row} is by core {core}; the machine has cores 0 to {cores - 1}.")
    if not 0 <= page < pages:
        return InputError(f"access {row} is to page {page}; addresses of the machine end at page {pages - 1}.")
    return InputError(f"access {row} is at cycle {cycle}, before the one before it; cycles must not decrease.")


def _is_torn(held: Rows, rows: Rows) -> bool:
    """Return whether a cycle goes on from one piece to the next, with cores that belong before those of the first.

    Of a cycle that may go on behind the next piece that is not known.
    """
    cycle = held.cycle[-1]
    if cycle != rows.cycle[0]:
        return False
    end = int(np.searchsorted(rows.cycle, cycle, "right"))
    return bool(end == rows.cycle.size or rows.core[:end].min() < held.core[-1])


def _before_last_cycle(rows: Rows) -> tuple[Rows, Rows]:
    """Return the rows before the last cycle of a piece, and those of it."""
    end = int(np.searchsorted(rows.cycle, rows.cycle[-1]))
    return _picked(rows, slice(None, end)), _picked(rows, slice(end, None))


def in_order(rows: Rows) -> Rows:
    """Return the rows by cycle, then by core, then as they are."""
    return _picked(rows, by_cycle_and_core(rows))


def _picked(rows: Rows, places: slice | np.ndarray) -> Rows:
    """Return some rows of a piece."""
    *columns, _, _ = _numbered(rows)
    return Rows._make([*(column[places] if column.size else column for column in columns), _NO_NUMBERS, 0])


def _numbered(rows: Rows) -> Rows:
    """Return the same rows, each with its number in the trace."""
    return rows if rows.order.size else rows._replace(order=np.arange(rows.first, rows.first + rows.cycle.size))


def _joined(pieces: list[Rows]) -> Rows:
    """Return several pieces as one."""
    unmaps = any(rows.unmap.size for rows in pieces)
    whole = [rows._replace(unmap=_all_unmaps(rows)) if unmaps else rows for rows in map(_numbered, pieces)]
    columns = [np.concatenate([rows[k] for rows in whole]) for k in range(len(Rows._fields) - 2)]
    return Rows._make([*columns, _NO_NUMBERS, 0])


def together(left: Rows, more: list[Rows], next_row: np.ndarray) -> Rows:
    """Return the rows that are left, and more behind them, with each core's order; `next_row` is filled."""
    joined = _joined([left, *more])
    following = np.empty(joined.cycle.size, np.int64)
    link_rows(joined.core, following, next_row)
    return joined._replace(following=following)


def _all_unmaps(rows: Rows) -> np.ndarray:
    return rows.unmap if rows.unmap.size else np.zeros(rows.cycle.size, np.bool_)


def left_over(rows: Rows, next_row: np.ndarray) -> Rows:
    """Return the rows that are not issued yet."""
    first = np.where(next_row == UNKNOWN, rows.cycle.size, next_row)
    kept = np.arange(rows.cycle.size) >= first[rows.core] if rows.core.size else np.zeros(0, bool)
    return _picked(rows, kept)


def no_rows() -> Rows:
    """Return a block of no rows."""
    none = _NO_NUMBERS
    return Rows(none, none.astype(np.int32), none, none, none.astype(np.int32), _NO_ROWS, none, none, 0)


@kernel
def link_rows(core, following, next_row) -> None:  # type: ignore[no-untyped-def]
    """Note the row behind each in its core's order, and the first of each core: -1 = not known."""
    for one in range(next_row.size):
        next_row[one] = UNKNOWN
    # Backward, so that each core's next row is known.
    for row in range(core.size - 1, -1, -1):
        following[row] = next_row[core[row]]
        next_row[core[row]] = row


@kernel
def take_rows(  # type: ignore[no-untyped-def]
    table: PageNumbers, cycle, core, page, key, number, after: int, cores: int, pages: int
) -> int:
    """Give each key its short number, and return what the rows are like.

    Parameters
    ----------
    number : int32[rows]
        To be filled; the table has space for as many new keys.
    after : int
        The cycle of the row before.
    cores, pages : int
        How many there are.
    """
    unsorted, wrong, before = False, False, NO_CORE
    most_core, most_page = np.uint64(cores), np.uint64(pages)
    for row in range(cycle.size):
        # Eight numbers of 64 bits are a cache line.
        if (row & 7) == 0:
            prefetch(cycle, row + AHEAD)
            prefetch(core, row + AHEAD)
            prefetch(page, row + AHEAD)
        now, who = cycle[row], to_int64(core[row])
        # As unsigned numbers negative ones are too large. The check has no branch: a wrong row is searched for later.
        wrong |= (now < after) | (np.uint64(who) >= most_core) | (np.uint64(page[row]) >= most_page)
        unsorted |= (now == after) & (who < before)
        after, before = now, who
        number[row] = number_of(table, key[row])
    if wrong:
        return WRONG
    return UNSORTED if unsorted else IN_ORDER


@kernel
def number_first_pages(table: PageNumbers, key: np.ndarray, shift: int) -> None:
    """Give a short number to the first page of each entry that covers several; the table is large enough."""
    for row in range(key.size):
        number_of(table, (key[row] >> shift) << shift)


@kernel
def first_from(cycle: np.ndarray, row: int, end: int, wanted: int) -> int:
    """Return the first row from one on, and before another, whose cycle is at least a given one; else that other."""
    while row < end:
        middle = (row + end) >> 1
        if cycle[middle] < wanted:
            row = middle + 1
        else:
            end = middle
    return end


@kernel
def order_of_row(rows: Rows, row: int) -> int:
    """Return the number of a row in the trace."""
    return rows.order[row] if rows.order.size > 0 else rows.first + row


def first_wrong_row(cycle: np.ndarray, core: np.ndarray, page: np.ndarray, after: int, cores: int, pages: int) -> int:
    """Return the first row whose cycle goes back, or whose core or page does not exist; there is one."""
    back = np.concatenate([[after], cycle[:-1]]) > cycle
    return int(np.argmax(back | (core < 0) | (core >= cores) | (page < 0) | (page >= pages)))


def by_cycle_and_core(rows: Rows) -> np.ndarray:
    """Return the places of the rows by cycle, then by core, then as they are."""
    return np.lexsort((rows.core, rows.cycle))
