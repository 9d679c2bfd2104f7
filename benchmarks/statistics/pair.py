"""The two tests of a comparison, their looks, Holm's method, the words and the joiners: a twin of the engine.

It is written from the definition in docs/statistics.md and shares no code with `workbench.statistics`. All functions
take arrays, so that simulations judge many studies at once; `verdicts_of` judges one table of paired values.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

_OfCounts = Callable[[np.ndarray, np.ndarray], np.ndarray]
ALPHA = 0.05
PLANNED_SHARE, ANY_SHARE = 0.9, 0.1
"""Of alpha: for the look at the planned number of seeds, and for all other looks together."""
MIXTURE = 0.25
"""The variance g of the normal mixture of effects, in squared standard deviations."""
RATIO_LEAST_EFFECT = 0.01
ROUNDING = 1e-12
"""Of the largest value: differences of values below it are ties, and differences that differ by less are equal."""
TABLE = 256


class Seen(NamedTuple):
    """Arrays of one shape: the comparisons at one number of seeds."""

    pairs: np.ndarray
    mean: np.ndarray
    """Of the differences or of the logs of the ratios; above 0 = better."""
    spread: np.ndarray
    """Standard deviation of the same values; 0 where all are equal or there is one."""
    wins: np.ndarray
    losses: np.ndarray
    sized: np.ndarray
    """False where a value is infinite or has no ratio: such a comparison has no test of size."""


class PairOfTests(NamedTuple):
    """P-values of both tests, and the sides on which the estimates lie (1 = better, -1 = worse, 0 = on neither)."""

    size: np.ndarray
    direction: np.ndarray
    size_side: np.ndarray
    direction_side: np.ndarray
    sized: np.ndarray


def direction_once(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return the exact two-sided p of the sign test over the seeds that differ."""
    return np.minimum(1.0, 2 * at_most(np.minimum(wins, losses), wins + losses))


def at_most(number: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return the chance of at most so many heads in so many throws."""
    if np.max(count, initial=0) >= TABLE:
        return np.asarray(special.bdtr(number, count, 0.5))
    return _chances()[count, number]


@functools.cache
def _chances() -> np.ndarray:
    """Return the chances of `at_most` for all counts below `TABLE`: simulations look 1e9 of them up."""
    throws = np.arange(TABLE)
    return np.asarray(special.bdtr(np.minimum(throws, throws[:, None]), throws[:, None], 0.5))


def direction_any(wins: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """Return the p that holds at any number of looks: the inverse of a Beta(1/2, 1/2) mixture of likelihood ratios."""
    differ = wins + losses
    beta = special.gammaln(wins + 0.5) + special.gammaln(losses + 0.5) - special.gammaln(differ + 1.0)
    return np.exp(np.minimum(0.0, math.log(math.pi) - beta - differ * math.log(2)))


def student_t(seen: Seen) -> np.ndarray:
    """Return Student's t; 0 where the spread is 0."""
    values = np.zeros(np.shape(seen.mean))
    np.divide(seen.mean * np.sqrt(seen.pairs), seen.spread, out=values, where=seen.spread > 0)
    return values


def student_once(seen: Seen) -> np.ndarray:
    """Return the two-sided p of Student's t; 1 where the spread is 0."""
    return np.where(seen.spread > 0, 2 * special.stdtr(np.maximum(seen.pairs - 1, 1), -np.abs(student_t(seen))), 1.0)


def student_any(seen: Seen) -> np.ndarray:
    """Return the p that holds at any number of looks: the inverse of a normal mixture of effects (Wang and Ramdas)."""
    freedom, growth = np.maximum(seen.pairs - 1, 1), 1 + seen.pairs * MIXTURE
    square = student_t(seen) ** 2 / freedom
    log_m = (freedom + 1) / 2 * (np.log1p(square) - np.log1p(square / growth)) - np.log(growth) / 2
    return np.where(seen.spread > 0, np.exp(-np.maximum(log_m, 0.0)), 1.0)


def at_plan(planned: Seen) -> PairOfTests:
    """Return both tests at the planned number of seeds, with the ordinary p-values of one look."""
    size, direction = _size(planned, student_once, direction_once), direction_once(planned.wins, planned.losses)
    return PairOfTests(size, direction, *_estimates(planned), planned.sized)


def at_look(now: Seen, planned: PairOfTests | None) -> PairOfTests:
    """Return both tests of comparisons, looks included.

    The planned look counts where the estimate is on the same side as then.

    Parameters
    ----------
    planned : PairOfTests or None
        The tests `at_plan` of the same comparisons. None before the planned number of seeds is reached.
    """
    size = _size(now, student_any, direction_any) / ANY_SHARE
    direction = direction_any(now.wins, now.losses) / ANY_SHARE
    size_side, direction_side = _estimates(now)
    if planned is not None:
        same = size_side == planned.size_side, direction_side == planned.direction_side
        size = np.where(same[0], np.minimum(size, planned.size / PLANNED_SHARE), size)
        direction = np.where(same[1], np.minimum(direction, planned.direction / PLANNED_SHARE), direction)
    size = np.where(now.sized, np.minimum(size, 1.0), 1.0)
    return PairOfTests(size, np.minimum(direction, 1.0), size_side, direction_side, now.sized)


def _estimates(seen: Seen) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides on which the estimates lie."""
    return np.sign(seen.mean), np.sign(seen.wins - seen.losses)


def _size(seen: Seen, of_size: Callable[[Seen], np.ndarray], of_direction: _OfCounts) -> np.ndarray:
    """Return the p of the size: at least that of as many pairs on one side, and 1 where nothing differs."""
    floor = of_direction(seen.pairs, np.zeros_like(seen.pairs))
    return np.where(seen.spread > 0, np.maximum(of_size(seen), floor), np.where(seen.mean == 0, 1.0, floor))


def holm(p: np.ndarray) -> np.ndarray:
    """Return the p-values of each row (the last axis) after Holm's correction over the row."""
    count = p.shape[-1]
    order = np.argsort(p, axis=-1)
    steps = np.take_along_axis(p, order, axis=-1) * (count - np.arange(count))
    adjusted = np.empty_like(steps)
    np.put_along_axis(adjusted, order, np.minimum(1.0, np.maximum.accumulate(steps, axis=-1)), axis=-1)
    return adjusted


def rejected(p: np.ndarray) -> np.ndarray:
    """Return which p-values of each row Holm's method rejects."""
    result = np.zeros(p.shape, bool)
    some = p.min(axis=-1, initial=1.0) * p.shape[-1] < ALPHA
    if some.any():
        result[some] = holm(p[some]) < ALPHA
    return result


def on_side(both: PairOfTests, side: int) -> np.ndarray:
    """Return the p of a finding on one side: the larger one of both tests, 1 where an estimate is not on the side.

    Where there is no test of size, direction decides alone.
    """
    size = np.where(both.size_side == side, both.size, 1.0)
    direction = np.where(both.direction_side == side, both.direction, 1.0)
    return np.where(both.sized, np.maximum(size, direction), direction)


def every(p_for: np.ndarray, p_against: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p for and p against "every part holds", the parts being the last axis."""
    return p_for.max(axis=-1), np.minimum(1.0, p_against.shape[-1] * p_against.min(axis=-1))


def some(p_for: np.ndarray, p_against: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p for and p against "some part holds", the parts being the last axis."""
    return np.minimum(1.0, p_for.shape[-1] * p_for.min(axis=-1)), p_against.max(axis=-1)


class Comparison(NamedTuple):
    """One row of a table: paired values, seed by seed. A missing value is NaN, that of a refused run the worst one."""

    baseline: Sequence[float]
    other: Sequence[float]
    compared_by: str = "difference"
    better: str = "lower"
    planned: int | None = None
    """Seeds of the first plan; None for as many as there are."""
    least_effect: float | None = None
    """None for 1 % of a ratio, and for no least effect of a difference."""


class Verdict(NamedTuple):
    """One row of a judged table."""

    p_size: float
    """Looks included, before Holm."""
    p_direction: float
    adjusted_size: float
    """After Holm over both p-values of all rows."""
    adjusted_direction: float
    size_side: int
    direction_side: int
    word: str
    p_for: float
    """Of the finding "the other is better", before any correction."""
    p_against: float


def verdicts_of(table: Sequence[Comparison]) -> list[Verdict]:
    """Return the verdicts on one table of comparisons, which is one family."""
    whole, plans = [], []
    for row in table:
        count, planned = len(row.baseline), len(row.baseline) if row.planned is None else row.planned
        whole.append(seen_in(row, count))
        plans.append(at_look(whole[-1], at_plan(seen_in(row, planned)) if count >= planned else None))
    p = np.array([[float(one.size) for one in plans], [float(one.direction) for one in plans]])
    adjusted = holm(p.reshape(-1)).reshape(p.shape)
    return [
        Verdict(
            p_size=float(one.size),
            p_direction=float(one.direction),
            adjusted_size=float(size),
            adjusted_direction=float(direction),
            size_side=int(one.size_side),
            direction_side=int(one.direction_side),
            word=_word(float(size), float(direction), one) or _no_word(row, seen),
            p_for=float(on_side(one, 1)),
            p_against=float(on_side(one, -1)),
        )
        for row, seen, one, size, direction in zip(table, whole, plans, *adjusted, strict=True)
    ]


def seen_in(row: Comparison, count: int) -> Seen:
    """Return one comparison at its first seeds."""
    pairs = [
        (float(a), float(b))
        for a, b in zip(row.baseline[:count], row.other[:count], strict=True)
        if not (math.isnan(a) or math.isnan(b))
    ]
    sign = 1.0 if row.better == "lower" else -1.0
    finite = [abs(value) for one in pairs for value in one if math.isfinite(value)]
    rounding = ROUNDING * max(finite, default=0.0)
    wins = sum(sign * a > sign * b and abs(a - b) > rounding for a, b in pairs)
    losses = sum(sign * a < sign * b and abs(a - b) > rounding for a, b in pairs)
    least = 0.0 if row.compared_by == "ratio" else -math.inf
    sized = all(math.isfinite(value) and value > least for one in pairs for value in one)
    if not sized or not pairs:
        return Seen(*map(np.asarray, (len(pairs), 0.0, 0.0, wins, losses, sized)))
    values = [sign * (math.log(a / b) if row.compared_by == "ratio" else a - b) for a, b in pairs]
    mean = math.fsum(values) / len(values) if wins or losses else 0.0
    spread = 0.0
    if max(values) - min(values) > (ROUNDING if row.compared_by == "ratio" else rounding):
        spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return Seen(*map(np.asarray, (len(pairs), mean, spread, wins, losses, sized)))


def _word(size: float, direction: float, both: PairOfTests) -> str:
    """Return the word that two corrected p-values earn, or nothing."""
    sides = {1: "better", -1: "worse", 0: ""}
    average = sides[int(both.size_side)] if size < ALPHA else ""
    most = sides[int(both.direction_side)] if direction < ALPHA else ""
    if average and most:
        return average if average == most else f"{average} on average, {most} on most seeds"
    if average:
        return f"{average} on average"
    return f"{most} on most seeds" if most else ""


def _no_word(row: Comparison, seen: Seen) -> str:
    """Return "equal" if the 90 % interval of the size lies within the least effect, else "undecided".

    Values without a spread have an interval where the test that replaces t has a p below 10 %.
    """
    ratio = row.compared_by == "ratio"
    least = RATIO_LEAST_EFFECT if ratio and row.least_effect is None else row.least_effect
    pairs, spread = int(seen.pairs), float(seen.spread)
    if least is None or not seen.sized or pairs < 2 or (spread == 0 and 2.0 ** (1 - pairs) >= 0.1):
        return "undecided"
    reach = special.stdtrit(pairs - 1, 0.95) * spread / math.sqrt(pairs)
    return "equal" if abs(float(seen.mean)) + reach < (math.log1p(least) if ratio else least) else "undecided"
