"""The results of a sweep in words: one line a comparison, with the verdict and the digits it earns.

The table of `result_table` shows the same comparisons; these sentences are printed on request.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.metrics.measure import Measure
from workbench.number_text import as_written, limits, number, probability
from workbench.statistics.comparisons import OverWorkloads, family_of, judged, measure_of, values_of
from workbench.statistics.floors import ALPHA
from workbench.statistics.quantities import estimate, least_text, listed, sized
from workbench.statistics.summary import EQUAL, point_mean
from workbench.statistics.verdict import MOST_SEEDS, Verdict

if TYPE_CHECKING:
    from workbench.experiments.plan import Plan
    from workbench.experiments.results import Results
    from workbench.runs.run import PlannedPoint


BETTER = {"lower": "less is better", "higher": "more is better"}
KEY = (
    "first the mean over seeds; then {}, with its 95 % interval, of one comparison alone; p after Holm's correction "
    "over two tests a comparison, of size and of direction: the larger; p-values: --wide"
)
SIZES = {
    True: "how many times as good as the baseline (geometric mean of paired ratios)",
    False: "the mean paired difference",
}
MEANINGS = {
    "; sure": "sure = better, or worse, on average and on most of the seeds that differ",
    "on average (": "on average = the size is shown, and the direction is not",
    "on most seeds (": "on most seeds = the direction is shown, and the size is not",
    "as good as equal": "as good as equal = no word is earned, and the 90 % interval lies within the least effect",
    "; undecided": "undecided = neither is shown; so many seeds show the least effect with a chance of 80 %",
    " that end": "a run that starves or refuses is the worst at its seed, and is in no speed-up",
    " alone, ": "p alone = of this comparison by itself; the interval is of it, and the word is not",
    "ratio of the sums": "ratio of the sums = of the means added up over workloads; it has no interval",
}
"""What a line of a table means, by what stands in it."""


class Line(NamedTuple):
    """One point of a sweep under one measure."""

    point: str
    value: str
    """The mean."""
    size: str
    """How much better than the baseline, with its interval; where nothing is compared, the mean's interval."""
    verdict: str
    """Better and worse at how many seeds, what that shows, and p; empty where nothing is compared."""
    word: str = ""
    """The verdict's word, empty where nothing is compared."""
    note: str = ""
    """What a reader of the line must not miss."""

    @property
    def is_compared(self) -> bool:
        """Return whether the point stands against a baseline."""
        return bool(self.word)


class Block(NamedTuple):
    """The points of a sweep under one measure."""

    measure: str
    heading: str
    lines: list[Line]


def sentences(results: Results, measure: str | None = None) -> list[str]:
    """Say what came out, one sentence a comparison with the baseline.

    Parameters
    ----------
    results : Results
        Of a sweep that names a baseline; without one there is nothing to compare, and no sentence.
    measure : str, optional
        The sentences of one measure of the sweep; of all if None.

    Returns
    -------
    list of str
        In the order of the summary: point, mean, size with its interval, verdict with the number of seeds and the
        corrected p. The last one says how many seeds it takes, where there are too few to decide.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 20}
    >>> sweep |= {"policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}, "measures": ["drain_cycles"]}
    >>> results = wb.run({**sweep, "baseline": {"placement": "first_fit"}}, workers=0)
    >>> print(results.sentences()[0])  # doctest: +ELLIPSIS
    nearest_boundary: drain_cycles ... against the baseline, better at 17, worse at 3 of 20; sure (p ...
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
    >>> too_few_seeds(wb.plan({**sweep, "measures": ["drain_cycles"]}))[0][:60]
    'no comparison can be decided at 4 seeds: the smallest correc'
    """
    note = family_of(plan).note
    return [f"{note}."] if note else []


def holdout_sentences(results: Results, objectives: Sequence[str], named: str) -> list[str]:
    """Say whether what was tuned holds on runs that were held out: one sentence for all, then one a comparison.

    Parameters
    ----------
    results : Results
        Of one point compared with its baseline.
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
    words: dict[str, list[str]] = {}
    for measure, line in lines:
        if measure in objectives:
            words.setdefault(line.word, []).append(measure)
    parts = [f"{_RELATION[word]} {listed(words[word])}" for word in _RELATION if word in words]
    seeds = (
        f"at {len(results.seeds)} seeds that tuning never saw" if len(results.seeds) > 1 else "in the one run there is"
    )
    return [f"{named} {'; '.join(parts)}, {seeds}: {_conclusion(words, len(results.seeds))}.", *sentences(results)]


_RELATION = {
    "better": "beats the baseline for sure in",
    "better on average": "beats the baseline on average in",
    "better on most seeds": "beats the baseline on most seeds in",
    "worse": "loses to the baseline for sure in",
    "worse on average": "loses to the baseline on average in",
    "worse on most seeds": "loses to the baseline on most seeds in",
    "better on average, worse on most seeds": "is better on average and worse on most seeds in",
    "worse on average, better on most seeds": "is worse on average and better on most seeds in",
    "undecided": "is not shown to beat the baseline in",
    "equal": "is as good as equal to the baseline in",
    "same": "is the same as the baseline in",
    "exact": "differs from the baseline, in the one run there can be, in",
    "not compared": "has no pair of runs with the baseline in",
}
"""What a word says of a point and its baseline, in the order in which it is said."""


def _conclusion(words: Mapping[str, list[str]], runs: int) -> str:
    """Return the sum of verdicts, of the objectives by their word, each over so many paired runs."""
    better, worse = (any(side in word for word in words) for side in ("better", "worse"))
    if better and worse:
        return "a trade, not a gain"
    if worse:
        return "what was tuned does harm here"
    if not better:
        return "one run is no sample" if runs == 1 else "nothing that was tuned shows here"
    sure = words.keys() == {"better"}
    return "what was tuned holds here" + ("" if sure else " in part")


def _not_compared(results: Results) -> str:
    if len(results.points) == 1:
        return "it is the baseline"
    return "its runs failed" if results.failures else "no pair of runs is done"


def _in_a_sentence(line: Line) -> str:
    counts = "" if line.word == "exact" else ", "
    size = f"{line.size} against the baseline" if line.size else ""
    verdict = f"{size}{counts if size else ''}{line.verdict}"
    return f"{verdict}; {line.note}" if line.note else verdict


def blocks(results: Results) -> list[Block]:
    """Return the summary of a sweep measure by measure, in words."""
    every = judged(results)
    return [
        Block(
            name,
            _heading(results, name),
            [
                *(_line(results, point, name, every.verdicts.get((name, point.id))) for point in results.points),
                *(_over(one, measure_of(results, name)) for one in every.over if one.measure == name),
            ],
        )
        for name in results.plan.sweep.measures
    ]


def _heading(results: Results, name: str) -> str:
    measure = measure_of(results, name)
    counts = [len(values_of(results, point, name)) for point in results.points]
    least, most = min(counts), max(counts)
    runs = f"{most} seeds" if least == most else f"{least} to {most} seeds"
    words = [measure.unit, BETTER.get(measure.better, ""), runs]
    return f"{measure.name} ({', '.join(filter(None, words))})"


def _line(results: Results, point: PlannedPoint, name: str, verdict: Verdict | None) -> Line:
    mean, measure = point_mean(results, point, name), measure_of(results, name)
    label = point_name(point.coordinates)
    value = estimate(mean)
    infinite = sum(map(math.isinf, values_of(results, point, name).values()))
    note = f"{infinite} of {mean.n} values are infinite, and so is the mean" if infinite else ""
    hang = results.hang(point) if measure.refusals or results.hung(point, name) else None
    always = hang.text if hang is not None and hang.seeds == hang.of else ""
    if hang is not None and not always:
        note = "; ".join(filter(None, [hang.text, note]))
    if verdict is not None:
        size, words = shown(verdict, measure)
        return Line(label, value, always or size, words, verdict.word, note)
    if always:
        return Line(label, value, always, "", "", note)
    equal = f"{EQUAL} {mean.n} seeds" if mean.method == "constant" else ""
    return Line(label, value, equal or limits(mean.low, mean.high), "", "", note)


def _over(one: OverWorkloads, measure: Measure) -> Line:
    """Return a policy over the workloads of a sweep: size, workloads and word, and the ratio of the sums."""
    of, count = one.verdict.of, len(one.members)
    sides = [f"better at {one.better}", f"worse at {one.worse}"]
    counted = f"{', '.join(sides if 'worse' not in one.verdict.word else sides[::-1])} of {count} workloads"
    sums = f"ratio of the sums {number(one.ratio_of_sums)}x"
    name = f"{one.name}, over {count} workloads" if one.name else f"over {count} workloads"
    return Line(name, "", sized(of, measure), f"{counted}; {said(one.verdict, measure)}; {sums}", one.verdict.word)


def shown(verdict: Verdict, measure: Measure) -> tuple[str, str]:
    """Return the size of a comparison, and its verdict in words.

    Examples
    --------
    >>> from workbench.statistics import compare, judge
    >>> times = Measure("makespan", "cycles", "lower", "", compared_by="ratio")
    >>> faster = compare([1050 + 3 * k for k in range(12)], [1000 + 2 * k for k in range(12)], compared_by="ratio")
    >>> shown(judge({"": faster})[""], times)
    ('1.0549x [1.0529, 1.0569]', 'better at 12, worse at 0 of 12; sure (p 0.0011, 1 comparison)')
    """
    one = verdict.of
    if not one.n:
        return "", "not compared: no seed has a value on both sides"
    if one.is_same:
        return "", f"the same at all {one.n} seeds" if one.n > 1 else "the same in the one run"
    side = "better" if one.wins else "worse"
    if one.exact:
        return sized(one, measure), f"{side}, exact: nothing is drawn"
    if one.n == 1:
        return sized(one, measure), f"{side} in the one run, undecided: one run is no sample"
    sides = [f"better at {one.wins}", f"worse at {one.losses}"]
    counts = ", ".join(sides if one.wins >= one.losses else sides[::-1])
    zeros = f"; no ratio: 0 at {one.zeros} of {one.n} seeds" if one.zeros else ""
    return sized(one, measure), f"{counts} of {one.n}{zeros}; {said(verdict, measure)}"


def said(verdict: Verdict, measure: Measure) -> str:
    """Return the word of a verdict, with its p-values and what a reader needs to act on it."""
    one, m = verdict.of, verdict.comparisons
    family = f"{m} comparison{'s' * (m != 1)}"
    small = f", by less than {least_text(measure, one.is_ratio)}" if verdict.is_small else ""
    word = verdict.word
    if verdict.is_sure:
        text = f"sure{small} (p {probability(verdict.p)}, {family})"
    elif word in _BY_ONE:
        named, hidden = (probability(getattr(verdict, p)) for p in _BY_ONE[word])
        other = _OTHER[_BY_ONE[word][1]]
        beside = "" if math.isnan(getattr(verdict, _BY_ONE[word][1])) or not one.is_sized else f"; {other} p {hidden}"
        text = f"{word}{small} (p {named}{beside}; {family})"
    elif word == "equal":
        text = f"as good as equal: within {least_text(measure, one.is_ratio)} ({family})"
    elif word == "undecided":
        text = f"undecided{_needed(verdict, measure)} (p {probability(verdict.p)}, {family})"
    else:
        text = f"{word} (p {probability(verdict.p)}, {family})"
    return text + _alone(verdict)


_BY_ONE = {
    "better on average": ("p_size", "p_direction"),
    "worse on average": ("p_size", "p_direction"),
    "better on most seeds": ("p_direction", "p_size"),
    "worse on most seeds": ("p_direction", "p_size"),
}
_OTHER = {"p_size": "on average", "p_direction": "on most seeds"}


def _needed(verdict: Verdict, measure: Measure) -> str:
    """Return the number of seeds that would tell the least effect; nothing where none is declared."""
    one, needed = verdict.of, verdict.seeds_needed
    if one.least is None:
        return ""
    least = least_text(measure, one.is_ratio)
    if needed is None:
        return f": no number within {MOST_SEEDS:,} seeds would tell {least}"
    if needed <= one.n:
        return f": {needed:,} seeds would have told {least}"
    return f": {needed - one.n:,} more seeds would tell {least}"


def _alone(verdict: Verdict) -> str:
    """Return the p of the size alone where the interval leaves out what is no effect and the word does not say so."""
    one = verdict.of
    if not one.is_sized or math.isnan(verdict.p_size):
        return ""
    alone, among = one.p_alone < ALPHA, verdict.p_size < ALPHA
    if alone and not among:
        p = probability(verdict.p_size)
        return f"; size p {probability(one.p_alone)} alone, {p} among {verdict.comparisons}"
    return "; decided at the seeds of the first plan" if among and not alone else ""


def point_name(coordinates: Mapping[str, Any]) -> str:
    """Return a point in words: a lever that it has not is left out, and one of a policy that is named with it.

    >>> levers = {"policy.eviction": "sharing(threshold=2)", "seats": 8, "policy.eviction.threshold": 2.0, "gap": None}
    >>> point_name(levers)
    'sharing(threshold=2), 8'
    """
    named = {lever: as_written(value) for lever, value in coordinates.items() if value is not None}
    own = [
        text
        for lever, text in named.items()
        if not any(
            lever.startswith(f"{other}.") and f"{lever.rpartition('.')[2]}=" in label for other, label in named.items()
        )
    ]
    return ", ".join(own) or "all runs"


def key(all_blocks: list[Block], results: Results) -> list[str]:
    """Return the meaning of the columns of a table, of those that it has; nothing where nothing is compared."""
    compared = [block.measure for block in all_blocks if any(line.is_compared for line in block.lines)]
    if not compared:
        return []
    kinds = dict.fromkeys(measure_of(results, name).compared_by == "ratio" for name in compared)
    texts = "\n".join(f"{line.size}; {line.verdict}" for block in all_blocks for line in block.lines)
    meanings = [meaning for mark, meaning in MEANINGS.items() if mark in texts]
    return [KEY.format(" or ".join(SIZES[kind] for kind in kinds)), *meanings]


def looks_note(results: Results) -> list[str]:
    """Say, in one sentence or none, that p-values answer for more than the look at the first plan."""
    planned, seeds = results.plan.sweep.planned, len(results.seeds)
    if planned is None or planned == seeds:
        return []
    return [f"The first plan had {planned} seeds, and there are {seeds} now: every p answers for all numbers of seeds."]


def fitted(all_blocks: list[Block], width: int) -> Iterator[str]:
    """Yield the lines of a table that is no wider than asked for: columns, or a comparison below its point."""
    for block in all_blocks:
        yield block.heading
        yield from _columns(block.lines, width)


def _columns(lines: list[Line], width: int) -> Iterator[str]:
    name, value, size = (max(len(line[k]) for line in lines) for k in range(3))
    rows = [
        f"  {line.point:<{name}}  {line.value:>{value}}  {line.size:<{size}}  {line.verdict}".rstrip() for line in lines
    ]
    is_wide = any(len(row) > width for row in rows)
    for line, row in zip(lines, rows, strict=True):
        if is_wide:
            yield f"  {line.point}"
            text = "  ".join(filter(None, [line.value, line.size, line.verdict]))
            yield from textwrap.wrap(text, width, initial_indent=" " * 6, subsequent_indent=" " * 8)
        else:
            yield row
        yield from textwrap.wrap(line.note, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
