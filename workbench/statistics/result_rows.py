"""Rows and blocks of the table of results, and the text of every cell: value, speed-up, better at, verdict."""

from __future__ import annotations

from typing import NamedTuple

from workbench.experiments.hangs import Hang
from workbench.metrics.measure import Measure
from workbench.number_text import limits, probability
from workbench.statistics.comparison import size_text
from workbench.statistics.comparisons import OverWorkloads
from workbench.statistics.interval import Interval
from workbench.statistics.quantities import amount, estimate, least_text
from workbench.statistics.sentences import BETTER
from workbench.statistics.verdict import MOST_SEEDS, Verdict

SIZE = {True: "speed-up", False: "difference"}
"""The name of the column of sizes, of ratios and of differences."""
WIDE = (
    "95 % of the mean",
    "worse at",
    "same at",
    "p of size alone",
    "p of size",
    "p of direction",
    "seeds for least effect",
)
"""The columns that the wide table has in addition."""
TIMES = ("cycles", "ns", "us", "ms", "s")
"""The units of times."""
_NAMED = {"better": "sure better", "worse": "sure worse", "equal": "as good as equal", "same": "the same"}


class ResultRow(NamedTuple):
    """One policy under one measure."""

    name: str
    mean: Interval | None
    """None for a policy over several workloads."""
    verdict: Verdict | None
    """On the comparison with the baseline; None for the baseline, and where nothing is compared."""
    is_baseline: bool
    bold: bool
    """Whether it is the best of its block, or cannot be told from it (`bold_rows`)."""
    point: str = ""
    """Its id; empty over several workloads."""
    hang: Hang | None = None
    infinite: int = 0
    """How many of its values are infinite."""
    over: OverWorkloads | None = None

    @property
    def always_hangs(self) -> bool:
        """Return whether it hangs at every seed, and so has no speed-up."""
        return self.hang is not None and self.hang.seeds == self.hang.of

    @property
    def has_size(self) -> bool:
        """Return whether it stands against the baseline with a size."""
        return self.verdict is not None and self.verdict.of.ended > 0 and not self.always_hangs

    def cells(self, measure: Measure) -> Cells:
        """Return the texts of the row."""
        value = "" if self.mean is None else estimate(self.mean)
        return Cells(self.name, value, self._size(measure), self._better_at(), self.verdict_cell(measure))

    def wide_cells(self) -> list[str]:
        """Return the texts of the columns that the wide table has in addition."""
        interval = "" if self.mean is None else limits(self.mean.low, self.mean.high)
        if self.verdict is None or not self.verdict.of.n:
            return [interval, *[""] * (len(WIDE) - 1)]
        one, needed = self.verdict.of, self.verdict.seeds_needed
        counts = [f"{count:,}" for count in (one.losses, one.ties)] if self.over is None else ["", ""]
        p_values = [probability(p) for p in (one.p_alone, self.verdict.p_size, self.verdict.p_direction)]
        return [interval, *counts, *p_values, "" if needed is None else f"{needed:,}"]

    def _size(self, measure: Measure) -> str:
        if self.is_baseline:
            return "baseline"
        if self.always_hangs and self.hang is not None:
            return self.hang.text
        if self.verdict is None:
            return "" if self.mean is None else limits(self.mean.low, self.mean.high)
        one = self.verdict.of
        if not one.n or one.is_same:
            return ""
        if not one.ended:
            return "no pair ends"
        if one.is_ratio:
            return size_text(one)
        no_ratio = "no ratio: " if one.zeros else ""
        return f"{no_ratio}{amount(*one.size[:3], measure, with_unit=bool(no_ratio))}"

    def _better_at(self) -> str:
        if self.over is not None:
            return f"shown at {self.over.better} of {len(self.over.members)} workloads"
        if self.verdict is None or self.verdict.of.n < 2 or self.verdict.of.exact or self.verdict.of.is_same:
            return ""
        return f"{self.verdict.of.wins} of {self.verdict.of.n}"

    def verdict_cell(self, measure: Measure) -> str:
        """Return the words of the verdict, with the seeds at which the row does not end."""
        is_in_size = self.always_hangs and not self.is_baseline
        words = [] if self.hang is None or is_in_size else [self.hang.text]
        one = None if self.verdict is None else self.verdict.of
        if self.infinite and self.mean is not None:
            words.append(f"{self.infinite} of {self.mean.n} values are infinite")
        elif one is not None and 0 < one.ended < one.n and not words:
            # A time is infinite only if the run does not end. A ratio of counts is infinite over a zero too.
            lacking = "runs do not end" if measure.unit in TIMES else "pairs lack a finite value"
            words.append(f"{one.n - one.ended} of {one.n} {lacking}")
        if self.verdict is not None:
            words.append(verdict_words(self.verdict, measure))
        return "; ".join(words)


class Cells(NamedTuple):
    """The texts of a row."""

    name: str
    value: str
    size: str
    """The speed-up, or the difference, with its interval; of a row that hangs, the groups that never start."""
    better_at: str
    verdict: str


class ResultBlock(NamedTuple):
    """The policies of one setting under one measure."""

    measure: Measure
    setting: str
    """The machine and the workload, as far as the sweep varies them."""
    seeds: str
    rows: list[ResultRow]

    @property
    def heading(self) -> str:
        """Return measure and setting, the unit, the side that is better, and the number of seeds."""
        words = ", ".join(filter(None, [self.measure.unit, BETTER.get(self.measure.better, ""), self.seeds]))
        return f"{self.measure.name}{', ' * bool(self.setting)}{self.setting} ({words})"

    @property
    def is_compared(self) -> bool:
        """Return whether a row is compared with the baseline at some seed."""
        return any(row.verdict is not None and row.verdict.of.n for row in self.rows)

    @property
    def texts(self) -> list[Cells]:
        """Return the names of the columns, empty for one that no row fills, and then the texts of each row."""
        is_compared = any(row.verdict is not None for row in self.rows)
        size = SIZE[self.measure.compared_by == "ratio"] if is_compared else "95 % interval"
        names = Cells("policy", "mean", size, "better at", "verdict")
        rows = [row.cells(self.measure) for row in self.rows]
        return [Cells(*(name * any(column) for name, *column in zip(names, *rows, strict=True))), *rows]

    @property
    def wide_columns(self) -> list[list[str]]:
        """Return the columns that the wide table has in addition, each with its name first; without empty ones."""
        columns = zip(WIDE, *(row.wide_cells() for row in self.rows), strict=True)
        return [[*column] for column in columns if any(column[1:])]


def verdict_words(verdict: Verdict, measure: Measure) -> str:
    """Return a verdict in the words of a table.

    Examples
    --------
    >>> from workbench.statistics import compare, judge
    >>> times = Measure("makespan", "cycles", "lower", "", compared_by="ratio")
    >>> faster = compare([1050 + 3 * k for k in range(12)], [1000 + 2 * k for k in range(12)], compared_by="ratio")
    >>> verdict_words(judge({"": faster})[""], times)
    'sure better'
    """
    one, word = verdict.of, verdict.word
    if word == "undecided":
        return f"undecided{_seeds_missing(verdict)}"
    if word == "exact":
        return f"{one.side_of_values} (exact)"
    small = f", by less than {least_text(measure, one.is_ratio)}" if verdict.is_small else ""
    return f"{_NAMED.get(word, word)}{small}"


def _seeds_missing(verdict: Verdict) -> str:
    """Return the number of further seeds that tell the least effect; nothing where none is declared, or there are
    enough."""
    one, needed = verdict.of, verdict.seeds_needed
    if one.n == 1:
        return ": one run is no sample"
    if one.least is None or (needed is not None and needed <= one.n):
        return ""
    return f": over {MOST_SEEDS:,} seeds" if needed is None else f": {needed - one.n:,} more seeds"
