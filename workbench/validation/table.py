"""The table of laws compared with measurements, one row a law and data set, refuted laws first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.validation.data_set import NO_BAR, Result, Source
from workbench.validation.validate import Compared

_ORDER = ("refuted", "not tested", "confirmed")
FEW = 5
"""A law that is confirmed on fewer points, or under fewer conditions, is confirmed on few."""
_ALIKE = 1e-3
"""Relative distance up to which two predictions count as the same."""
REASONS = {
    "bar": "refuted: bar = the law misses its bar, but it is nearer to the measurements than the simplest rival",
    "rival": "refuted: rival = the simplest rival is as near to the measurements, or nearer",
    "few": f"confirmed: few = fewer than {FEW} judged points, or they repeat fewer than {FEW} conditions",
    "no bar": "confirmed: no bar = nearer to the measurements than the simplest rival; no bar was set",
}
"""The meaning of each word that stands behind a verdict."""


def rows(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """Return one mapping a law and data set, refuted laws first, alternatives last, else as the data sets stand."""
    every = [_row(each, result) for each in compared for result in each.results]
    return sorted(every, key=lambda row: (row["alternative"], _ORDER.index(row["verdict"])))


def _row(compared: Compared, result: Result) -> dict[str, Any]:
    conditions = _conditions(result)
    return {
        "data set": compared.data_set.name,
        "engine": compared.data_set.engine,
        "card": compared.data_set.card,
        "measured": compared.data_set.measures,
        "law": result.law,
        "fitted": levers_in_words(result.fitted),
        "judged points": result.points,
        "conditions": conditions,
        "error": result.error,
        "unit": result.unit,
        "R2": result.r2,
        "rival": result.rival,
        "error of the rival": result.rival_error,
        "verdict": result.verdict,
        "reason": _reason(result, conditions),
        "alternative": result.alternative,
        "same predictions": "; ".join(_laws_alike(result, compared.results)),
        "bar": result.bar,
        "note": result.note,
        "design": compared.data_set.design,
        "source": "; ".join(source_in_words(source) for source in compared.data_set.sources),
    }


def _reason(result: Result, conditions: int) -> str:
    if result.verdict == "refuted":
        return "bar" if result.error < result.rival_error else "rival"
    if result.verdict == "not tested":
        return ""
    return "few" if min(result.points, conditions) < FEW else "no bar" if result.bar.startswith(NO_BAR) else ""


def _judged_predictions(result: Result) -> np.ndarray:
    return np.concatenate([curve.predicted[curve.judged] for curve in result.curves] or [np.zeros(0)])


def _conditions(result: Result) -> int:
    """Return the number of different conditions of the judged points; all points of a law without curves.

    Points of a curve over a quantity differ by it. Other points differ if the law predicts different values for them.
    """
    if not result.curves:
        return result.points
    quantities = sum(len(np.unique(curve.x[curve.judged])) for curve in result.curves if curve.joined)
    others = np.concatenate([each.predicted[each.judged] for each in result.curves if not each.joined] or [np.zeros(0)])
    values = np.sort(others[np.isfinite(others)])
    steps = np.count_nonzero(np.diff(values) > _ALIKE * np.abs(values[1:]))
    return quantities + (int(steps) + 1 if values.size else 0)


def _laws_alike(result: Result, results: Sequence[Result]) -> list[str]:
    """Return the other laws that predict the same for the same judged points, which cannot tell them apart."""
    own = _judged_predictions(result)
    panels = [curve.panel for curve in result.curves]
    return [
        other.law
        for other in results
        if other.law != result.law
        and [curve.panel for curve in other.curves] == panels
        and len(theirs := _judged_predictions(other)) == len(own) > 0
        and np.allclose(theirs, own, rtol=_ALIKE, atol=0)
    ]


def blocks(table: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[dict[str, str]], list[str]]]:
    """Return one block a data set for a person: a heading, a row a law, and lines below; refuted data sets first.

    The lines below are the fitted levers, the bars, the notes and the source, each once with the laws that it is about.
    """
    by_set: dict[str, list[Mapping[str, Any]]] = {}
    for row in table:
        by_set.setdefault(row["data set"], []).append(row)
    return [
        (
            f"{rows[0]['card']}: {rows[0]['measured']} ({rows[0]['engine']})",
            [short_row(row) for row in rows],
            _lines(rows),
        )
        for rows in by_set.values()
    ]


def short_row(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row of a block: errors with their unit, three digits."""
    rival = f"{with_unit(row['error of the rival'], row['unit'])}, {row['rival']}" if row["rival"] else "-"
    return {
        "verdict": verdict_in_words(row),
        "law": row["law"],
        "points": f"{row['judged points']}",
        "error": with_unit(row["error"], row["unit"]),
        "R2": "-" if math.isnan(row["R2"]) else f"{row['R2']:.3g}",
        "simplest rival": rival,
    }


def verdict_in_words(row: Mapping[str, Any]) -> str:
    """Return a verdict with the reason that a reader needs.

    >>> verdict_in_words({"verdict": "refuted", "reason": "bar"})
    'refuted: bar'
    """
    return f"{row['verdict']}: {row['reason']}" if row["reason"] else str(row["verdict"])


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    stated = {row["law"] for row in rows}
    alike = dict.fromkeys(tuple(sorted({row["law"], *row["same predictions"].split("; ")} & stated)) for row in rows)
    return [
        *_about([{**row, "fitted": row["fitted"] or "nothing"} for row in rows], "fitted"),
        *_about(rows, "bar"),
        *(f"these points cannot tell apart: {'; '.join(laws)}" for laws in alike if len(laws) > 1),
        *_about(rows, "note"),
        *([f"design: {rows[0]['design']}"] if rows[0]["design"] else []),
        *([f"source: {rows[0]['source']}"] if rows[0]["source"] else []),
    ]


def _about(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    """Return `NAME: VALUE` where all rows have one value, else `NAME (LAW; LAW): VALUE` for each value.

    If all laws that are alike before a colon have a value, or all that are alike after it, they are named once by that.
    """
    values: dict[str, list[str]] = {}
    for row in rows:
        values.setdefault(row[name], []).append(row["law"])
    if len(values) == 1:
        return [f"{name}: {value}" for value in values if value]
    every = Counter(part for row in rows for part in _parts(row["law"]))
    lines = []
    for value, laws in values.items():
        own = Counter(part for law in laws for part in _parts(law))
        named = (next((part for part in _parts(law) if own[part] == every[part] > 1), law) for law in laws)
        lines += [f"{name} ({'; '.join(dict.fromkeys(named))}): {value}"] if value else []
    return lines


def _parts(law: str) -> list[str]:
    """Return the parts before and after the colon of a law; nothing of a law without one."""
    return law.split(": ") if ": " in law else []


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
