"""Every run of a bundle, `runs.csv`: it reads back to the same bits, with what computed each row under a number."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.digests import canonical
from workbench.errors import InputError, unreadable
from workbench.runs.row import Row

_FIXED = ("run_id", "point_id", "seed", "status", "error")
_ORIGIN = "origin"
"""The number of a row's origin in the manifest."""


def rows_as_csv(rows: Iterable[Row], origins: Origins) -> str:
    """Return the rows, sorted by id.

    >>> rows = [Row("r", "p", 3, "done", "", 0.5, {"drain_cycles": 0.1}, '{"python":"3.11"}')]
    >>> print(rows_as_csv(rows, Origins(rows)), end="")
    run_id,point_id,seed,status,error,origin,drain_cycles
    r,p,3,done,,1,0.1
    """
    ordered = sorted(rows, key=lambda row: row.id)
    names = list(dict.fromkeys(name for row in ordered for name in row.measures))
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow([*_FIXED, _ORIGIN, *names])
    for row in ordered:
        numbers = (repr(float(row.measures[name])) if name in row.measures else "" for name in names)
        table.writerow([row.id, row.point, row.seed, row.status, row.error, origins.number(row), *numbers])
    return written.getvalue()


def read_rows(path: Path) -> dict[str, Row]:
    """Return the rows of a bundle, by id; each names its origin by the number.

    Raises
    ------
    InputError
        The file cannot be read or is no table of runs.
    """
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return {row.id: row for row in map(_row_of_run, csv.DictReader(file))}
    except OSError as problem:
        raise unreadable(path, problem) from None
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: is no table of runs that `workbench export` wrote.") from None


def _row_of_run(line: dict[str, str]) -> Row:
    fixed = [line[name] for name in _FIXED]
    measures = {name: float(text) for name, text in line.items() if name not in (*_FIXED, _ORIGIN) and text != ""}
    return Row(fixed[0], fixed[1], int(fixed[2]), fixed[3], fixed[4], 0.0, measures, line.get(_ORIGIN) or "")


class Origins:
    """Numbers what computed rows, in the order of the rows.

    >>> rows = [Row("a", "p", 0, "done", "", 2.0, {}, '{"python":"3.11.2"}'), Row("b", "p", 1, "done", "", 3.0, {})]
    >>> Origins(rows).plain()
    {'1': {'python': '3.11.2', 'rows': 1}}
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._counts = Counter(row.origin for row in rows if row.origin)
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
