"""The tables of a bundle: one a measure for booktabs, `numbers.tex` for macros, `runs.csv` for every run.

A table has each point with its mean and its paired difference to the baseline; a macro is one number, so that none in a
paper is typed by hand; `runs.csv` reads back to the same bits and says under a number what computed each of its rows.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.digests import canonical
from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.export.cells import UNKNOWN, Cell, alone, half_width, p_value, to_place, with_interval, with_limits
from workbench.export.tex import MacroNames, comment, escape, render
from workbench.figures.frame import words
from workbench.figures.labels import measure_label
from workbench.metrics.measure import Measure
from workbench.runs.row import Row

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
    mean = f"${with_interval(cell.mean.mean, half_width(cell.mean))}$"
    row = [escape(cell.place.words), str(cell.mean.n), mean, *_differences(cell)]
    if _PAIRS in header and cell.against is not None:
        row.append(f"{cell.against.n} of {cell.against.n + len(cell.against.missing)}")
    return [*row, *["---"] * (len(header) - len(row))]


def _differences(cell: Cell) -> list[str]:
    if cell.against is None:
        return []
    interval, share = cell.against.interval, cell.against.saving
    difference = with_limits(interval.mean, interval.low, interval.high)
    bold = cell.p_holm < SIGNIFICANT
    return [
        f"$\\mathbf{{{difference}}}$" if bold else f"${difference}$",
        f"${percent(share.mean, half_width(share))}$",
        f"${p_value(cell.p_holm)}$",
    ]


def percent(share: float, half: float) -> str:
    """Return a share of one in percent, to the digits that its interval gives meaning to."""
    text = to_place(100 * share, 100 * half) if half > 0 else alone(100 * share)
    return text if text == UNKNOWN else f"{text}\\,\\%"


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


_HEAD = """\
% One macro a number. Names are \\wb, the measure, what is told of it, the policy; digits are spelled out. Each line
% says what the number is and which sets of runs it rests on; manifest.json lists those, and the number in full.
"""
SAVING = "the same over the baseline's values"
"""What the comment of a macro calls a difference as a share."""


class Macro(NamedTuple):
    """One number with a name."""

    name: str
    """Without the backslash."""
    shown: str
    """In TeX's mathematics."""
    value: float
    """As it was computed."""
    says: str
    runs: list[str]
    """The sets of runs that it rests on."""


def macros(runs: RunSet, cells: list[Cell]) -> list[Macro]:
    """Return every number of a bundle: what was run, and each measure of each point."""
    names = MacroNames()
    result = [_count(names, "runs", len(runs.rows), "runs behind this bundle")]
    result.append(_count(names, "seeds", len(runs.seeds), "paired seeds a point"))
    result.append(_count(names, "points", len(runs.points), "points of the sweep, baselines included"))
    for cell in cells:
        result.extend(_of_cell(names, cell))
    return result


def numbers_tex(macros: list[Macro]) -> str:
    """Return the file's whole text."""
    return _HEAD + "".join(f"{_line(macro)}\n" for macro in macros)


def _line(macro: Macro) -> str:
    behind = f" [{', '.join(macro.runs)}]" if macro.runs else ""
    return f"\\newcommand{{\\{macro.name}}}{{\\ensuremath{{{macro.shown}}}}} {comment(macro.says + behind)}"


def _count(names: MacroNames, what: str, count: int, says: str) -> Macro:
    return Macro(names.new(what), alone(count), count, says, [])


def _of_cell(names: MacroNames, cell: Cell) -> Iterator[Macro]:
    place, measure = cell.place, cell.measure.name
    where = ", ".join(part for part in (place.setting, place.name) if part)

    def macro(quantity: str, text: str, value: float, says: str, runs: list[str]) -> Macro:
        name = names.new(measure, quantity, place.setting, place.name)
        return Macro(name, text, value, f"{measure}, {where}: {says}", runs)

    mean, half = cell.mean, half_width(cell.mean)
    yield macro("mean", to_place(mean.mean, half), mean.mean, "mean", cell.runs)
    yield macro("mean interval", with_interval(mean.mean, half), mean.mean, "mean with half width (95 %)", cell.runs)
    yield macro("count", alone(mean.n), mean.n, "seeds", cell.runs)
    if cell.against is not None:
        yield from _compared(cell, macro)


def _compared(cell: Cell, macro: Any) -> Iterator[Macro]:
    comparison = cell.against
    assert comparison is not None
    interval, share, pairs = comparison.interval, comparison.saving, cell.pairs
    half = half_width(interval)
    to = f"against {comparison.baseline}"
    yield macro(
        "difference", to_place(interval.mean, half), interval.mean, f"{comparison.estimand} difference {to}", pairs
    )
    both = with_limits(interval.mean, interval.low, interval.high)
    yield macro("difference interval", both, interval.mean, f"the same with its limits (95 %) {to}", pairs)
    yield macro("difference low", to_place(interval.low, half), interval.low, f"its lower end {to}", pairs)
    yield macro("difference high", to_place(interval.high, half), interval.high, f"its upper end {to}", pairs)
    text = percent(share.mean, half_width(share))
    yield macro("saving", text, share.mean, f"{SAVING} {to}", pairs)
    yield macro("pairs", alone(comparison.n), comparison.n, f"seeds on which it is compared {to}", pairs)
    wins, losses = (count if comparison.n else math.nan for count in (comparison.wins, comparison.losses))
    yield macro("better", alone(wins), wins, f"seeds on which it is better {to}", pairs)
    yield macro("worse", alone(losses), losses, f"seeds on which it is worse {to}", pairs)
    yield macro(
        "p",
        p_value(cell.p_holm),
        cell.p_holm,
        f"p of the same estimand, Holm-corrected over {cell.family}, {to}",
        pairs,
    )


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
            return {row.id: row for row in map(_row_of_run, csv.DictReader(file))}
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
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
