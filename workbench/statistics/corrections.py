"""What p-values are worth among many: over a family of tests, and over looks at a growing sample.

Over a family there are Holm's correction and the false discovery rate. Over looks: whoever stops when a verdict looks
right has looked many times, and one of many tests errs more often than each of them. Of ten looks at 5 %, one is wrong
in a fifth of all studies without effect. The chance that any look shows a p-value as small as the one that is seen is
counted out, path by path, and takes its place.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from itertools import accumulate
from typing import NamedTuple, TypeVar

import numpy as np

from workbench.errors import wrong_value
from workbench.statistics.interval import check_open

Name = TypeVar("Name", bound=Hashable)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Holm 1979); equal p-values stay equal.

    The smallest p is multiplied by the number of tests, the next by one less and so on, none falls below its
    predecessor, none exceeds 1. Rejecting what is below alpha then makes any false rejection in the whole family no
    more likely than alpha, however the tests depend on each other.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    References
    ----------
    spec 1, section 6: "Holm correction over the family".

    Examples
    --------
    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    {'a': 0.03, 'b': 0.06, 'c': 0.06, 'd': 0.02}
    """
    ascending = sorted(_checked(p_values), key=lambda name: p_values[name])
    weighted = (min(1.0, (len(ascending) - k) * p_values[name]) for k, name in enumerate(ascending))
    adjusted = dict(zip(ascending, accumulate(weighted, max)))
    return {name: adjusted[name] for name in p_values}


def false_discovery(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Compute the adjusted p-value of every test, in the order given (Benjamini and Hochberg 1995, by SciPy).

    Rejecting what is below alpha then makes the expected share of false ones among the rejected at most alpha, where
    the tests are independent or depend on each other positively, as cells of a map do. It rejects more than `holm`,
    which bounds the chance of any false rejection at all.

    Raises
    ------
    InputError
        A p-value outside [0, 1] or NaN.

    Examples
    --------
    >>> adjusted = false_discovery({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    >>> {name: round(p, 9) for name, p in adjusted.items()}
    {'a': 0.02, 'b': 0.04, 'c': 0.04, 'd': 0.02}
    """
    from scipy.stats import false_discovery_control

    if not _checked(p_values):
        return {}
    return dict(zip(p_values, false_discovery_control([*p_values.values()]).tolist(), strict=True))


def _checked(p_values: Mapping[Name, float]) -> Mapping[Name, float]:
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise wrong_value("", f"the p-value of {name}", "must be a number from 0 to 1", p)
    return p_values


class Looks(NamedTuple):
    """The numbers of seeds at which results are looked at, rising.

    References
    ----------
    [1] Pocock (1977), Biometrika 64: equal levels at every look.
    [2] Armitage, McPherson and Rowe (1969), J. R. Stat. Soc. A 132: the chance, from look to look.
    [3] Jennison and Turnbull (1989), J. R. Stat. Soc. B 51: repeated intervals hold for any stopping rule.

    Examples
    --------
    >>> round(Looks((20, 40, 60, 80, 100)).p_value(0.01), 3), Looks((100,)).p_value(0.01)
    (0.021, 0.01)
    """

    counts: tuple[int, ...]

    def p_value(self, p: float) -> float:
        """Return the chance that any look shows a two-sided p-value of the sign test as small as one that was seen.

        It is never below that; ties make it smaller, not larger. NaN stays NaN.

        Raises
        ------
        InputError
            Counts that do not rise.
        """
        if not self.counts or min(np.diff(self.counts, prepend=0)) <= 0:
            raise wrong_value("", "looks", "must be numbers that rise", list(self.counts))
        if len(self.counts) == 1 or not p < 1:
            return p
        return max(p, chance_of_any(self.counts, p))

    def level(self, level: float) -> float:
        """Return the level of the interval at each look with which all of them hold together at a level.

        Raises
        ------
        InputError
            A level outside (0, 1), or counts that do not rise.

        Examples
        --------
        >>> round(Looks((20, 40, 60, 80, 100)).level(0.95), 4), Looks((100,)).level(0.95)
        (0.979, 0.95)
        """
        check_open(level, "level")
        if len(self.counts) == 1:
            return level
        low, high = (1 - level) / len(self.counts), 1 - level
        for _ in range(40):
            tried = (low + high) / 2
            low, high = (tried, high) if self.p_value(tried) <= 1 - level else (low, tried)
        return 1 - low


@functools.lru_cache(maxsize=4096)
def chance_of_any(counts: tuple[int, ...], p: float) -> float:
    """Return the chance that the sign test of pairs without ties has a p-value of at most `p` at any look.

    The number of pairs above 0 is followed from look to look over the paths that no look has ended yet.

    >>> round(chance_of_any((6,), 0.04), 9), round(chance_of_any((6, 7), 0.04), 9)  # all 7 alike are all 6 alike
    (0.03125, 0.03125)
    """
    from scipy.special import bdtr
    from scipy.stats import binom

    paths, before, ended = np.ones(1), 0, 0.0
    for count in counts:
        step = count - before
        paths = np.convolve(paths, binom.pmf(np.arange(step + 1), step, 0.5))
        above = np.arange(count + 1)
        ends = np.minimum(1.0, 2 * bdtr(np.minimum(above, count - above), count, 0.5)) <= p * (1 + 1e-12)
        ended += float(paths[ends].sum())
        paths, before = np.where(ends, 0.0, paths), count
    return ended
