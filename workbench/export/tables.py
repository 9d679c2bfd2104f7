"""The tables of a bundle: one a measure for booktabs, each point with its mean and its difference to the baseline."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.export._cells import Cell, half_width
from workbench.export.tex import comment, escape, render
from workbench.figures.frame import words
from workbench.figures.labels import measure_label
from workbench.metrics.measure import Measure
from workbench.number_text import TEX, probability, to_half, with_half, with_limits

SIGNIFICANT = 0.05

ESTIMATES = {
    "median": "the median paired difference with its 95 % interval [of order statistics], p of the exact sign test, "
    "the saving the median of the differences over the baseline's values",
    "mean": "the mean paired difference with its 95 % interval and p by the studentised bootstrap, the saving its "
    "share of the baseline's mean",
}
"""What the columns of a comparison hold."""

_ALONE = ("policy", "$n$", "mean")
_COMPARED = (*_ALONE, "difference", "saving", "$p$")
_PAIRS = "pairs"


class Table(NamedTuple):
    """One table file."""

    name: str
    """Of the file: the measure's, in letters that files and TeX's references can have."""
    caption: str
    """In TeX."""
    text: str
    """The file's whole text."""
    entries: list[dict[str, Any]]
    """What the manifest says of it: one entry a row."""


def tables(cells: list[Cell], notes: Sequence[str]) -> list[Table]:
    """Return the tables of a bundle, in the order of the sweep's measures, with notes on what they rest on."""
    groups = itertools.groupby(cells, key=lambda cell: cell.measure)
    return [_table(measure, list(group), notes) for measure, group in groups]


def file_stem(measure: Measure) -> str:
    """Return the name of a measure's table without its ending.

    >>> file_stem(Measure("wait_p99_cycles[4]", "cycles", "lower", "")), file_stem(Measure("attempts", "", "lower", ""))
    ('wait_p99_cycles-4', 'attempts')
    """
    return re.sub(r"[^\w.]+", "-", measure.name).strip("-")


def note(cells: Sequence[Cell]) -> str:
    """Return what the columns of a table mean, of those that it has."""
    sentences = ["Means over n seeds, with the half width of the 95 % interval (Student's t)."]
    compared = [cell.against for cell in cells if cell.against is not None]
    if compared:
        family = max(cell.family for cell in cells)
        sentences.append(
            f"Differences are to the baseline at the same seeds, positive = better: {ESTIMATES[compared[0].estimand]}; "
            f"p after Holm's correction over {family} comparisons, those of all tables; bold: p below {SIGNIFICANT}."
        )
    if any(one.missing for one in compared):
        sentences.append("Pairs: the seeds that both have.")
    return " ".join(sentences)


def _table(measure: Measure, cells: list[Cell], notes: Sequence[str]) -> Table:
    header = _header(cells)
    groups = [
        {"title": escape(words(setting)), "rows": [_row(cell, header) for cell in group]}
        for setting, group in itertools.groupby(cells, key=lambda cell: cell.place.setting)
    ]
    text = render(
        "table.tex",
        title=comment(f"{measure.name}: {measure.description}")[2:],
        note=comment(note(cells))[2:],
        provenance=[comment(line) for line in [*notes, *_provenance(cells)]],
        columns="r" * (len(header) - 1),
        header=header,
        groups=groups,
    )
    label = measure_label(measure)
    return Table(file_stem(measure), escape(label[:1].upper() + label[1:]), text, [_entry(cell) for cell in cells])


def _header(cells: list[Cell]) -> tuple[str, ...]:
    """Return the columns: those of a comparison where there is one, and the number of pairs where it is not that of
    seeds."""
    compared = [cell.against for cell in cells if cell.against is not None]
    if not compared:
        return _ALONE
    return (*_COMPARED, _PAIRS) if any(one.missing for one in compared) else _COMPARED


def _provenance(cells: list[Cell]) -> Iterator[str]:
    yield "Each row rests on sets of runs that manifest.json lists:"
    for cell in cells:
        behind = list(dict.fromkeys([*cell.runs, *cell.pairs]))
        yield f"  {', '.join(part for part in (cell.place.setting, cell.place.name) if part)}: {', '.join(behind)}"


def _row(cell: Cell, header: tuple[str, ...]) -> list[str]:
    mean = f"${with_half(cell.mean.mean, half_width(cell.mean), TEX)}$"
    row = [escape(cell.place.words), str(cell.mean.n), mean, *_differences(cell)]
    if _PAIRS in header and cell.against is not None:
        row.append(f"{cell.against.n} of {cell.against.n + len(cell.against.missing)}")
    return [*row, *["---"] * (len(header) - len(row))]


def _differences(cell: Cell) -> list[str]:
    if cell.against is None:
        return []
    interval, share = cell.against.interval, cell.against.saving
    difference = with_limits(interval.mean, interval.low, interval.high, TEX)
    bold = cell.p_holm < SIGNIFICANT
    return [
        f"$\\mathbf{{{difference}}}$" if bold else f"${difference}$",
        f"${percent(share.mean, half_width(share))}$",
        f"${probability(cell.p_holm, TEX)}$",
    ]


def percent(share: float, half: float) -> str:
    """Return a share of one in percent, to the digits that its interval gives meaning to."""
    text = to_half(100 * share, 100 * half, TEX)
    return text if text == TEX.unknown else f"{text}\\,\\%"


def _entry(cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {"setting": cell.place.setting, "policy": cell.place.name, "point": cell.place.point.id}
    row["mean"] = {**_plain(cell.mean), "runs": cell.runs}
    if cell.against is not None:
        row["difference"] = {**_plain(cell.against.interval), "runs": cell.pairs}
        row["saving"] = {**_plain(cell.against.saving), "runs": cell.pairs}
        row["p"] = {"value": cell.against.p_value, "holm": cell.p_holm, "runs": cell.pairs}
        row["pairs"] = {"value": cell.against.n, "missing": len(cell.against.missing), "runs": cell.pairs}
    return row


def _plain(interval: Any) -> dict[str, Any]:
    return {"value": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
