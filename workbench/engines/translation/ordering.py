"""The order of rows: that of the trace is checked, and within a cycle cores issue in the order of their numbers."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.engines.translation.releasing import UNKNOWN
from workbench.engines.translation.shape import Rows


@kernel
def first_bad_row(cycle, core, page, after: int, cores: int, pages: int) -> int:  # type: ignore[no-untyped-def]
    """Return the first row whose cycle goes back, or whose core or page does not exist; -1 = all are right."""
    for row in range(cycle.size):
        if cycle[row] < after or core[row] < 0 or core[row] >= cores or page[row] < 0 or page[row] >= pages:
            return row
        after = cycle[row]
    return UNKNOWN


@kernel
def _first_out_of_order(cycle, core) -> int:  # type: ignore[no-untyped-def]
    for row in range(1, cycle.size):
        if cycle[row] == cycle[row - 1] and core[row] < core[row - 1]:
            return row
    return UNKNOWN


def is_in_order(rows: Rows) -> bool:
    """Return whether the rows of each cycle are in the order of their cores."""
    return bool(_first_out_of_order(rows.cycle, rows.core) == UNKNOWN)


def by_cycle_and_core(rows: Rows) -> np.ndarray:
    """Return the places of the rows by cycle, then by core, then as they are."""
    return np.lexsort((rows.core, rows.cycle))
