"""How the runs of a point hang, and which of their measures may not be compared (specification 7, R18)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.runs.row import Row


class Hang(NamedTuple):
    """At how many seeds runs of a point hang."""

    seeds: int
    of: int
    """Seeds whose runs are done."""
    never_started: str
    """Groups that never start, of those of the kernels of which some never start: `60 of 128`."""

    @property
    def text(self) -> str:
        """Return its text in a table.

        >>> Hang(1, 1, "60 of 128").text, Hang(3, 200, "1 to 5 of 9").text
        ('hangs (60 of 128)', 'hangs at 3 of 200 seeds')
        """
        every = self.seeds == self.of
        return f"hangs ({self.never_started})" if every else f"hangs at {self.seeds} of {self.of} seeds"


NEVER_STARTED, GROUPS_THAT_LACK = "groups_never_started", "groups_of_kernels_that_lack"
"""The measures that say that a run hangs."""


def hangs(row: Row, measure: str) -> bool:
    """Return whether a run hangs, and so has no value of a measure that may be compared: it does less (spec 7, R18).

    How many groups never start is compared all the same.
    """
    return measure != NEVER_STARTED and row.measures.get(NEVER_STARTED, 0) > 0
