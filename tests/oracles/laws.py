"""How often each number comes under a law, from its definition, and inversion by walking along it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any

Weights = Iterator[tuple[int, float]]
"""Numbers in rising order, each with its probability."""

NOTHING_LEFT = 70
"""Means after which a memoryless law has less than 10^-30 left."""


def constant(value: int) -> Weights:
    yield value, 1.0


def uniform(low: int, high: int) -> Weights:
    for number in range(low, high + 1):
        yield number, 1 / (high - low + 1)


def bimodal(small_share: float, small: dict[str, Any], large: dict[str, Any]) -> Weights:
    for share, part in ((small_share, small), (1 - small_share, large)):
        for number, weight in uniform(**part["uniform"]):
            if share > 0:
                yield number, share * weight


def powers_of_two(low: int, high: int) -> Weights:
    numbers = [2**k for k in range(64) if low <= 2**k <= high]
    for number in numbers:
        yield number, 1 / len(numbers)


def exponential(mean: float, most: int) -> Weights:
    whole = 1 - math.exp(-most / mean)
    for number in range(1, most + 1):
        if number > NOTHING_LEFT * mean:
            return
        yield number, (math.exp(-(number - 1) / mean) - math.exp(-number / mean)) / whole


def geometric(mean: float, most: int) -> Weights:
    ends = 1 / mean
    whole = 1 - (1 - ends) ** most
    for number in range(1, most + 1):
        if number > NOTHING_LEFT * mean:
            return
        yield number, ends * (1 - ends) ** (number - 1) / whole


def log_normal(median: float, sigma: float, least: int, most: int) -> Weights:
    def below(number: float) -> float:
        return NormalDist(math.log(median), sigma).cdf(math.log(number))

    whole = below(most + 0.5) - below(least - 0.5)
    for number in range(least, most + 1):
        yield number, (below(number + 0.5) - below(number - 0.5)) / whole


def log_uniform(low: int, high: int) -> Weights:
    """A real number between low and high + 1 whose logarithm is uniform, cut to a whole one."""
    whole = math.log((high + 1) / low)
    for number in range(low, high + 1):
        yield number, math.log((number + 1) / number) / whole


def empirical(outcomes: list[int], weights: list[float]) -> Weights:
    weights = weights or [1.0] * len(outcomes)
    for number in sorted(set(outcomes)):
        weight = sum(w for n, w in zip(outcomes, weights, strict=True) if n == number)
        if weight > 0:
            yield number, weight / sum(weights)


def sometimes(share: float, law: dict[str, Any]) -> Weights:
    ((name, levers),) = law.items()
    if share < 1:
        yield 0, 1 - share
    for number, weight in LAWS[name](**levers):
        if share > 0:
            yield number, share * weight


LAWS: dict[str, Callable[..., Weights]] = {
    "constant": constant,
    "uniform": uniform,
    "bimodal": bimodal,
    "powers_of_two": powers_of_two,
    "exponential": exponential,
    "geometric": geometric,
    "log_normal": log_normal,
    "log_uniform": log_uniform,
    "empirical": empirical,
    "sometimes": sometimes,
}


def weights_of(law: Any) -> list[tuple[int, float]]:
    """The numbers of a law in rising order, each with its probability."""
    return list(LAWS[law.name](**law.plain()))


def numbers_at(law: Any, rank: float, slack: float = 1e-12) -> set[int]:
    """The number at a rank, with its neighbours where the rank is within rounding of a step."""
    result, total = set(), 0.0
    for number, weight in weights_of(law):
        if total - slack <= rank < total + weight + slack:
            result.add(number)
        total += weight
    return result


def moments(law: Any) -> tuple[float, float]:
    """Mean and variance."""
    weights = weights_of(law)
    mean = sum(number * weight for number, weight in weights)
    return mean, sum((number - mean) ** 2 * weight for number, weight in weights)
