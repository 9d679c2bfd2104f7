"""How often intervals hold the truth, and tests reject it: by law, number of seeds and method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.statistics.rate import Rate
from workbench.studies.statistics import compare, equivalent_mean, mean_interval, superior
from workbench.studies.statistics.estimand import Method
from workbench.studies.statistics.over_cases import over_cases

Draw = Callable[[np.random.Generator, int], np.ndarray]
LAWS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda draws, size: draws.normal(0, 1, size), 0.0),
    "exponential": (lambda draws, size: draws.exponential(1, size), 1.0),
    "lognormal": (lambda draws, size: draws.lognormal(0, 1, size), float(np.exp(0.5))),
}
"""How a value is drawn, and its mean."""
RARE = 0.05
"""The share of seeds that differ, in the world where nearly all are equal."""


def held(law: str, method: str, seeds: int, repetitions: int) -> Rate:
    """How often the interval of the mean holds it."""
    draw, mean = LAWS[law]
    draws = np.random.default_rng([seeds, len(law)])
    result = (mean_interval(draw(draws, seeds), method=method, seed=k) for k in range(repetitions))  # type: ignore[arg-type]
    return Rate(sum(one.low <= mean <= one.high for one in result), repetitions)


def held_where_few_differ(seeds: int, repetitions: int, rare: float = RARE) -> Rate:
    """How often the interval holds the mean difference where one seed in twenty differs, by a tenth of the range."""
    draws = np.random.default_rng(seeds)

    def holds() -> bool:
        result = compare(*_few_differ(draws, seeds, rare)).interval
        return bool(result.low <= 10 * rare <= result.high)

    return Rate(sum(holds() for _ in range(repetitions)), repetitions)


def false_inside_where_few_differ(seeds: int, repetitions: int, rare: float = RARE) -> Rate:
    """How often the mean difference is said to lie in a band that ends at it."""
    draws, inside = np.random.default_rng(seeds), 0
    for _ in range(repetitions):
        baseline, other = _few_differ(draws, seeds, rare)
        span = float(np.ptp(np.concatenate([baseline, other])))
        inside += equivalent_mean(baseline - other, (-10 * rare, 10 * rare), span=span).place == "inside"
    return Rate(inside, repetitions)


def _few_differ(draws: np.random.Generator, seeds: int, rare: float) -> tuple[np.ndarray, np.ndarray]:
    baseline = draws.integers(1000, 1100, seeds).astype(float)
    return baseline, baseline - 10.0 * (draws.random(seeds) < rare)


def rejected(law: str, test: str, seeds: int, repetitions: int) -> Rate:
    """How often a test of paired differences with true mean 0 rejects at 5 %."""
    draw, mean = LAWS[law]
    draws = np.random.default_rng([seeds, len(law), len(test)])
    result = (compare(1000 + draw(draws, seeds) - mean, np.full(seeds, 1000.0)) for _ in range(repetitions))
    return Rate(sum(getattr(one, test).p_value < 0.05 for one in result), repetitions)


def rejected_by(method: Method, seeds: int, repetitions: int) -> Rate:
    """How often a comparison of values with lognormal noise rejects at 5 % where its own estimand is 0.

    The other policy's value is the baseline's times a lognormal factor, of geometric mean 1 for `log_ratio` and of mean
    1 for what estimates a mean; both sides are lognormal.
    """
    draws = np.random.default_rng([seeds, *method.encode()])
    centre = 0.0 if method == "log_ratio" else -0.5

    def rejects() -> bool:
        baseline = draws.lognormal(3, 0.5, seeds)
        factor = draws.lognormal(centre, 1, seeds)
        return bool(compare(baseline, baseline * factor, method=method).p_value < 0.05)

    return Rate(sum(rejects() for _ in range(repetitions)), repetitions)


def disagreements(seeds: int, repetitions: int) -> Rate:
    """How often interval, sign, p-value and verdict of one comparison say different things."""
    draws, apart = np.random.default_rng(seeds), 0
    for k in range(repetitions):
        draw, mean = LAWS[[*LAWS][k % len(LAWS)]]
        one = compare(1000 + draw(draws, seeds) - mean * (k % 2), np.full(seeds, 1000.0))
        clear = one.interval.above(0) or one.interval.below(0)
        word = over_cases([superior("", "", one)]).word
        settings = {"holds": one.interval.above(0), "contradicted": one.interval.below(0), "undecided": not clear}
        apart += clear != (one.p_value < 0.05) or not settings[word]
    return Rate(apart, repetitions)
