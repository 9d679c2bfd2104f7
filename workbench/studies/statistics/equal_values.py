"""What do values that are all equal say about those that were not seen? The rule of three, over the measure's range."""

from __future__ import annotations

import numpy as np

from workbench.studies.statistics.sample import check_open


def unseen_share(count: int, level: float) -> float:
    """Return the largest share of all seeds that may differ when none of `count` did, with a confidence of `level`.

    It solves `(1 - share) ** count == 1 - level` (Clopper and Pearson 1934), which is 3 / count at 95 %: the rule of
    three (Hanley and Lippman-Hand 1983).

    Examples
    --------
    >>> round(unseen_share(60, 0.95), 4), unseen_share(0, 0.95)
    (0.0487, 1.0)
    """
    check_open(level, "level")
    return 1.0 if count < 1 else float(1 - (1 - level) ** (1 / count))


def reach(count: int, level: float, span: float | None) -> float:
    """Return how far the mean may lie from `count` equal values, one way or the other.

    Parameters
    ----------
    count : int
        Values seen, all equal.
    level : float
        Confidence of the bound, 0 < level < 1.
    span : float or None
        How far apart two values can lie, in their unit. None or 0: nothing is known about it, and the bound is
        infinite.

    Examples
    --------
    >>> round(reach(60, 0.95, 10.0), 3), reach(60, 0.95, None)
    (0.487, inf)
    """
    if not span or not np.isfinite(span):
        return np.inf
    return unseen_share(count, level) * float(span)


def equal_p(count: int, distance: float, span: float | None) -> float:
    """Return the p-value against a mean that is `distance` away from `count` equal values.

    It is the chance that none of `count` seeds differs where so many must for the mean to be that far away.

    Examples
    --------
    >>> equal_p(5, 1.0, 2.0) == 0.5 ** 5, equal_p(200, 0.0, 2.0), equal_p(200, 1.0, None)
    (True, 1.0, 1.0)
    """
    if not span or not np.isfinite(span) or not count:
        return 1.0
    return float((1 - min(1.0, abs(distance) / span)) ** count)


def difference_span(first: np.ndarray, second: np.ndarray, differences: np.ndarray) -> float:
    """Return how far a paired difference can lie from those seen: both sides anywhere in the range of them all.

    >>> difference_span(np.zeros(3), np.ones(3), -np.ones(3)), difference_span(np.ones(3), np.ones(3), np.zeros(3))
    (2.0, 0.0)
    """
    span = span_of(first, second)
    return span + float(np.abs(differences).max(initial=0.0)) if span else 0.0


def span_of(*samples: np.ndarray) -> float:
    """Return how far apart the values of some samples lie: the range of a measure as far as it was seen."""
    seen = np.concatenate([np.asarray(one, float) for one in samples]) if samples else np.empty(0)
    seen = seen[np.isfinite(seen)]
    return float(seen.max() - seen.min()) if seen.size else 0.0
