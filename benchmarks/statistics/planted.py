"""Planted worlds: what a claim's verdict says where the truth of every case is known."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from benchmarks.statistics.rate import Rate
from workbench.statistics import Finding, OverCases, compare, over_cases, superior

EFFECT = 1.0
"""In standard deviations of the paired differences, where there is one."""


def effects(world: str, cases: int) -> np.ndarray:
    """The true effect of every case: positive = the claim is true there."""
    planted = {
        "no effect": np.zeros(cases),
        "reversed": np.full(cases, -EFFECT),
        "effect in half the space": np.where(np.arange(cases) < cases // 2, EFFECT, 0.0),
        "one case reversed": np.where(np.arange(cases) == 0, -EFFECT, EFFECT),
    }
    return planted[world]


WORLDS = ("no effect", "reversed", "effect in half the space", "one case reversed")
LAWS = ("normal", "whole numbers", "skewed")


class World(NamedTuple):
    """What came of many studies of one world."""

    words: Counter[str]
    false_yes: Rate
    """`holds` where it does not hold everywhere, or a case on the map that it does not hold in."""
    false_no: Rate
    """`contradicted` where it is not everywhere, or a case against that is not reversed."""


def studies(world: str, cases: int, seeds: int, repetitions: int, family: int = 1, law: str = "normal") -> World:
    """Judge a claim of so many cases again and again, in a world where the truth is known."""
    truth, draws = effects(world, cases), np.random.default_rng([cases, seeds, WORLDS.index(world), LAWS.index(law)])
    words: Counter[str] = Counter()
    wrong_yes = wrong_no = 0
    for _ in range(repetitions):
        result = over_cases([_case(draws, effect, seeds, law) for effect in truth], family=family)
        words[result.word] += 1
        wrong_yes += _false_yes(result, truth)
        wrong_no += _false_no(result, truth)
    return World(words, Rate(wrong_yes, repetitions), Rate(wrong_no, repetitions))


def _case(draws: np.random.Generator, effect: float, seeds: int, law: str) -> Finding:
    baseline = draws.normal(1000, 20, seeds)
    noise = draws.exponential(1.0, seeds) - np.log(2) if law == "skewed" else draws.normal(0, 1, seeds)
    gain = 3 * (effect + noise)
    if law == "whole numbers":
        baseline, gain = np.rint(baseline), np.rint(gain)
    return superior("case", "", compare(baseline, baseline - gain))


def _false_yes(cases: OverCases, truth: np.ndarray) -> bool:
    some = any(side == "for" and effect <= 0 for side, effect in zip(cases.sides, truth, strict=True))
    return some or (cases.word == "holds" and bool((truth <= 0).any()))


def _false_no(cases: OverCases, truth: np.ndarray) -> bool:
    some = any(side == "against" and effect >= 0 for side, effect in zip(cases.sides, truth, strict=True))
    return some or (cases.word == "contradicted" and bool((truth >= 0).any()))
