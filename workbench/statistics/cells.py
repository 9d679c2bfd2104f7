"""In how many of several cells does something hold? Tests and an interval of their share, whatever the cells share.

A cell is one of the places where something may hold: a pair of policies in a workload, a workload of a design. By
Holm's correction every cell that is shown has it, in all but alpha of all studies. So the number of cells that are
shown is a lower limit of their number, and the number of cells that are shown to lack it gives the upper limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from workbench.errors import wrong_value
from workbench.statistics.corrections import holm
from workbench.statistics.finding import Finding
from workbench.statistics.interval import Interval, check_open


class Cell(NamedTuple):
    """What the data say about one of several cells."""

    name: str
    seen: bool
    """Whether the sample has it, sure or not."""
    p_yes: float
    """Small = it holds in the cell."""
    p_no: float
    """Small = it does not hold there."""


def at_least(p_values: Sequence[float], count: int) -> float:
    """Return the p-value that something holds in at least so many cells, under any dependence of the cells.

    It is the p-value of that rank after Holm's correction: 0 for no cell, 1 for more cells than there are.

    Examples
    --------
    >>> at_least([0.001, 0.002, 0.3, 0.9], 1), at_least([0.001, 0.002, 0.3, 0.9], 2), at_least([0.001], 2)
    (0.004, 0.006, 1.0)
    """
    return [0.0, *sorted(holm(dict(enumerate(p_values))).values()), 1.0][min(count, len(p_values) + 1)]


def share_of_cells(
    id: str, statement: str, cells: Sequence[Cell], share: float, n: int, level: float = 0.95
) -> Finding:
    """Return the claim that something holds in at least this share of the cells, and in one cell at the least.

    The estimate is the share of cells in which the sample has it. The interval reaches from the share of cells that
    are shown to have it to the share of those that are not shown to lack it. It speaks of these cells alone.

    Parameters
    ----------
    cells : sequence of Cell
        At least one.
    share : float
        Of the cells, 0 to 1; 0 = in any cell at all.
    n : int
        Seeds that each cell rests on.
    level : float
        Confidence level of the interval, two-sided.

    Raises
    ------
    InputError
        No cells, or a level outside (0, 1).

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> cells = [Cell("a", True, 0.001, 1.0), Cell("b", False, 1.0, 0.001), Cell("c", False, 0.6, 0.5)]
    >>> finding = share_of_cells("H7.3", "in any", cells, 0, n=40)
    >>> finding.side, str(finding.interval), finding.note
    ('for', '0.33 [0.33, 0.67]', '1 of 3 cells: a; sure of 1, at most 2')
    """
    if not cells:
        raise wrong_value("", "cells", "must have at least one cell", [])
    check_open(level, "level")
    count = len(cells)
    yes, no = [cell.p_yes for cell in cells], [cell.p_no for cell in cells]
    sure, spared = (sum(p < (1 - level) / 2 for p in holm(dict(enumerate(ps))).values()) for ps in (yes, no))
    names = [cell.name for cell in cells if cell.seen]
    interval = Interval(len(names) / count, sure / count, 1 - spared / count, level, "holm", count)
    listed = f": {', '.join(names)}" if names else ""
    note = f"{len(names)} of {count} cells{listed}; sure of {sure}, at most {count - spared}"
    # Round first: as a float, 0.07 * 100 is above 7 and would require 8 cells.
    needed = max(1, math.ceil(round(share * count, 9)))
    # The claim fails if so many cells lack it that fewer than needed remain.
    p_for, p_against = at_least(yes, needed), at_least(no, count - needed + 1)
    return Finding(id, statement, interval.mean, interval, p_for, p_against, n, note)
