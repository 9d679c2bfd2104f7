"""Whether the random streams of different seeds are independent: `workbench.streams`, tested once.

Each test has a p-value that is uniform if the streams are independent. Holm's method corrects over all tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from benchmarks.statistics.pair import holm
from workbench.streams import Streams

BLOCKS = {"0 to 999": range(1000), "1,000,000 to 1,000,999": range(1_000_000, 1_001_000)}
NAME, OTHER_NAME = "arrivals", "sizes"
DRAWS = 1000
CELLS = 50


class Tested(NamedTuple):
    """One test of independence."""

    seeds: str
    test: str
    statistic: float
    p: float
    adjusted: float = 1.0
    """After Holm over all tests."""


def table(streams: Callable[[int], Streams] = Streams) -> list[Tested]:
    """Return all tests of all blocks of seeds."""
    drawn = {block: _drawn(streams, seeds, NAME) for block, seeds in BLOCKS.items()}
    named = {block: _drawn(streams, seeds, OTHER_NAME) for block, seeds in BLOCKS.items()}
    tested = [one for block, values in drawn.items() for one in _of_block(block, values, named[block])]
    first, second = drawn.values()
    both = " with ".join(BLOCKS)
    tested += [
        Tested(both, "correlation of first draws", *_correlation(first[:, 0], second[:, 0])),
        Tested(both, "correlation of sums", *_correlation(first.sum(axis=1), second.sum(axis=1))),
        Tested(both, "correlations of all pairs of streams", *_all_pairs(first, second)),
    ]
    adjusted = holm(np.array([one.p for one in tested]))
    return [one._replace(adjusted=float(p)) for one, p in zip(tested, adjusted, strict=True)]


def rows() -> Iterator[dict[str, str]]:
    """Yield the rows of `data/statistics.csv`."""
    for one in table():
        yield {"world": one.seeds, "case": one.test, "statistic": f"{one.statistic:.4g}", "p": f"{one.p:.4g}"} | {
            "p after Holm": f"{one.adjusted:.4g}"
        }


def _drawn(streams: Callable[[int], Streams], seeds: range, name: str) -> np.ndarray:
    """Return the first draws of one stream of each seed."""
    return np.array([streams(seed).uniforms(name, DRAWS) for seed in seeds])


def _of_block(block: str, values: np.ndarray, others: np.ndarray) -> Iterator[Tested]:
    first, sums = values[:, 0], values.sum(axis=1)
    yield Tested(block, "chi-square of first draws", *_chi_square(first))
    yield Tested(block, "chi-square of sums", *_chi_square(special.ndtr(_standard(sums))))
    yield Tested(block, "spread of sums", *_spread(_standard(sums)))
    for what, one in (("first draws", first), ("sums", sums)):
        yield Tested(block, f"correlation of {what}, seed with next seed", *_correlation(one[:-1], one[1:]))
        yield Tested(block, f"runs of {what}, seed by seed", *_runs(one > np.median(one)))
    yield Tested(block, "correlation of sums of two names", *_correlation(sums, others.sum(axis=1)))
    yield Tested(block, "correlations of all pairs of streams", *_all_pairs(values, values))


def _standard(sums: np.ndarray) -> np.ndarray:
    """Return sums of uniform draws in standard deviations from what is expected."""
    return (sums - DRAWS / 2) / math.sqrt(DRAWS / 12)


def _chi_square(values: np.ndarray) -> tuple[float, float]:
    """Return the test of equal counts in `CELLS` cells of numbers from 0 to 1."""
    result = stats.chisquare(np.bincount((values * CELLS).astype(int), minlength=CELLS))
    return float(result.statistic), float(result.pvalue)


def _spread(standard: np.ndarray) -> tuple[float, float]:
    """Return the two-sided test that the variance is 1: seeds that share draws make it too large or too small."""
    total = float(np.square(standard).sum())
    below = float(special.chdtr(len(standard), total))
    return total / len(standard), min(1.0, 2 * min(below, 1 - below))


def _correlation(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    result = stats.pearsonr(one, other)
    return float(result.statistic), float(result.pvalue)


def _runs(above: np.ndarray) -> tuple[float, float]:
    """Return the test of Wald and Wolfowitz of the number of runs."""
    many, few = int(above.sum()), int((~above).sum())
    runs, count = 1 + int((above[1:] != above[:-1]).sum()), many + few
    mean = 1 + 2 * many * few / count
    deviation = math.sqrt((mean - 1) * (mean - 2) / (count - 1))
    return float(runs), float(2 * special.ndtr(-abs(runs - mean) / deviation))


def _all_pairs(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return the largest correlation of any stream of one block with any of the other, and its p over all pairs."""
    count = one.shape[1]
    scaled = [(block - block.mean(axis=1, keepdims=True)) / block.std(axis=1, keepdims=True) for block in (one, other)]
    r = np.clip(np.abs(scaled[0] @ scaled[1].T / count), 0, 1 - 1e-12)
    pairs = r[np.triu_indices(len(r), 1)] if one is other else r.ravel()
    largest = float(pairs.max())
    alone = 2 * float(special.stdtr(count - 2, -largest * math.sqrt((count - 2) / (1 - largest**2))))
    return largest, -math.expm1(len(pairs) * math.log1p(-alone))
