"""The order of rows: that of the trace is checked, and within a cycle cores issue in the order of their numbers."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.engines.translation.releasing import UNKNOWN
from workbench.engines.translation.shape import Rows


@kernel
def first_bad_row(cycle, core, page, after: int, cores: int, pages: int) -> int:  # type: ignore[no-untyped-def]
    """Return the first row whose cycle goes back, or whose core or page does not exist; -1 = all are right."""
    if _are_right(cycle, core, page, after, cores, pages):
        return UNKNOWN
    for row in range(cycle.size):
        if cycle[row] < after or core[row] < 0 or core[row] >= cores or page[row] < 0 or page[row] >= pages:
            return row
        after = cycle[row]
    return UNKNOWN


@kernel
def _are_right(cycle, core, page, after: int, cores: int, pages: int) -> bool:  # type: ignore[no-untyped-def]
    """Return whether all rows are right: without a branch a row, several are looked at in one step."""
    wrong = int(cycle.size > 0 and cycle[0] < after)
    for row in range(cycle.size):
        wrong |= int((core[row] < 0) | (core[row] >= cores) | (page[row] < 0) | (page[row] >= pages))
    for row in range(cycle.size - 1):
        wrong |= int(cycle[row + 1] < cycle[row])
    return wrong == 0


@kernel
def _are_in_order(cycle, core) -> bool:  # type: ignore[no-untyped-def]
    wrong = 0
    for row in range(cycle.size - 1):
        wrong |= int((cycle[row + 1] == cycle[row]) & (core[row + 1] < core[row]))
    return wrong == 0


def is_in_order(rows: Rows) -> bool:
    """Return whether the rows of each cycle are in the order of their cores."""
    return bool(_are_in_order(rows.cycle, rows.core))


def by_cycle_and_core(rows: Rows) -> np.ndarray:
    """Return the places of the rows by cycle, then by core, then as they are."""
    return np.lexsort((rows.core, rows.cycle))
