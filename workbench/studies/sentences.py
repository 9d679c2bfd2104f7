"""What came out, in words: one line a comparison, with the digits that its interval earns and a verdict."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.studies.reachable import family_of
from workbench.studies.summary import EQUAL, summary

if TYPE_CHECKING:
    from workbench.experiments.run_set import RunSet

LEVEL = 0.05
"""What a corrected p must be below for a verdict."""
BETTER = {"lower": "less is better", "higher": "more is better"}
SMALL = 0.001
"""Below this a p is printed as that it is below."""


KEY = "[ ] 95 % interval; p corrected over all comparisons (Holm); all columns: --wide"
VERDICTS = ("better", "worse", "undecided")


class Line(NamedTuple):
    """One point of a sweep under one measure."""

    point: str
    value: str
    """The mean."""
    verdict: str
    """Better, worse or undecided, by how much, and p; where nothing is compared, the mean's interval."""
    note: str = ""
    """What the interval rests on, where that is little."""

    @property
    def is_compared(self) -> bool:
        """Return whether the point stands against a baseline."""
        return self.verdict.startswith(VERDICTS)


class Block(NamedTuple):
    """The points of a sweep under one measure."""

    measure: str
    heading: str
    lines: list[Line]


def sentences(results: RunSet, measure: str | None = None) -> list[str]:
    """Say what came out, one sentence a comparison with the baseline.

    Parameters
    ----------
    results : RunSet
        Of a sweep that names a baseline; without one there is nothing to compare, and no sentence.
    measure : str, optional
        The sentences of one measure of the sweep; of all if None.

    Returns
    -------
    list of str
        In the order of the summary: point, mean with its unit, verdict, difference, interval and corrected p; and
        last, where there are too few seeds for any verdict, how many it takes.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 20}
    >>> sweep |= {"policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}, "measures": ["drain_cycles"]}
    >>> results = wb.run({**sweep, "baseline": {"placement": "first_fit"}}, workers=0)
    >>> print(results.sentences()[0])  # doctest: +ELLIPSIS
    nearest_boundary: drain_cycles ... than the baseline ...
    """
    lines = [
        f"{line.point}: {block.measure} {line.value}, {_in_a_sentence(line.verdict)}."
        for block in blocks(results)
        for line in block.lines
        if line.is_compared and measure in (None, block.measure)
    ]
    return [*lines, *too_few_seeds(results)] if lines else []


def too_few_seeds(results: RunSet) -> list[str]:
    """Say, in one sentence or none, that no comparison of a sweep can be decided at its seeds, and how many it takes.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 4}
    >>> sweep |= {"policy": {"placement": "best_fit"}, "baseline": {"placement": "first_fit"}}
    >>> too_few_seeds(wb.run({**sweep, "measures": ["drain_cycles"]}, workers=0))[0][:60]
    'one comparison at 4 seeds cannot give p_holm < 0.05: the sma'
    """
    note = family_of(results.plan).note
    return [f"{note}."] if note else []


def held_up(results: RunSet, objectives: Sequence[str], named: str) -> list[str]:
    """Say whether what was tuned holds on runs that were held out: one sentence for all, then one a comparison.

    Parameters
    ----------
    results : RunSet
        Of one point beside its baseline.
    objectives : sequence of str
        The measures that were tuned for.
    named : str
        What the point is called.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 20}
    >>> sweep |= {"policy": {"placement": "best_fit"}, "baseline": {"placement": "first_fit"}}
    >>> runs = wb.run({**sweep, "measures": ["drain_cycles"]}, workers=0)
    >>> print(held_up(runs, ["drain_cycles"], "trial 7")[0])  # doctest: +ELLIPSIS
    trial 7 ... the baseline in drain_cycles, at 20 seeds that tuning never saw: ...
    """
    lines = [(block.measure, line) for block in blocks(results) for line in block.lines if line.is_compared]
    if not lines:
        return [f"{named} cannot be compared with the baseline: {_not_compared(results)}."]
    words = {word: [m for m, line in lines if m in objectives and line.verdict.startswith(word)] for word in VERDICTS}
    parts = [f"{_RELATION[word]} {_listed(names)}" for word, names in words.items() if names]
    seeds = (
        f"at {len(results.seeds)} seeds that tuning never saw" if len(results.seeds) > 1 else "in the one run there is"
    )
    return [f"{named} {'; '.join(parts)}, {seeds}: {_conclusion(words, len(results.seeds))}.", *sentences(results)]


_RELATION = {
    "better": "beats the baseline in",
    "worse": "loses to the baseline in",
    "undecided": "is undecided against the baseline in",
}


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _conclusion(words: dict[str, list[str]], runs: int) -> str:
    """Return what verdicts come to, of the objectives by their verdict, each over so many paired runs."""
    if words["better"] and words["worse"]:
        return "a trade, not a gain"
    if words["worse"]:
        return "what was tuned does harm here"
    if not words["better"]:
        if runs == 1:
            return "one run is no sample"
        return "nothing that was tuned shows here"
    return "what was tuned holds here" if not words["undecided"] else "what was tuned holds here in part"


def _not_compared(results: RunSet) -> str:
    if len(results.points) == 1:
        return "it is the baseline"
    return "its runs failed" if results.failures else "no pair of runs is done"


def _in_a_sentence(verdict: str) -> str:
    word, rest = verdict[: verdict.index(" ")].rstrip(","), verdict[verdict.index(" ") :]
    return f"undecided against the baseline,{rest}" if word == "undecided" else f"{word} than the baseline{rest}"


def blocks(results: RunSet) -> list[Block]:
    """Return the summary of a sweep measure by measure, in words."""
    table = summary(results)
    levers = list(table.columns[: table.columns.get_loc("measure")])
    known = results.plan.sweep.mechanism.measures
    return [
        Block(str(measure), _heading(known, str(measure), rows), [_line(row, levers) for row in _records(rows)])
        for measure, rows in table.groupby("measure", sort=False)
    ]


def _records(rows: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = rows.to_dict("records")
    return records


def _heading(known: Any, name: str, rows: Any) -> str:
    measure = known.get(name)
    least, most = int(rows["n"].min()), int(rows["n"].max())
    runs = f"{most} seeds" if least == most else f"{least} to {most} seeds"
    words = [measure.unit, BETTER.get(measure.better, "")] if measure else []
    return f"{name} ({', '.join(filter(None, [*words, runs]))})"


def _line(row: dict[str, Any], levers: list[str]) -> Line:
    point = ", ".join(str(row[lever]) for lever in levers) or "all runs"
    low, high = float(row["low"]), float(row["high"])
    mean, note = float(row["mean"]), str(row.get("note") or "")
    if note.startswith(EQUAL) and not math.isfinite(float(row.get("p_holm", math.nan))):
        return Line(point, number(mean, None), note.partition(";")[0])
    if not math.isfinite(float(row.get("p_holm", math.nan))):
        return Line(point, number(mean, decimals(high - low)), _interval(low, high), note)
    return Line(point, number(mean, decimals(high - low)), _verdict(row), "" if note.startswith(EQUAL) else note)


def _verdict(row: dict[str, Any]) -> str:
    difference, low, high = (float(row[name]) for name in ("difference", "difference_low", "difference_high"))
    p = float(row["p_holm"])
    word = "undecided" if not p < LEVEL else "better" if difference > 0 else "worse"
    gain = difference if word == "undecided" else abs(difference)
    sides = (low, high) if gain == difference else (-high, -low)
    share = float(row["saving"])
    percent = "" if word == "undecided" or not math.isfinite(share) else f" ({_percent(abs(100 * share))} %)"
    kind = "" if row["estimand"] == "mean difference" else f" ({row['estimand']})"
    if difference == 0 and not row["better"] and not row["worse"]:
        return f"undecided, no difference at any of {row['pairs']:.0f} seeds, p {probability(p)}"
    opening = "undecided," if word == "undecided" else f"{word} by"
    return f"{opening} {_with_interval(gain, *sides)}{percent}{kind}, p {probability(p)}"


def _percent(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:,.0f}"


def _with_interval(value: float, low: float, high: float) -> str:
    return f"{number(value, decimals(high - low))} {_interval(low, high)}".rstrip()


def _interval(low: float, high: float) -> str:
    digits = decimals(high - low)
    return f"[{number(low, digits)}, {number(high, digits)}]" if math.isfinite(high - low) else ""


def decimals(width: float) -> int | None:
    """Return how many decimals an interval of a width earns, below nought for tens and hundreds.

    The last digit is worth between a sixtieth and a sixth of the width; None where there is no width.

    >>> decimals(221.0), decimals(0.0132), decimals(0.0)
    (-1, 3, None)
    """
    return -math.floor(math.log10(width / 6)) if width > 0 and math.isfinite(width) else None


def number(value: float, digits: int | None) -> str:
    """Return a number with so many decimals; whole numbers exactly, others to four digits, where none are given.

    >>> number(5452.8, -1), number(0.22314, 3), number(3661627392, None), number(0.5, None)
    ('5,450', '0.223', '3,661,627,392', '0.5')
    """
    if not math.isfinite(value):
        return str(value)
    if digits is None:
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return f"{round(value, digits) + 0.0:,.{max(digits, 0)}f}"


def probability(p: float) -> str:
    """Return a p-value in two digits, and below a thousandth that it is below.

    >>> probability(9.5e-06), probability(0.0271), probability(1.0)
    ('<0.001', '0.027', '1')
    """
    return f"<{SMALL}" if p < SMALL else f"{p:.2g}"


def fitted(all_blocks: list[Block], width: int) -> Iterator[str]:
    """Yield the lines of a table that is no wider than asked for: columns, or a comparison below its point."""
    for block in all_blocks:
        yield block.heading
        yield from _columns(block.lines, width)


def _columns(lines: list[Line], width: int) -> Iterator[str]:
    name, value = max(len(line.point) for line in lines), max(len(line.value) for line in lines)
    rows = [f"  {line.point:<{name}}  {line.value:>{value}}  {line.verdict}".rstrip() for line in lines]
    is_wide = any(len(row) > width for row in rows)
    for line, row in zip(lines, rows, strict=True):
        yield from [f"  {line.point}", f"      {line.value}  {line.verdict}".rstrip()] if is_wide else [row]
        yield from textwrap.wrap(line.note, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
