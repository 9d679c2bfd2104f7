"""Rows of a trace are taken in one pass: checked, numbered by page, looked at for the order in which cores issue."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, prefetch
from workbench.engines.translation.shape import Rows, to_int64
from workbench.structures.key_index import PageNumbers, number_of

IN_ORDER, UNSORTED, WRONG = range(3)
"""Within each cycle cores come in the order of their numbers; they do not; a row does not fit."""
NO_CORE: Any = np.int64(-1)
AHEAD = 1024
"""Rows between one that is taken and one that is fetched from memory meanwhile."""


@kernel
def take_rows(  # type: ignore[no-untyped-def]
    table: PageNumbers, cycle, core, page, key, number, after: int, cores: int, pages: int
) -> int:
    """Give each key its short number, and return what the rows are like.

    Parameters
    ----------
    number : int32[rows]
        To be filled; the table has room for as many new keys.
    after : int
        The cycle of the row before.
    cores, pages : int
        How many there are.
    """
    unsorted, wrong, before = False, False, NO_CORE
    most_core, most_page = np.uint64(cores), np.uint64(pages)
    for row in range(cycle.size):
        if (row & 7) == 0:
            prefetch(cycle, row + AHEAD)
            prefetch(core, row + AHEAD)
            prefetch(page, row + AHEAD)
        now, who = cycle[row], to_int64(core[row])
        wrong |= (now < after) | (np.uint64(who) >= most_core) | (np.uint64(page[row]) >= most_page)
        unsorted |= (now == after) & (who < before)
        after, before = now, who
        number[row] = number_of(table, key[row])
    if wrong:
        return WRONG
    return UNSORTED if unsorted else IN_ORDER


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
