"""Correlated: durations that rise or fall with the sizes, under an unchanged law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.levers import lever
from workbench.levers.family import family_schema
from workbench.workloads.synthetic.laws.law import Law
from workbench.workloads.synthetic.laws.uniform import Uniform

_BELOW_ONE = np.nextafter(1.0, 0.0)
_ABOVE_ZERO = 2.0**-54


class Correlated(Law):
    """Durations of a law whose ranks are correlated with the ranks of the sizes (a Gaussian copula).

    With u the rank of the size, v a rank of its own and r = 2 sin(pi s / 6), the duration is the law's number at rank
    Phi(r PhiInverse(u) + sqrt(1 - r^2) PhiInverse(v)). The ranks then have Spearman's correlation s, while how often
    each duration comes is the law's at every s: what changes between two correlations is the correlation alone. At 0
    the durations are those of the law alone, to the bit. Whole numbers tie, which takes a little from the correlation
    that is measured on them. The normal distribution comes from SciPy, as in `log_normal`.

    References
    ----------
    spec 1, section 6: run-time law {uniform, exponential, correlated with size}. Kruskal, Ordinal measures of
    association, J. Am. Stat. Assoc. 53 (1958), for Spearman's correlation of a normal pair.

    Examples
    --------
    >>> law = Correlated(law={"uniform": [1, 100]}, rank_correlation=1)
    >>> own, sizes = np.array([0.1, 0.9]), np.array([0.75, 0.25])
    >>> law.draw(law.ranks(own, sizes))
    array([76, 26])
    """

    law: Law = lever(Uniform(low=1, high=100), description="how often each duration comes")
    rank_correlation: float = lever(
        0.8, least=-1, most=1, step=0.05, description="Spearman's correlation with the size"
    )

    def check(self) -> None:
        if isinstance(self.law, Correlated):
            raise InputError("correlated.law must be another law than correlated itself.")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return self.law.draw(ranks)

    def span(self) -> tuple[int, int]:
        return self.law.span()

    def ranks(self, own: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        if self.rank_correlation == 0:
            return own
        from scipy.special import ndtr, ndtri

        r = _normal_correlation(self.rank_correlation)
        normal = r * ndtri(np.maximum(sizes, _ABOVE_ZERO))
        normal += math.sqrt(1 - r * r) * ndtri(np.maximum(own, _ABOVE_ZERO))
        return np.minimum(ndtr(normal), _BELOW_ONE)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema, where the law inside is any but this one."""
        inside = {**family_schema(Law, without=[cls.name]), "description": cls.levers["law"].description}
        levers = {"law": inside, "rank_correlation": cls.levers["rank_correlation"].schema()}
        return {"type": "object", "additionalProperties": False, "properties": levers}


def _normal_correlation(rank_correlation: float) -> float:
    """Return the correlation of two normal numbers whose ranks have a given one; exact at both ends."""
    return rank_correlation if abs(rank_correlation) == 1 else 2 * math.sin(math.pi * rank_correlation / 6)
