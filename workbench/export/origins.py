"""The origins of a bundle's rows: what computed them, each under a number that `runs.csv` holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.experiments.row import Row
from workbench.experiments.run_id import canonical


class Origins:
    """Numbers what computed rows, in the order of the rows.

    >>> rows = [Row("a", "p", 0, "done", "", 2.0, {}, '{"python":"3.11.2"}'), Row("b", "p", 1, "done", "", 3.0, {})]
    >>> Origins(rows).plain()
    {'1': {'python': '3.11.2', 'rows': 1}}
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._counts: dict[str, int] = {}
        for row in rows:
            if row.origin:
                self._counts[row.origin] = self._counts.get(row.origin, 0) + 1
        self._numbers = {text: str(number) for number, text in enumerate(self._counts, start=1)}

    def number(self, row: Row) -> str:
        """Return the number of a row's origin; empty where it is unknown."""
        return self._numbers.get(row.origin, "")

    def plain(self) -> dict[str, Any]:
        """Return every origin by its number: version, sources, packages, machine, when, and how many rows."""
        return {self._numbers[text]: {**json.loads(text), "rows": rows} for text, rows in self._counts.items()}


def with_origins(rows: Mapping[str, Row], config: Mapping[str, Any]) -> dict[str, Row]:
    """Return rows that name their origin by its number as rows that hold it."""
    texts = {
        number: canonical({name: fact for name, fact in facts.items() if name != "rows"})
        for number, facts in config.items()
    }
    return {id: row._replace(origin=texts.get(row.origin, "")) for id, row in rows.items()}
