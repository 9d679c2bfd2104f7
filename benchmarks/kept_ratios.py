"""Read and write `data/speed.csv`, from which the site makes the table of docs/pages/speed.md."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import BENCHMARKS
from benchmarks.turns import COLUMNS

DATA = Path(__file__).parent.parent / "data" / "speed.csv"


def kept() -> list[dict[str, str]]:
    """Return the rows of the data, as text; none before the first run."""
    if not DATA.is_file():
        return []
    with DATA.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def keep(rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the data, in the order of the benchmarks."""
    order = list(BENCHMARKS)
    known = (row for row in rows if row["name"] in order)
    with DATA.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(known, key=lambda row: order.index(row["name"])))
