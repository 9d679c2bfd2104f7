"""The split table: how many waves of a group each unit of an empty module is given (spec 3, R60)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel
from workbench.errors import wrong_value
from workbench.levers import Spec, lever
from workbench.policies.arguments import whole


@kernel
def share_out(waves: int, units: int, rotation: int, counts: Any) -> None:
    """Fill the counts by the formula of the table, the entry of unit t moved to unit (t + rotation) mod units.

    Each unit is given `waves div units`, the first `waves mod units` ones along the direction one more (R60, R62).

    >>> counts = np.zeros(4, np.int64)
    >>> share_out(6, 4, 3, counts)
    >>> counts.tolist()
    [2, 1, 1, 2]
    """
    each, more = waves // units, waves % units
    unit = rotation
    for entry in range(units):
        counts[unit] = each + 1 if entry < more else each
        unit = unit + 1 if unit + 1 < units else 0


class SplitTable(Spec):
    """The table of ¶225-228, to look at and to look up in: one row for each number of waves that a module holds.

    All modules share one table (R61). Engines use the formula that fills it, which needs no memory.

    References
    ----------
    spec 3, R60-R61 and the table of section 4.

    Examples
    --------
    >>> table = SplitTable(units=4, waves_a_unit=2)
    >>> table.row(5)
    (2, 1, 1, 1)
    >>> print(table)
    1: 1 0 0 0
    2: 1 1 0 0
    3: 1 1 1 0
    4: 1 1 1 1
    5: 2 1 1 1
    6: 2 2 1 1
    7: 2 2 2 1
    8: 2 2 2 2
    """

    units: int = lever(4, least=1, most=64, unit="units", description="units of a module (q)")
    waves_a_unit: int = lever(10, least=1, most=1024, unit="waves", description="waves that a unit can hold (L)")

    @property
    def most(self) -> int:
        """Return the waves that a module can hold, units times the waves of a unit: the last row."""
        return self.units * self.waves_a_unit

    def rows(self) -> np.ndarray:
        """Return the whole table: int64[most, units], the row of a group of w waves at w - 1."""
        table = np.zeros((self.most, self.units), np.int64)
        for waves in range(1, self.most + 1):
            share_out(waves, self.units, 0, table[waves - 1])
        return table

    def row(self, waves: int) -> tuple[int, ...]:
        """Return the waves that each unit is given of a group.

        Raises
        ------
        InputError
            The group has no wave, or more than a module can hold (spec 3, E24).
        """
        waves = whole("waves", waves, None, None)
        if not 1 <= waves <= self.most:
            expected = f"must be from 1 to {self.most}, all that a module holds"
            raise wrong_value("", "waves", expected, waves, min(max(waves, 1), self.most))
        return tuple(self.rows()[waves - 1].tolist())

    def __str__(self) -> str:
        shown = (" ".join(map(str, row)) for row in self.rows().tolist())
        return "\n".join(f"{waves}: {row}" for waves, row in enumerate(shown, 1))
