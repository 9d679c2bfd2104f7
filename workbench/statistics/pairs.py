"""Two samples joined seed by seed: values that belong together are a pair, and what has no partner is named."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, shown, wrong_value
from workbench.statistics.interval import as_numbers

BITS_KEPT = 40
"""A difference is known to this many bits of the largest value (a part in 10^12): below, it is rounding."""


class Pairs(NamedTuple):
    """Two policies' values on the same seeds."""

    seeds: tuple[Hashable, ...]
    """The seeds that both have, in natural order."""
    baseline: np.ndarray
    """float64[n], in the order of the seeds."""
    other: np.ndarray
    """float64[n], in the order of the seeds."""
    missing: tuple[Hashable, ...]
    """The seeds that lack a value on one side or on both, in natural order."""

    def differences(self) -> np.ndarray:
        """Return baseline - other: float64[n].

        Infinite values are the worst there are: of two there is no difference (0), and one alone differs infinitely.
        Whole numbers are subtracted as they are. Other values carry rounding, and a difference that is rounding alone
        must not count as a win or break a tie: those are rounded to 2^-40 of the largest value of the sample.
        """
        both = np.isinf(self.baseline) & (self.baseline == self.other)
        with np.errstate(invalid="ignore"):
            raw = np.where(both, 0.0, self.baseline - self.other)
        values = np.concatenate([self.baseline, self.other])
        values = values[np.isfinite(values)]
        if not values.size or (values == np.floor(values)).all():
            return raw
        _, exponent = np.frexp(np.abs(values).max())
        return np.ldexp(np.rint(np.ldexp(raw, BITS_KEPT - exponent)), exponent - BITS_KEPT) + 0.0  # no -0.0


def pair(baseline: Any, other: Any) -> Pairs:
    """Pair the values by seed; NaN and None are values that are missing.

    Parameters
    ----------
    baseline, other : mapping from seed to number (dict, pandas Series), or array-like of numbers, shape (n,)
        Both of one kind. In rows the position is the seed, so both must be as long.

    Raises
    ------
    InputError
        Rows of different lengths, a mapping with a row, a seed twice, or no seed in common although both have values.
        Seeds that both name and of which each lacks a value on one side are no mistake: runs fail, and then there is no
        pair.

    Examples
    --------
    >>> pair({1: 10, 2: 20, 3: 30}, {2: 18, 3: None, 4: 40})
    Pairs(seeds=(2,), baseline=array([20.]), other=array([18.]), missing=(1, 3, 4))
    """
    left, right = _by_seed(baseline, "baseline"), _by_seed(other, "other")
    if hasattr(baseline, "items") != hasattr(other, "items"):
        raise InputError("baseline and other must both map seeds to values, or both be rows. Got one of each.")
    if not hasattr(baseline, "items") and len(left) != len(right):
        raise InputError(
            f"rows must have one value a seed each. Got {len(left)} and {len(right)} values. "
            "Give mappings from seed to value to pair what both have."
        )
    seeds = sorted(left.keys() | right.keys(), key=_natural)
    return _paired(seeds, left, right)


def _paired(seeds: list[Hashable], left: dict[Hashable, float], right: dict[Hashable, float]) -> Pairs:
    nan = float("nan")
    values = np.array([[left.get(seed, nan), right.get(seed, nan)] for seed in seeds]).reshape(-1, 2)
    known = ~np.isnan(values)
    both = known.all(axis=1)
    if known.any(axis=0).all() and not left.keys() & right.keys():
        raise InputError("baseline and other have no seed in common. Got no pair. Run both with the same seeds.")
    kept = values[both]
    common = tuple(seed for seed, has in zip(seeds, both) if has)
    missing = tuple(seed for seed, has in zip(seeds, both) if not has)
    return Pairs(common, kept[:, 0].copy(), kept[:, 1].copy(), missing)


def _by_seed(given: Any, name: str) -> dict[Hashable, float]:
    seeds_and_values = _items(given, name)
    numbers = as_numbers([value for _, value in seeds_and_values], name)
    by_seed: dict[Hashable, float] = {}
    for (seed, _), number in zip(seeds_and_values, numbers.tolist()):
        if seed in by_seed:
            raise InputError(f"{name} must have one value a seed. Got seed {shown(seed)} twice.")
        by_seed[seed] = number
    return by_seed


def _items(given: Any, name: str) -> list[tuple[Hashable, Any]]:
    try:
        return list(given.items() if hasattr(given, "items") else enumerate(given))
    except TypeError:
        raise wrong_value("", name, "must map seeds to values, or be a row of numbers", given) from None


def _natural(seed: Hashable) -> tuple[int, str]:
    """Return a key that orders 2 before 10, whatever order the rows finished in; the order decides what the bootstrap
    draws."""
    return len(str(seed)), str(seed)
