"""The tables of a bundle: one a measure for booktabs, each point with its mean and its difference to the baseline."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.export._cells import Cell, OverCell, half_width
from workbench.export.tex import comment, escape, render
from workbench.figures.labels import measure_label, words
from workbench.metrics.measure import Measure
from workbench.number_text import TEX, probability, with_half
from workbench.statistics.best import MEANING
from workbench.statistics.comparison import size_text
from workbench.statistics.result_rows import SIZE, verdict_words
from workbench.statistics.verdict import Verdict

SIZES = {
    True: "Speed-ups are geometric means of paired ratios, above 1 = better than the baseline, with the 95 % interval "
    "of t on their logarithms",
    False: "Differences are means of paired differences, positive = better than the baseline, with the 95 % interval "
    "of t",
}
"""What the column of sizes holds: of a measure compared by ratios, or by differences."""

_ALONE = ("policy", "$n$", "mean")
_COMPARED = ("better / worse at", "$p$", "verdict")
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


def tables(cells: list[Cell], over: Sequence[OverCell], notes: Sequence[str]) -> list[Table]:
    """Return the tables of a bundle, in the order of the sweep's measures, with notes on what they rest on."""
    groups = itertools.groupby(cells, key=lambda cell: cell.measure)
    return [
        _table(measure, list(group), [cell for cell in over if cell.one.measure == measure.name], notes)
        for measure, group in groups
    ]


def file_stem(measure: Measure) -> str:
    """Return the name of a measure's table without its ending.

    >>> file_stem(Measure("wait_p99_cycles[4]", "cycles", "lower", "")), file_stem(Measure("attempts", "", "lower", ""))
    ('wait_p99_cycles-4', 'attempts')
    """
    return re.sub(r"[^\w.]+", "-", measure.name).strip("-")


def note(cells: Sequence[Cell], over: Sequence[OverCell] = ()) -> str:
    """Return the meaning of the columns of tables, of those that they have."""
    sentences = ["Means over n seeds, with the half width of the 95 % interval (Student's t)."]
    compared = [cell.verdict for cell in cells if cell.verdict is not None and cell.verdict.of.n]
    if compared:
        kinds = dict.fromkeys(one.of.compared_by == "ratio" for one in compared)
        sentences += [f"{SIZES[kind]}." for kind in kinds]
    tested = [one for one in compared if not math.isnan(one.p)]
    if tested:
        m = max(one.comparisons for one in tested)
        sentences.append(
            "Better / worse at: the seeds at which the policy is so. Each comparison has two "
            f"tests: of the size, and of the direction (sign test over the seeds that differ). p is the larger of the "
            f"two after Holm's correction over both tests of {m} comparisons, those of all tables."
        )
    if any(cell.bold for cell in cells) or any(cell.bold for cell in over):
        sentences.append(f"Bold: {MEANING}.")
    if any(one.of.missing for one in compared):
        sentences.append("Pairs: the seeds that both have.")
    if over:
        sentences.append(
            "Over workloads: the geometric mean of their speed-ups, by seed; its counts are of workloads, and its p "
            "is of the size alone."
        )
    return " ".join(sentences)


def _table(measure: Measure, cells: list[Cell], over: list[OverCell], notes: Sequence[str]) -> Table:
    header = _header(measure, cells)
    titles = [*dict.fromkeys(cell.place.setting for cell in cells)]
    cells = sorted(cells, key=lambda cell: (titles.index(cell.place.setting), cell.rank))
    groups: list[dict[str, Any]] = [
        {"title": escape(words(setting)), "rows": [_row(cell, header) for cell in group]}
        for setting, group in itertools.groupby(cells, key=lambda cell: cell.place.setting)
    ]
    if over:
        over = sorted(over, key=lambda cell: -cell.one.verdict.of.size.mean)
        groups.append({"title": "over workloads", "rows": [_over(cell, header) for cell in over]})
    text = render(
        "table.tex",
        title=comment(f"{measure.name}: {measure.description}")[2:],
        note=comment(note(cells, over))[2:],
        provenance=[comment(line) for line in [*notes, *_provenance(cells)]],
        columns="r" * (len(header) - 1),
        header=header,
        groups=groups,
    )
    label = measure_label(measure)
    entries = [*map(_entry, cells), *map(_entry_over, over)]
    return Table(file_stem(measure), escape(label[:1].upper() + label[1:]), text, entries)


def _header(measure: Measure, cells: list[Cell]) -> tuple[str, ...]:
    """Return the columns: those of a comparison where there is one, and the number of pairs where it is not that of
    seeds."""
    compared = [cell.against for cell in cells if cell.against is not None]
    if not compared:
        return _ALONE
    columns = (*_ALONE, SIZE[measure.compared_by == "ratio"], *_COMPARED)
    return (*columns, _PAIRS) if any(one.missing for one in compared) else columns


def _provenance(cells: list[Cell]) -> Iterator[str]:
    yield "Each row rests on sets of runs that manifest.json lists:"
    for cell in cells:
        behind = list(dict.fromkeys([*cell.runs, *cell.pairs]))
        yield f"  {', '.join(part for part in (cell.place.setting, cell.place.name) if part)}: {', '.join(behind)}"


def _row(cell: Cell, header: tuple[str, ...]) -> list[str]:
    mean = _number(with_half(cell.mean.mean, half_width(cell.mean), TEX), cell.bold)
    if cell.hang:
        mean = f"{mean} ({cell.hang})" if cell.mean.n else cell.hang
    row = [escape(cell.place.words), str(cell.mean.n), mean]
    if cell.verdict is not None:
        row += _compared(cell.verdict, cell.measure, cell.bold)
    elif cell.is_baseline and len(header) > len(row):
        row.append("baseline")
    if _PAIRS in header and cell.against is not None:
        row.append(f"{cell.against.n} of {cell.against.n + len(cell.against.missing)}")
    return [*row, *["---"] * (len(header) - len(row))]


def _number(text: str, is_bold: bool) -> str:
    return f"$\\mathbf{{{text}}}$" if is_bold else f"${text}$"


def _compared(verdict: Verdict, measure: Measure, is_bold: bool, counts: str = "") -> list[str]:
    """Return the columns of a comparison: a size of another kind than the column's is said to be one."""
    one = verdict.of
    if not one.n:
        return ["---", "---", "---", escape(verdict_words(verdict, measure))]
    size = size_text(one, TEX)
    if one.ended < one.n:
        size += f"\\ \\textrm{{({one.ended} of {one.n})}}"
    if one.zeros:
        size = f"\\textrm{{no ratio}}: {size}"
    p = "---" if math.isnan(verdict.p) else f"${probability(verdict.p, TEX)}$"
    return [
        _number(size, is_bold),
        counts or f"{one.wins} / {one.losses}",
        p,
        escape(verdict_words(verdict, measure)),
    ]


def _over(cell: OverCell, header: tuple[str, ...]) -> list[str]:
    one = cell.one
    counts = f"{one.better} / {one.worse}"
    row = [escape(words(one.name)) or "all", str(len(one.members)), "---"]
    row += _compared(one.verdict, _BY_RATIO, cell.bold, counts)
    return [*row, *["---"] * (len(header) - len(row))]


_BY_RATIO = Measure("", "", "lower", "", compared_by="ratio")


def _entry(cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {"setting": cell.place.setting, "policy": cell.place.name, "point": cell.place.point.id}
    row["bold"] = cell.bold
    row["mean"] = {**_plain(cell.mean), "runs": cell.runs}
    if cell.verdict is not None:
        one = cell.verdict.of
        row |= {**_entry_of(cell.verdict), "runs": cell.pairs}
        row["pairs"] = {"value": one.n, "missing": len(one.missing), "runs": cell.pairs}
    return row


def _entry_over(cell: OverCell) -> dict[str, Any]:
    one = cell.one
    row = {"policy": one.name, "points": list(one.points), "bold": cell.bold, **_entry_of(one.verdict)}
    return {**row, "better": one.better, "worse": one.worse, "ratio_of_sums": one.ratio_of_sums}


def _entry_of(verdict: Verdict) -> dict[str, Any]:
    one = verdict.of
    p_values = {"alone": one.p_alone, "size": verdict.p_size, "direction": verdict.p_direction}
    return {
        "compared_by": "ratio" if one.is_ratio else "difference",
        "size": _plain(one.size),
        "better": one.wins,
        "worse": one.losses,
        "verdict": verdict.word,
        "p": {**p_values, "comparisons": verdict.comparisons},
    }


def _plain(interval: Any) -> dict[str, Any]:
    return {"value": interval.mean, "low": interval.low, "high": interval.high, "n": interval.n}
