"""The table of laws compared with measurements, one row a law and data set, refuted laws first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.validation.data_set import Result, Source
from workbench.validation.validate import Compared

_ORDER = ("refuted", "not tested", "confirmed")


def rows(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """Return one mapping a law and data set, refuted laws first, alternatives last, else as the data sets stand."""
    every = [_row(each, result) for each in compared for result in each.results]
    return sorted(every, key=lambda row: (row["alternative"], _ORDER.index(row["verdict"])))


def _row(compared: Compared, result: Result) -> dict[str, Any]:
    return {
        "data set": compared.data_set.name,
        "engine": compared.data_set.engine,
        "card": compared.data_set.card,
        "measured": compared.data_set.measures,
        "law": result.law,
        "fitted": levers_in_words(result.fitted),
        "judged points": result.points,
        "error": result.error,
        "unit": result.unit,
        "R2": result.r2,
        "rival": result.rival,
        "error of the rival": result.rival_error,
        "verdict": result.verdict,
        "alternative": result.alternative,
        "bar": result.bar,
        "note": result.note,
        "source": "; ".join(source_in_words(source) for source in compared.data_set.sources),
    }


def blocks(table: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[dict[str, str]], list[str]]]:
    """Return one block a data set for a person: a heading, a row a law, and lines below; refuted data sets first.

    The lines below are the fitted levers and the notes, each once.
    """
    by_set: dict[str, list[Mapping[str, Any]]] = {}
    for row in table:
        by_set.setdefault(row["data set"], []).append(row)
    return [
        (f"{rows[0]['card']}: {rows[0]['measured']}", [short_row(row) for row in rows], _lines(rows))
        for rows in by_set.values()
    ]


def short_row(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row of a block: errors with their unit, three digits."""
    rival = f"{with_unit(row['error of the rival'], row['unit'])}, {row['rival']}" if row["rival"] else "-"
    return {
        "verdict": row["verdict"],
        "law": row["law"],
        "points": f"{row['judged points']}",
        "error": with_unit(row["error"], row["unit"]),
        "R2": "-" if math.isnan(row["R2"]) else f"{row['R2']:.3g}",
        "simplest rival": rival,
    }


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    fitted = {row["fitted"]: row["law"] for row in reversed(rows)}
    if list(fitted) == [""]:
        return ["nothing was fitted", *dict.fromkeys(row["note"] for row in rows if row["note"])]
    several = len(fitted) > 1
    levers = [
        f"fitted{f' ({law})' if several else ''}: {words or 'nothing'}" for words, law in reversed(fitted.items())
    ]
    return [*levers, *dict.fromkeys(row["note"] for row in rows if row["note"])]


def with_unit(value: float, unit: str) -> str:
    """Return an error with its unit, in three digits.

    >>> with_unit(0.1234567, "%"), with_unit(float("nan"), "cycles")
    ('0.123 %', '-')
    """
    return "-" if math.isnan(value) else f"{value:.3g} {unit}".strip()


def levers_in_words(levers: Mapping[str, Any]) -> str:
    """Return levers with their values in one line.

    >>> levers_in_words({"entries": 16, "miss_cycles": 9.0})
    'entries 16, miss_cycles 9'
    """
    return ", ".join(f"{name} {_value(value)}" for name, value in levers.items())


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)


def source_in_words(source: Source) -> str:
    """Return repository, commit, path and license of a source.

    >>> source_in_words(Source("sarchlab/mgpusim", "d01e70d5632a", "gpu_perf_scripts/mi300a.csv", "MIT"))
    'sarchlab/mgpusim @ d01e70d5632a, gpu_perf_scripts/mi300a.csv (MIT)'
    """
    license = source.licence if source.licence != "none" else "no license: figures are cited"
    return f"{source.repository} @ {source.commit}, {source.path} ({license})"
