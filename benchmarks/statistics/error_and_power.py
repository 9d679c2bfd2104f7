"""Error and power of the sign test of a median, of t and of Wilcoxon's test, after Holm's correction over a family.

`python -m benchmarks.statistics.error_and_power` writes `data/statistics.csv`, one row a cell: a world, a number of
seeds, a family. Errors are studies in which any comparison of the family is called better or worse though none differs;
power is the share of studies in which the one comparison with an effect is, the others of its family having none (so
that Holm multiplies its p by their number).
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import special, stats

FILE = Path("data/statistics.csv")
SEEDS, FAMILIES = (10, 20, 40, 200), (1, 10, 30, 100)
REPETITIONS = 4000
ALPHA = 0.05
RESAMPLES = 1999
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _ties(draws: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    return np.rint(draws.normal(0, 0.7, size))


def _edge(draws: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Return differences of which half are above 0 and fewer below: 0 is a median still, at the edge."""
    return np.asarray(draws.choice([1.0, 0.0, -1.0], size, p=[0.5, 0.2, 0.3]))


def _rare(draws: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    return np.where(draws.random(size) < 0.05, draws.exponential(20, size), 0.0)


def _infinite(draws: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    return np.where(draws.random(size) < 0.2, np.inf, draws.normal(-special.ndtri(0.625), 1, size))


WORLDS: dict[str, Draw] = {
    "normal": lambda draws, size: draws.normal(0, 1, size),
    "t3": lambda draws, size: draws.standard_t(3, size),
    "exponential": lambda draws, size: draws.exponential(1, size) - np.log(2),
    "exponential, mirrored": lambda draws, size: np.log(2) - draws.exponential(1, size),
    "lognormal": lambda draws, size: draws.lognormal(0, 1, size) - 1,
    "lognormal, mirrored": lambda draws, size: 1 - draws.lognormal(0, 1, size),
    "ties": _ties,
    "ties, at the edge": _edge,
    "rare events": _rare,
    "bounded": lambda draws, size: draws.beta(2, 5, size) - special.betaincinv(2, 5, 0.5),
    "infinite": _infinite,
    "constant": lambda draws, size: np.zeros(size),
}
"""Paired differences whose median is 0."""
WITH_EFFECT: dict[str, tuple[float, float]] = {
    "normal": (0.0, 1.0),
    "t3": (0.0, float(np.sqrt(3))),
    "exponential": (1 - float(np.log(2)), 1.0),
    "lognormal": (float(np.exp(0.5)) - 1, float(np.sqrt((np.e - 1) * np.e))),
}
"""The worlds that effects are added to: their mean and their standard deviation."""
EFFECTS = (0.5, 1.0, 2.0)
"""In standard deviations of the differences."""


class Cell(NamedTuple):
    """One row of the table."""

    table: str
    """`error of the median`, `power`, or `error of the mean`."""
    world: str
    test: str
    effect: float
    """In standard deviations."""
    seeds: int
    family: int
    rate: float
    studies: int
    above: bool
    """Of an error: whether it is above 5 % by more than chance (exact one-sided binomial test at 5 %)."""


def sign_p(differences: np.ndarray) -> np.ndarray:
    """Return the p-values of the sign test of each row, a tie being on neither side."""
    count = differences.shape[1]
    most = np.maximum((differences > 0).sum(axis=1), (differences < 0).sum(axis=1))
    return np.minimum(1.0, 2 * special.bdtr(count - most, count, 0.5))


def student_p(differences: np.ndarray) -> np.ndarray:
    """Return the p-values of Student's test of each row; 1 where all are equal to 0."""
    count, mean, spread = differences.shape[1], differences.mean(axis=1), differences.std(axis=1, ddof=1)
    t = np.divide(mean * np.sqrt(count), spread, out=np.where(mean == 0, 0.0, np.inf), where=spread > 0)
    return np.asarray(2 * special.stdtr(count - 1, -np.abs(t)))


def wilcoxon_p(differences: np.ndarray) -> np.ndarray:
    """Return the p-values of Wilcoxon's test of each row, exact up to 50 seeds."""
    return np.asarray(
        stats.wilcoxon(differences, axis=1, method="exact" if differences.shape[1] <= 50 else "asymptotic").pvalue
    )


def bootstrap_p(differences: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the p-values of the studentised bootstrap of each row, symmetric; every row is resampled alike.

    Parameters
    ----------
    weights : array, shape (resamples, seeds)
        How often each seed is drawn.
    """
    count = differences.shape[1]
    mean, spread = differences.mean(axis=1), differences.std(axis=1)
    means = differences @ weights.T / count
    spreads = np.sqrt(np.maximum((differences**2) @ weights.T / count - means**2, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.abs(means - mean[:, None]) / spreads
        seen = np.abs(mean) / spread
    return np.asarray((1 + (drawn >= seen[:, None]).sum(axis=1)) / (1 + len(weights)))


TESTS = {"sign": sign_p, "t": student_p, "wilcoxon": wilcoxon_p}


def errors_of_the_median(repetitions: int) -> Iterator[Cell]:
    """Yield the error of the sign test in every world without effect."""
    for world, draw in WORLDS.items():
        for seeds in SEEDS:
            draws = np.random.default_rng([*world.encode(), seeds])
            p = np.array([sign_p(draw(draws, (repetitions, seeds))) for _ in range(max(FAMILIES))])
            for family in FAMILIES:
                yield _error("error of the median", world, "sign", seeds, family, p[:family].min(axis=0) * family)


def _error(table: str, world: str, test: str, seeds: int, family: int, p: np.ndarray) -> Cell:
    wrong, studies = int((p < ALPHA).sum()), len(p)
    by_chance = stats.binomtest(wrong, studies, ALPHA, alternative="greater").pvalue if wrong else 1.0
    return Cell(table, world, test, 0.0, seeds, family, wrong / studies, studies, by_chance < ALPHA)


def powers(repetitions: int) -> Iterator[Cell]:
    """Yield how often an effect is told, by the three tests."""
    for world, (_, deviation) in WITH_EFFECT.items():
        for seeds in SEEDS:
            draws = np.random.default_rng([*world.encode(), seeds, 1])
            none = WORLDS[world](draws, (repetitions, seeds))
            for effect in EFFECTS:
                for test, p_of in TESTS.items():
                    p = p_of(none + effect * deviation)
                    for family in FAMILIES:
                        told = float((p * family < ALPHA).mean())
                        yield Cell("power", world, test, effect, seeds, family, told, repetitions, False)


def errors_of_the_mean(repetitions: int) -> Iterator[Cell]:
    """Yield error and power of the two tests of a mean, in worlds whose mean is 0, and shifted from there."""
    for world, (mean, deviation) in WITH_EFFECT.items():
        for seeds in SEEDS[1:]:
            draws = np.random.default_rng([*world.encode(), seeds, 2])
            weights = draws.multinomial(seeds, np.full(seeds, 1 / seeds), RESAMPLES).astype(float)
            tests = {"t": student_p, "studentised bootstrap": lambda d, w=weights: bootstrap_p(d, w)}
            samples = [WORLDS[world](draws, (repetitions, seeds)) - mean for _ in range(FAMILIES[1])]
            for test, p_of in tests.items():
                p = np.array([p_of(one) for one in samples])
                for family in FAMILIES[:2]:
                    yield _error("error of the mean", world, test, seeds, family, p[:family].min(axis=0) * family)
                shifted = p_of(samples[0] + EFFECTS[0] * deviation)
                for family in FAMILIES[:2]:
                    told = float((shifted * family < ALPHA).mean())
                    yield Cell("power of the mean", world, test, EFFECTS[0], seeds, family, told, repetitions, False)


def main(repetitions: int) -> None:
    """Write the table."""
    cells = [*errors_of_the_median(repetitions), *powers(repetitions), *errors_of_the_mean(repetitions)]
    with FILE.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Cell._fields)
        table.writerows([*one[:6], f"{one.rate:.5g}", one.studies, int(one.above)] for one in cells)
    errors = [one for one in cells if one.table == "error of the median"]
    largest, above = max(one.rate for one in errors), sum(one.above for one in errors)
    print(f"{len(errors)} cells; the largest error {largest:.4f}; {above} above 5 % by more than chance")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
