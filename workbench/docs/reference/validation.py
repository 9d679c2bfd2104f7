"""Tables of the page *Compared with real cards*, made from the figures that were judged and kept."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache

from workbench.docs import ROOT
from workbench.docs.markdown import ref, sections, table
from workbench.validation.table import verdict_in_words, with_unit

JUDGED = ROOT / "data" / "validation" / "judged.csv"
CONCLUSIONS = ROOT / "data" / "validation" / "conclusions.csv"
_HEADINGS = {"refuted": "Refuted laws", "confirmed": "Confirmed laws", "not tested": "Not tested"}
_ALTERNATIVES = "Laws that no preset has"


def conclusions_table() -> str:
    """Return the claims and sweeps that were run under two laws, those whose conclusion changes first."""
    with CONCLUSIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    heads = ["law, before -> after", "conclusion", "before", "after", "cases that change sides"]
    changed = [row for row in rows if row["before"] != row["after"] or row["changed sides"] != "0"]
    cells = [
        [
            row["law"],
            f"{row['claim']}: {row['statement']}",
            f"{row['before']} ({row['cases before']})",
            f"{row['after']} ({row['cases after']})",
            row["changed sides"],
        ]
        for row in changed
    ]
    return sections(table(heads, cells), *_unchanged([row for row in rows if row not in changed]))


def _unchanged(rows: list[dict[str, str]]) -> list[str]:
    """Return a sentence a law: the claims and sweeps whose conclusions are the same."""
    laws = dict.fromkeys(row["law"] for row in rows)
    return [f"Unchanged, {law}: {', '.join(row['claim'] for row in rows if row['law'] == law)}." for law in laws]


@cache
def judged_rows() -> list[dict[str, str]]:
    """Return the rows of the kept table, refuted laws first."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def validation_tables() -> str:
    """Return one table a verdict, refuted laws first, and the sources of all data sets."""
    parts = []
    stated = [row for row in judged_rows() if row["alternative"] == "False"]
    others = [row for row in judged_rows() if row["alternative"] == "True"]
    groups = {heading: [row for row in stated if row["verdict"] == verdict] for verdict, heading in _HEADINGS.items()}
    for heading, rows in (groups | {_ALTERNATIVES: others}).items():
        if rows:
            heads = ["verdict", "card, measured", "law", "error", "simplest rival", "points", "R2", "fitted", "bar"]
            parts += [f"## {heading}", table(heads, map(_cells, rows))]
    return sections(*parts, "## Sources", table(["data set", "engine", "source", "earlier fit"], _sources()))


def _cells(row: Mapping[str, str]) -> list[str]:
    alike = f"same predictions: {row['same predictions']}" if row["same predictions"] else ""
    law = "<br>".join(filter(None, [row["law"], row["note"], alike]))
    r2 = f"{float(row['R2']):.3g}" if row["R2"] else "-"
    error, rival = (with_unit(float(row[name] or "nan"), row["unit"]) for name in ("error", "error of the rival"))
    simplest = f"{row['rival']}: {rival}" if row["rival"] else "-"
    return [
        verdict_in_words(row),
        f"{row['card']}: {row['measured']}",
        law,
        error,
        simplest,
        row["judged points"],
        r2,
        row["fitted"] or "nothing",
        row["bar"],
    ]


def _sources() -> list[list[str]]:
    sets = {row["data set"]: row for row in judged_rows()}
    engine = "reference/engines"
    return [
        [f"`{name}`", ref(f"`{row['engine']}`", f"{engine}/{row['engine']}"), row["source"], row["design"]]
        for name, row in sets.items()
    ]
