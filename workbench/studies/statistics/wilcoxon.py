"""Do paired differences lie around zero? Wilcoxon's signed-rank test, exact with ties and zeros."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import unknown_name
from workbench.studies.statistics.sample import ranked_sample
from workbench.studies.statistics.significance import NO_TEST, Significance

Zeros = Literal["pratt", "wilcox"]
"""How differences of zero count: `pratt` ranks them and then drops their ranks, `wilcox` drops them before ranking."""

EXACT_UP_TO = 256
"""Non-zero differences up to which the null distribution is counted out: 1 ms at 200 of them, growing with the cube."""


class SignedRanks(NamedTuple):
    """The ranks of the non-zero differences by size."""

    ranks: np.ndarray
    """float64[nonzero], mid-ranks: equal sizes share the mean of their places."""
    plus: float
    """Sum of the ranks of the positive differences."""
    minus: float
    """Sum of the ranks of the negative differences."""

    @property
    def biserial(self) -> float:
        """Return the matched rank-biserial correlation (Kerby 2014), -1 to 1; 0 where no difference differs from
        zero."""
        total = self.plus + self.minus
        return (self.plus - self.minus) / total if total else 0.0


def wilcoxon(differences: Any, *, zeros: Zeros = "pratt") -> Significance:
    """Test that the differences are symmetric around zero, two-sided; the statistic is the rank sum of positive ones.

    Cycles are whole numbers, so ties and zeros are the rule. Up to `EXACT_UP_TO` non-zero differences the distribution
    over all sign patterns is counted out for the ranks as they are (shift algorithm, Streitberg and Roehmel 1986),
    which stays exact with ties and zeros; beyond, a normal approximation with the variance of these very ranks and
    continuity correction. Only zeros: no evidence, p = 1; no differences: no test, p = NaN.

    Parameters
    ----------
    differences : array-like of numbers, shape (n,)
        An infinite one has the largest rank.
    zeros : {"pratt", "wilcox"}
        `pratt` (Pratt 1959) lets zeros push the others up in rank; `wilcox` is Wilcoxon's own rule.

    Raises
    ------
    InputError
        A difference that is NaN, or an unknown rule for zeros.

    Examples
    --------
    >>> wilcoxon([1, 2, 3, 4, 5, 6])
    Significance(statistic=21.0, p_value=0.03125, method='exact', n=6)
    >>> wilcoxon([0, 0, 0])
    Significance(statistic=0.0, p_value=1.0, method='exact', n=0)

    References
    ----------
    spec 1, section 6: "a sign or Wilcoxon test".
    """
    values = ranked_sample(differences, "differences")
    signed = signed_ranks(values, zeros=zeros)
    count = signed.ranks.size
    if not values.size:
        return NO_TEST
    if count <= EXACT_UP_TO:
        return Significance(signed.plus, _exact_p(signed), "exact", count)
    return Significance(signed.plus, _normal_p(signed), "normal", count)


def signed_ranks(differences: Any, *, zeros: Zeros = "pratt") -> SignedRanks:
    """Rank the differences by size and add the ranks up on either side of zero.

    >>> signed_ranks([0, -1, 1, 3]).ranks, signed_ranks([0, -1, 1, 3], zeros="wilcox").ranks
    (array([2.5, 2.5, 4. ]), array([1.5, 1.5, 3. ]))
    """
    values = ranked_sample(differences, "differences")
    if zeros not in ("pratt", "wilcox"):
        raise unknown_name("", "rule for zeros", zeros, ("pratt", "wilcox"))
    nonzero = values[values != 0]
    _, place, counts = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    before = (values.size - nonzero.size) if zeros == "pratt" else 0
    ranks = (before + np.cumsum(counts) - (counts - 1) / 2)[place]
    return SignedRanks(ranks, float(ranks[nonzero > 0].sum()), float(ranks[nonzero < 0].sum()))


def _exact_p(signed: SignedRanks) -> float:
    scale = 1 if (signed.ranks % 1 == 0).all() else 2  # mid-ranks are halves at worst
    steps = np.sort(signed.ranks * scale).astype(np.int64)
    smaller = int(min(signed.plus, signed.minus) * scale)
    return min(1.0, 2 * float(_sums_up_to(steps, smaller).sum() / 2.0**steps.size))


def _sums_up_to(steps: np.ndarray, most: int) -> np.ndarray:
    """Return how many of all subsets of the steps add up to 0, 1 ... most: float64[most + 1]."""
    ways = np.zeros(most + 1)
    ways[0], reach = 1.0, 0
    for step in steps.tolist():
        if step > most:
            break  # steps ascend: no later one fits either
        reach = min(reach + step, most)
        ways[step : reach + 1] = ways[step : reach + 1] + ways[: reach + 1 - step]
    return ways


def _normal_p(signed: SignedRanks) -> float:
    from scipy.special import ndtr

    away = abs(signed.plus - signed.minus) / 2
    spread = np.sqrt((signed.ranks**2).sum()) / 2
    return float(2 * ndtr(-max(away - 0.5, 0.0) / spread))
