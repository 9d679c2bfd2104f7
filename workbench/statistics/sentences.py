"""The results of a sweep in words: one line a comparison, with the verdict and the digits it earns.

`card` is what a notebook shows of results: how much was run, what differs, and what came out.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.metrics.measure import Measure
from workbench.number_text import as_written, limits, per_cent, probability, to_half
from workbench.statistics import least_p
from workbench.statistics.adaptive_seeds import looks_of
from workbench.statistics.quantities import amount, listed
from workbench.statistics.summary import EQUAL, family_of, summary

if TYPE_CHECKING:
    from workbench.experiments.plan import Plan
    from workbench.experiments.run_set import RunSet


LEVEL = 0.05
"""What a corrected p must be below for a verdict."""
BETTER = {"lower": "less is better", "higher": "more is better"}
KEY = (
    "first the mean over seeds; [ ] 95 % interval, of one comparison alone; p of the {}, corrected over all "
    "comparisons (Holm): decided below 0.05; all columns: --wide"
)
TESTS = {"median": "median difference (sign test)", "mean": "mean difference (studentised bootstrap)"}
FLOOR = "* the smallest p that so many seeds can give"
SAME = "the same"
VERDICTS = ("better", "worse", "undecided", SAME)


class Line(NamedTuple):
    """One point of a sweep under one measure."""

    point: str
    value: str
    """The mean."""
    verdict: str
    """Better, worse, undecided or the same, at how many seeds, by how much, and p; where nothing is compared, the
    mean's interval."""
    note: str = ""
    """What a reader of the line must not miss: a mean that says the reverse, or that rests on little."""

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
        In the order of the summary: point, mean, verdict with the number of seeds, estimate with its interval and unit,
        corrected p, and whether the mean says the reverse; last, where there are too few seeds for any verdict, how
        many it takes.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 20}
    >>> sweep |= {"policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}, "measures": ["drain_cycles"]}
    >>> results = wb.run({**sweep, "baseline": {"placement": "first_fit"}}, workers=0)
    >>> print(results.sentences()[0])  # doctest: +ELLIPSIS
    nearest_boundary: drain_cycles ... the baseline at ...
    """
    lines = [
        f"{line.point}: {block.measure} {line.value} on average, {_in_a_sentence(line)}."
        for block in blocks(results)
        for line in block.lines
        if line.is_compared and measure in (None, block.measure)
    ]
    return [*lines, *looks_note(results), *too_few_seeds(results.plan)] if lines else []


def too_few_seeds(plan: Plan) -> list[str]:
    """Say, in one sentence or none, that no comparison of a sweep can be decided at its seeds, and how many it takes.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 4}
    >>> sweep |= {"policy": {"placement": "best_fit"}, "baseline": {"placement": "first_fit"}}
    >>> too_few_seeds(wb.api.planned({**sweep, "measures": ["drain_cycles"]}))[0][:60]
    'cannot decide: one comparison at 4 seeds has no corrected p '
    """
    note = family_of(plan).note
    return [f"{note}."] if note else []


def holdout_sentences(results: RunSet, objectives: Sequence[str], named: str) -> list[str]:
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
    >>> print(holdout_sentences(runs, ["drain_cycles"], "trial 7")[0])  # doctest: +ELLIPSIS
    trial 7 ... the baseline in drain_cycles, at 20 seeds that tuning never saw: ...
    """
    lines = [(block.measure, line) for block in blocks(results) for line in block.lines if line.is_compared]
    if not lines:
        return [f"{named} cannot be compared with the baseline: {_not_compared(results)}."]
    words = {word: [m for m, line in lines if m in objectives and line.verdict.startswith(word)] for word in VERDICTS}
    parts = [f"{_RELATION[word]} {listed(names)}" for word, names in words.items() if names]
    seeds = (
        f"at {len(results.seeds)} seeds that tuning never saw" if len(results.seeds) > 1 else "in the one run there is"
    )
    return [f"{named} {'; '.join(parts)}, {seeds}: {_conclusion(words, len(results.seeds))}.", *sentences(results)]


_RELATION = {
    "better": "beats the baseline in",
    "worse": "loses to the baseline in",
    "undecided": "is undecided against the baseline in",
    SAME: "is the same as the baseline in",
}


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
    return "what was tuned holds here" + (" in part" if words["undecided"] or words.get(SAME) else "")


def _not_compared(results: RunSet) -> str:
    if len(results.points) == 1:
        return "it is the baseline"
    return "its runs failed" if results.failures else "no pair of runs is done"


def _in_a_sentence(line: Line) -> str:
    verdict = line.verdict.replace("*", " (the smallest of so many seeds)")
    for short, whole in _WHOLE.items():
        if verdict.startswith(short):
            verdict = whole + verdict.removeprefix(short)
    return f"{verdict}; {line.note}" if line.note else verdict


_WHOLE = {
    "better at": "better than the baseline at",
    "worse at": "worse than the baseline at",
    "undecided,": "undecided against the baseline,",
    "the same at": "the same as the baseline at",
}


def blocks(results: RunSet) -> list[Block]:
    """Return the summary of a sweep measure by measure, in words."""
    table = summary(results)
    levers = list(table.columns[: table.columns.get_loc("measure")])
    known = results.plan.sweep.mechanism.measures
    return [
        Block(
            str(measure),
            _heading(known[str(measure)], rows),
            [_line(row, levers, known[str(measure)]) for row in rows.to_dict("records")],
        )
        for measure, rows in table.groupby("measure", sort=False)
    ]


def _heading(measure: Measure, rows: Any) -> str:
    least, most = int(rows["n"].min()), int(rows["n"].max())
    runs = f"{most} seeds" if least == most else f"{least} to {most} seeds"
    words = [measure.unit, BETTER.get(measure.better, ""), runs]
    return f"{measure.name} ({', '.join(filter(None, words))})"


def _line(row: dict[Any, Any], levers: list[str], measure: Measure) -> Line:
    point = _point(row, levers)
    low, high = float(row["low"]), float(row["high"])
    mean, note = float(row["mean"]), str(row.get("note") or "")
    value, is_compared = to_half(mean, (high - low) / 2), math.isfinite(float(row.get("p_holm", math.nan)))
    if is_compared:
        return Line(point, value, _verdict(row, measure), _reverse(row, measure))
    if note.startswith(EQUAL):
        return Line(point, value, note)
    return Line(point, value, limits(low, high), note)


def _point(row: dict[str, Any], levers: list[str]) -> str:
    """Return a point in words: a lever that it has not is left out, and one of a policy that is named with it.

    >>> row = {"policy.eviction": "sharing(threshold=2)", "seats": 8, "policy.eviction.threshold": 2.0, "gap": math.nan}
    >>> _point(row, list(row))
    'sharing(threshold=2), 8'
    """
    named = {lever: as_written(row[lever]) for lever in levers if row[lever] == row[lever]}
    own = [
        text
        for lever, text in named.items()
        if not any(
            lever.startswith(f"{other}.") and f"{lever.rpartition('.')[2]}=" in label for other, label in named.items()
        )
    ]
    return ", ".join(own) or "all runs"


def _verdict(row: dict[str, Any], measure: Measure) -> str:
    p, pairs = float(row["p_holm"]), int(row["pairs"])
    better, worse, same = (int(row[name]) for name in ("better", "worse", "same"))
    if same == pairs:
        return f"{SAME} at all {pairs} seeds" if pairs > 1 else f"{SAME} at the one seed"
    difference, share = float(row["difference"]), float(row["saving"])
    word = "undecided" if not p < LEVEL else "better" if difference > 0 else "worse"
    counts = {
        "better": f"better at {better} of {pairs} seeds",
        "worse": f"worse at {worse} of {pairs} seeds",
        "undecided": f"undecided, better at {better} and worse at {worse} of {pairs} seeds",
    }
    ties = f", {SAME} at {same}" if same else ""
    is_sized = word != "undecided" and math.isfinite(share) and share * difference > 0
    percent = f" ({per_cent(share)})" if is_sized else ""
    ends = (difference, float(row["difference_low"]), float(row["difference_high"]))
    return f"{counts[word]}{ties}; {row['estimand']} {amount(*ends, measure)}{percent}; {_corrected(row, pairs)}"


def _corrected(row: dict[str, Any], pairs: int) -> str:
    """Return the p-value with what the correction did to it."""
    alone, p, family = float(row["p"]), float(row["p_holm"]), int(row["family"])
    is_least = row["estimand"] == "median" and alone <= least_p(pairs) < 1 and row["looks"] == 1
    text = f"{probability(p)}{'*' if is_least else ''}"
    if family == 1:
        return f"p {text}"
    if alone < LEVEL <= p:
        return f"p {probability(alone)} alone: yes; {text} after correction over {family}: no"
    return f"p {text} after correction over {family}"


def _reverse(row: dict[str, Any], measure: Measure) -> str:
    """Return a sentence where the mean says the reverse of the verdict, or is clear where the median says nothing."""
    mean, low, high = (float(row[f"mean_difference{end}"]) for end in ("", "_low", "_high"))
    difference, is_decided = float(row["difference"]), float(row["p_holm"]) < LEVEL
    clear = mean if math.isinf(mean) or low > 0 or high < 0 else 0.0
    if row["estimand"] == "mean" or not mean or mean * difference > 0 or not (is_decided or clear):
        return ""
    word, does = ("better", "gain") if mean > 0 else ("worse", "lose")
    size = "infinitely so" if math.isinf(mean) else f"mean {amount(mean, low, high, measure)}"
    return f"{word} on average: a few seeds {does} much ({size})"


def key(all_blocks: list[Block], estimand: str) -> list[str]:
    """Return what the signs of a table mean, of those that it has; nothing where nothing is compared."""
    verdicts = [line.verdict for block in all_blocks for line in block.lines if line.is_compared]
    starred = [FLOOR] if any("*" in verdict for verdict in verdicts) else []
    return [KEY.format(TESTS[estimand]), *starred] if verdicts else []


def looks_note(results: RunSet) -> list[str]:
    """Say, in one sentence or none, that p-values answer for results that were seen at fewer seeds before."""
    *before, _ = looks_of(results).counts
    if not before:
        return []
    seen = " and ".join(map(str, before))
    return [f"Results were seen at {seen} seeds before: intervals and p answer for all {len(before) + 1} looks."]


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
        if is_wide:
            yield f"  {line.point}"
            text = f"{line.value}  {line.verdict}".rstrip()
            yield from textwrap.wrap(text, width, initial_indent=" " * 6, subsequent_indent=" " * 8)
        else:
            yield row
        yield from textwrap.wrap(line.note, width, initial_indent=" " * 6, subsequent_indent=" " * 6)


MOST_VALUES, MOST_SENTENCES = 8, 12
"""Of a lever's values and of the sentences, how many are shown."""


def card(results: RunSet) -> str:
    """Return a small table in HTML: runs, points and seeds, measures, what differs, and a sentence a comparison."""
    sweep, points = results.plan.sweep, results.points
    failed = f", {len(results.failures)} failed" if results.failures else ""
    facts = {
        "engine": sweep.mechanism.engine.name,
        "runs": f"{len(results.rows):,} of {len(results.plan):,}{failed}",
        "points": f"{len(points):,} x {len(sweep.seeds):,} seeds",
        "measures": ", ".join(sweep.measures),
    }
    facts |= {path: _values([str(point.coordinates.get(path)) for point in points]) for path in results.varied}
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in facts.items())
    heading = escape(str(sweep.config.get("question") or sweep.name))
    return f"<b>{heading}</b><table>{rows}</table>{_list(sentences(results) if results.rows else [])}"


def _values(texts: list[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    more = f" and {len(distinct) - MOST_VALUES} more" if len(distinct) > MOST_VALUES else ""
    return ", ".join(distinct[:MOST_VALUES]) + more


def _list(lines: list[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in lines[:MOST_SENTENCES])
    if len(lines) > MOST_SENTENCES:
        items += f"<li>and {len(lines) - MOST_SENTENCES} more: results.sentences()</li>"
    return f"<ul>{items}</ul>" if items else ""
