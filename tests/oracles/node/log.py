"""What passes between the parts, a row a message (spec 6, R2)."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.oracles.node.calendar import Calendar, Key, Rank

NOBODY = Key()


class Row(NamedTuple):
    """One message: when (cycle and rank), which part of which card, what, of whom, and its values by name."""

    cycle: int
    rank: Rank  # of the event in which it came about
    part: str
    card: int
    kind: str
    key: Key
    values: tuple[tuple[str, Any], ...]

    def value(self, name: str) -> Any:
        """Return a value by its name."""
        return dict(self.values)[name]


class Log:
    """Rows in the order in which they came about."""

    def __init__(self, calendar: Calendar) -> None:
        self.rows: list[Row] = []
        self._calendar = calendar

    def __call__(self, part: str, card: int, kind: str, key: Key = NOBODY, **values: Any) -> None:
        self.rows.append(Row(self._calendar.now, self._calendar.rank, part, card, kind, key, tuple(values.items())))

    def of(self, part: str, *kinds: str, card: int | None = None) -> list[Row]:
        """Return the rows of a part, of these kinds (all if none), of one card or of all."""
        of_part = [row for row in self.rows if row.part == part and card in (None, row.card)]
        return [row for row in of_part if not kinds or row.kind in kinds]
