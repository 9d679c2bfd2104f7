"""The verdict on a comparison: what its two tests show once they are corrected over all comparisons of a table.

Each comparison brings two p-values, of the size and of the direction. Holm's correction runs over all of them. Both
rejected on one side: better or worse, and that alone is sure. One of them: better on average, or on most seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from workbench.errors import unknown_name
from workbench.statistics.comparison import PairedComparison
from workbench.statistics.corrections import false_discovery, holm
from workbench.statistics.floors import ALPHA

Word = Literal[
    "better",
    "worse",
    "better on average",
    "worse on average",
    "better on most seeds",
    "worse on most seeds",
    "better on average, worse on most seeds",
    "worse on average, better on most seeds",
    "equal",
    "same",
    "exact",
    "undecided",
    "not compared",
]
WORDS: dict[Word, str] = {
    "better": "better on average, and on most of the seeds that differ: sure",
    "worse": "worse on average, and on most of the seeds that differ: sure",
    "better on average": "its size alone is shown",
    "worse on average": "its size alone is shown",
    "better on most seeds": "its direction alone is shown",
    "worse on most seeds": "its direction alone is shown",
    "better on average, worse on most seeds": "a few seeds gain much",
    "worse on average, better on most seeds": "a few seeds lose much",
    "equal": "no word is earned, and the 90 % interval of the size lies within the least effect",
    "same": "equal at every seed",
    "exact": "nothing is drawn: the difference is what it is",
    "undecided": "nothing is shown",
    "not compared": "no seed has a value on both sides",
}
CORRECTIONS = {"holm": holm, "false_discovery": false_discovery}
POWER = 0.8
"""The chance with which the seeds that would tell show the least effect."""
MOST_SEEDS = 100_000

Key = TypeVar("Key")


class Verdict(NamedTuple):
    """What a comparison shows among those that it is corrected with."""

    of: PairedComparison
    word: Word
    p_size: float
    """Corrected; NaN where it is not tested."""
    p_direction: float
    """Likewise."""
    comparisons: int
    """How many were corrected together, this one included: `m`."""

    @property
    def side(self) -> Literal["better", "worse", ""]:
        """Return the side that a word is on; none where both sides are named, or nothing is shown."""
        named = {side for side in ("better", "worse") if side in self.word}
        return named.pop() if len(named) == 1 else ""  # type: ignore[return-value]

    @property
    def is_sure(self) -> bool:
        """Return whether both tests are rejected on one side."""
        return self.word in ("better", "worse")

    @property
    def p(self) -> float:
        """Return the larger of the two corrected p-values, of those that there are."""
        known = [p for p in (self.p_size, self.p_direction) if not math.isnan(p)]
        return max(known, default=math.nan)

    @property
    def seeds_needed(self) -> int | None:
        """Return the number of seeds that tell the least effect; None where none is declared, or nothing is known of
        the spread."""
        if self.of.least is None or self.of.n < 2 or self.of.exact:
            return None
        return seeds_that_tell(self.of.spread, self.of.least, self.comparisons)

    @property
    def is_small(self) -> bool:
        """Return whether a better or a worse policy is so by less than the least effect."""
        return bool(self.side) and self.of.is_equal


def judge(
    comparisons: Mapping[Key, PairedComparison],
    correction: str = "holm",
    over: Mapping[Key, Sequence[Key]] | None = None,
    alpha: float = ALPHA,
) -> dict[Key, Verdict]:
    """Return the verdict on every comparison, all corrected together, in the order given.

    Those without a pair and those that are exact are not tested, and are no members of the family.

    Parameters
    ----------
    correction : {"holm", "false_discovery"}
        Holm bounds the chance of any false word by alpha; Benjamini and Hochberg the expected share of false ones.
    over : mapping, optional
        Of comparisons over workloads: the workloads' own comparisons. Such a one is never better where a workload is
        worse, and never worse where a workload is better.
    alpha : float
        What a corrected p must be below.

    Raises
    ------
    InputError
        The correction is unknown.

    Examples
    --------
    >>> from workbench.statistics import compare
    >>> times = [100 + k % 7 for k in range(20)]
    >>> faster = compare([time * 1.05 + k % 2 for k, time in enumerate(times)], times, compared_by="ratio")
    >>> verdicts = judge({"faster": faster, "itself": compare(times, times, compared_by="ratio")})
    >>> [(one.word, one.is_sure, one.comparisons) for one in verdicts.values()]
    [('better', True, 2), ('same', False, 2)]
    """
    if correction not in CORRECTIONS:
        raise unknown_name("", "correction", correction, CORRECTIONS)
    tested = {(key, kind): p for key, one in comparisons.items() for kind, p in _both(one) if not math.isnan(p)}
    adjusted = CORRECTIONS[correction](tested)
    family = len({key for key, _ in tested})
    verdicts = {}
    for key, one in comparisons.items():
        size, direction = (adjusted.get((key, kind), math.nan) for kind in ("size", "direction"))
        verdicts[key] = Verdict(one, _word(one, size < alpha, direction < alpha), size, direction, family)
    for key, members in (over or {}).items():
        verdicts[key] = _over(verdicts[key], [verdicts[member] for member in members])
    return verdicts


def _both(one: PairedComparison) -> tuple[tuple[str, float], tuple[str, float]]:
    return ("size", one.p_size), ("direction", one.p_direction)


def _word(one: PairedComparison, is_sized: bool, is_directed: bool) -> Word:
    if not one.n:
        return "not compared"
    if one.is_same:
        return "same"
    if one.exact:
        return "exact"
    size = ("better" if one.size.mean > one.no_effect else "worse") if is_sized else ""
    direction = ("better" if one.wins > one.losses else "worse") if is_directed else ""
    if size and size == direction:
        return size  # type: ignore[return-value]
    words = [f"{size} on average"] * bool(size) + [f"{direction} on most seeds"] * bool(direction)
    return ", ".join(words) or ("equal" if one.is_equal else "undecided")  # type: ignore[return-value]


def _over(verdict: Verdict, members: Sequence[Verdict]) -> Verdict:
    """Return the verdict over workloads: of its size alone, and never against one of them."""
    other = {"better on average": "worse", "worse on average": "better"}.get(verdict.word)
    if other is None or any(other in member.word for member in members):
        return verdict
    return verdict._replace(word="better" if other == "worse" else "worse")


def seeds_that_tell(spread: float, least: float, comparisons: int) -> int | None:
    """Return the number of seeds that show the least effect with a chance of 80 % among so many comparisons; at least
    2.

    ((z(1 - 0.05 / 4m) + z(0.8)) spread / least)^2: from the spread and the least effect, not from the effect seen.
    None where more than 100,000 would be needed.

    Examples
    --------
    >>> seeds_that_tell(0.05, 0.01, 1), seeds_that_tell(0.05, 0.01, 10), seeds_that_tell(9.0, 0.01, 1)
    (238, 374, None)
    """
    from scipy.special import ndtri

    # m comparisons have two tests each, and a test has two sides: 0.05 / 4m for each side.
    quantiles = float(ndtri(1 - ALPHA / (4 * max(comparisons, 1))) + ndtri(POWER))
    needed = max(2.0, (quantiles * spread / least) ** 2)
    return math.ceil(needed) if needed <= MOST_SEEDS else None
