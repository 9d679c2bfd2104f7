"""The table of docs/pages/speed.md, made from `data/speed.csv`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import BENCHMARKS
from benchmarks.turns import COLUMNS

ROOT = Path(__file__).parent.parent
DATA, PAGE = ROOT / "data" / "speed.csv", ROOT / "docs" / "pages" / "speed.md"
BEGIN, END = "<!-- data/speed.csv -->", "<!-- end of data/speed.csv -->"
HEADS = ("benchmark", "workbench", "reference", "ratio", "quartiles")


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


def table() -> str:
    """Return the table of the data as Markdown."""
    cells = [
        (f"`{row['name']}`", row["variant"], row["reference"], row["ratio"] or "-", _quartiles(row)) for row in kept()
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (HEADS, ["---"] * len(HEADS), *cells))


def write_page() -> None:
    """Write the table into the page, between its two marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


def _quartiles(row: Mapping[str, str]) -> str:
    return f"{row['low']} to {row['high']}" if row["ratio"] else ""
