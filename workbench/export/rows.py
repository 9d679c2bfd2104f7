"""`runs.csv`: every run behind a bundle with all its measures, each number so that it reads back to the same bits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from workbench.errors import InputError
from workbench.experiments.row import Row
from workbench.export.origins import Origins

_FIXED = ("run_id", "point_id", "seed", "status", "error")
_ORIGIN = "origin"
"""The number of a row's origin in the manifest; bundles of format 1 have none."""


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
            return {row.id: row for row in map(_row, csv.DictReader(file))}
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: is no table of runs that `workbench export` wrote.") from None


def _row(line: dict[str, str]) -> Row:
    fixed = [line[name] for name in _FIXED]
    measures = {name: float(text) for name, text in line.items() if name not in (*_FIXED, _ORIGIN) and text != ""}
    return Row(fixed[0], fixed[1], int(fixed[2]), fixed[3], fixed[4], 0.0, measures, line.get(_ORIGIN) or "")
