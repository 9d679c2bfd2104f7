"""Laws from which sizes and durations are drawn: what numbers come, and how often?

All draw whole numbers, at least 1 but for two: `sometimes` and `constant: 0` draw nothing, for what need not be asked
for.

A law answers with its quantile function: ranks in [0, 1) in, whole numbers of at least 1 out, a higher rank never
giving a smaller number. Drawing is then inversion: one uniform rank a number. That has three consequences on purpose:

- the first n numbers are the same however many are drawn, so a longer queue begins with the shorter one;
- two laws asked with the same seed rise and fall together, so comparing them is paired;
- a duration can be made to depend on a size without changing either's law (`correlated`).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.levers import Family, lever
from workbench.levers.spec import family_schema
from workbench.workloads.synthetic.portable_math import power, waiting

LARGEST = 10**10
"""The largest number that a law may draw; ten million of them still add up in 63 bits."""


class Law(Family, noun="law", example="{uniform: [1, 32]}", bare="constant"):
    """The base of every law.

    The user's own law, in a file or a notebook cell, is a class with `quantile` and `span`:

    >>> from workbench.levers import lever
    >>> class Even(Law):
    ...     pairs: int = lever(16, least=1, most=100, description="the largest number is twice this")
    ...     def quantile(self, ranks):
    ...         return 2 + 2 * (ranks * self.pairs).astype(np.int64)
    ...     def span(self):
    ...         return 2, 2 * self.pairs
    >>> Law.read({"even": {"pairs": 4}}).draw(np.array([0.0, 0.5, 0.99]))
    array([2, 6, 8])
    >>> del Law.members["even"]
    """

    largest: ClassVar[str] = ""
    """The lever that bounds the numbers from above, where there is one."""

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        """Return the number at each rank: float64[count] in [0, 1) -> int64[count], rising with the rank."""
        raise NotImplementedError

    def span(self) -> tuple[int, int]:
        """Return the smallest and the largest number that can come."""
        raise NotImplementedError

    def ranks(self, own: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Draw the ranks at which durations are drawn: a stream of their own, whatever the ranks of the sizes were."""
        return own

    def check_least(self, path: str) -> None:
        """Refuse a law that may draw 0 where at least 1 is needed; `path` names the lever that holds it."""
        low, _ = self.span()
        if low < 1:
            raise InputError(f"{path} must draw at least 1. Got {self.short()}, which may draw {low}.")

    def draw(self, ranks: np.ndarray) -> np.ndarray:
        """Draw the numbers at some ranks; what a law that is not built in answers is checked.

        Raises
        ------
        InputError
            A number is below 1, above the law's own span, or not whole.
        """
        numbers = self.quantile(ranks)
        return numbers if self.built_in else self._checked(np.asarray(numbers), len(ranks))

    def nearest_within(self, most: int) -> str:
        """Return the one lever, with its value, that would keep the numbers up to a bound; empty where no one lever
        does.

        >>> Law.read({"exponential": 8}).nearest_within(128)
        'exponential.most = 128'
        """
        low, _ = self.span()
        return f"{self.name}.{self.largest} = {most}" if self.largest and low <= most else ""

    def _checked(self, numbers: np.ndarray, count: int) -> np.ndarray:
        low, high = self.span()
        if numbers.shape != (count,) or numbers.dtype.kind not in "iu":
            raise InputError(
                f"{self.name}.quantile must return int64[{count}]. Got {numbers.dtype}{list(numbers.shape)}."
            )
        if low < 1 or numbers.min(initial=low) < low or numbers.max(initial=high) > high:
            drawn = f"{numbers.min(initial=high)} to {numbers.max(initial=low)}"
            raise InputError(f"{self.name} must draw from its span ({low} to {high}), at least 1. Got {drawn}.")
        return numbers.astype(np.int64, copy=False)


class Uniform(Law):
    """Every whole number from `low` to `high`, ends included, equally often: U{low..high}.

    The number at rank u is low + floor(u (high - low + 1)).

    References
    ----------
    spec 1, E16: sizes U{1..32} and U{1..64}, run times U{1..100}.

    Examples
    --------
    >>> Uniform(low=1, high=4).draw(np.array([0.0, 0.3, 0.999]))
    array([1, 2, 4])
    """

    largest = "high"
    brief = ("low", "high")
    low: int = lever(1, least=1, most=LARGEST, description="the smallest number")
    high: int = lever(32, least=1, most=LARGEST, description="the largest number")

    def check(self) -> None:
        if self.high < self.low:
            raise wrong_value("", f"{self.name}.high", f"must be at least low ({self.low})", self.high, self.low)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return (ranks * (self.high - self.low + 1)).astype(np.int64) + self.low

    def span(self) -> tuple[int, int]:
        return self.low, self.high


class Constant(Law):
    """Always the same number; a bare number in a sweep file means this.

    Examples
    --------
    >>> Law.read(5)
    Constant(value=5)
    >>> Constant(value=5).draw(np.array([0.0, 0.9]))
    array([5, 5])
    """

    largest = "value"
    brief = ("value",)
    value: int = lever(1, least=0, most=LARGEST, description="the number; 0 = none, where nothing may be asked for")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return np.full(len(ranks), self.value, np.int64)

    def span(self) -> tuple[int, int]:
        return self.value, self.value

    def nearest_within(self, most: int) -> str:
        return f"constant.value = {most}"


_MOST = 1 << 33


class PowersOfTwo(Law):
    """Every power of two from `low` to `high`, ends included, equally often.

    References
    ----------
    spec 1, section 6, pilot: power-of-two sizes 1..64.

    Examples
    --------
    >>> PowersOfTwo(low=2, high=16).draw(np.array([0.0, 0.3, 0.999]))
    array([ 2,  4, 16])
    """

    largest = "high"
    brief = ("low", "high")
    low: int = lever(1, least=1, most=_MOST, scale="power_of_two", description="the smallest number")
    high: int = lever(64, least=1, most=_MOST, scale="power_of_two", description="the largest number")

    def check(self) -> None:
        if self.high < self.low:
            raise wrong_value("", f"{self.name}.high", f"must be at least low ({self.low})", self.high, self.low)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        powers = self.high.bit_length() - self.low.bit_length() + 1
        return np.int64(self.low) << (ranks * powers).astype(np.int64)

    def span(self) -> tuple[int, int]:
        return self.low, self.high

    def nearest_within(self, most: int) -> str:
        return super().nearest_within(1 << (most.bit_length() - 1))


_GB = 10**9


class LogUniform(Law):
    """A whole number from `low` to `high` whose logarithm is uniform: a number is as often below the middle of two ends
    on the log scale as above it.

    The number at rank u is floor(low ((high + 1) / low)^u). Its logarithm comes from the C library, the power from sums
    and products alone: on another system about one number in 10^13 may round differently.

    References
    ----------
    spec 5, section 6: sizes log-uniform 64 B..2 GB.

    Examples
    --------
    >>> LogUniform(low=64, high=2_000_000_000).draw(np.array([0.0, 0.5, 0.999]))
    array([        64,     357770, 1965781057])
    """

    largest = "high"
    brief = ("low", "high")
    low: int = lever(64, least=1, most=LARGEST, scale="log", description="the smallest number")
    high: int = lever(2 * _GB, least=1, most=LARGEST, scale="log", description="the largest number")

    def check(self) -> None:
        if self.high < self.low:
            raise wrong_value("", f"{self.name}.high", f"must be at least low ({self.low})", self.high, self.low)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        doublings = math.log2((self.high + 1) / self.low)
        numbers = np.floor(self.low * power(ranks * doublings))
        return np.clip(numbers, self.low, self.high).astype(np.int64)

    def span(self) -> tuple[int, int]:
        return self.low, self.high


class Exponential(Law):
    """An exponential time of a mean, rounded up to a whole number; none is above `most`.

    With `most` at its default nothing is cut off; else the law is the exponential given that it is at most `most`, not
    one that piles up there. At rank u it is ceil(-mean ln(1 - u F)), at least 1, with F = 1 - exp(-most / mean).
    Rounding up lifts the mean by about a half: without a cut it is 1 / (1 - exp(-1 / mean)).

    References
    ----------
    spec 1, section 6: run-time law {uniform, exponential, correlated with size}.

    Examples
    --------
    >>> Exponential(mean=100).draw(np.array([0.0, 0.5, 0.99]))
    array([  1,  70, 461])
    """

    largest = "most"
    brief = ("mean",)
    mean: float = lever(50.0, least=1, most=LARGEST, scale="log", description="the mean before rounding")
    most: int = lever(LARGEST, least=1, most=LARGEST, scale="log", description="the largest number that may come")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        return memoryless(ranks, self.mean, self.most)

    def span(self) -> tuple[int, int]:
        return 1, self.most


def memoryless(ranks: np.ndarray, mean: float, most: int) -> np.ndarray:
    """Draw exponential times of a mean, given that they are at most `most`, rounded up: int64[count], at least 1."""
    inside = -math.expm1(-most / mean)
    return np.clip(np.ceil(mean * waiting(ranks * inside)), 1, most).astype(np.int64)


class Geometric(Law):
    """The number of cycles until something ends that ends in each with probability 1 / mean; none is above `most`.

    The exponential law rounded up, with the mean exact: P(k) = (1 - 1/mean)^(k - 1) / mean. With `most` below its
    default it is the law given that the number is at most `most`.

    Examples
    --------
    >>> Geometric(mean=2).draw(np.array([0.0, 0.49, 0.51, 0.76]))
    array([1, 1, 2, 3])
    """

    largest = "most"
    brief = ("mean",)
    mean: float = lever(50.0, least=1, most=LARGEST, scale="log", description="the mean, where nothing is cut off")
    most: int = lever(LARGEST, least=1, most=LARGEST, scale="log", description="the largest number that may come")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        if self.mean == 1:
            return np.ones(len(ranks), np.int64)
        return memoryless(ranks, -1 / math.log1p(-1 / self.mean), self.most)

    def span(self) -> tuple[int, int]:
        return 1, self.most


_LEAST_INSIDE = 1e-6


class LogNormal(Law):
    """A log-normal number, rounded to the nearest whole one, given that this lies from `least` to `most`.

    At rank u it is median exp(sigma z), rounded half up, where z is the normal quantile of F(least - 1/2) + u times
    F(most + 1/2) - F(least - 1/2), F being the law before the cut; so nothing piles up at the ends. A range that holds
    less than a millionth of the law is refused. The normal quantile comes from SciPy: on another processor about one
    number in 10^13 may round differently.

    Examples
    --------
    >>> LogNormal(median=20, sigma=1, least=1, most=128).draw(np.array([0.0, 0.5, 0.999]))
    array([  1,  19, 127])
    """

    largest = "most"
    brief = ("median", "sigma")
    median: float = lever(20.0, least=0.01, most=LARGEST, scale="log", description="the median before the cut")
    sigma: float = lever(
        1.0, least=0.01, most=10, step=0.05, description="the standard deviation of the natural logarithm"
    )
    least: int = lever(1, least=1, most=LARGEST, scale="log", description="the smallest number that may come")
    most: int = lever(LARGEST, least=1, most=LARGEST, scale="log", description="the largest number that may come")

    def check(self) -> None:
        if self.most < self.least:
            raise wrong_value("", "log_normal.most", f"must be at least least ({self.least})", self.most, self.least)
        below, above = self._ends()
        if above - below < _LEAST_INSIDE:
            inside = f"least ({self.least}) to most ({self.most}) must hold some of the law with median {self.median:g}"
            raise InputError(f"log_normal: {inside} and sigma {self.sigma:g}; it holds {above - below:.0e} of it.")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        from scipy.special import ndtri

        below, above = self._ends()
        numbers = np.floor(self.median * np.exp(self.sigma * ndtri(below + ranks * (above - below))) + 0.5)
        return np.clip(numbers, self.least, self.most).astype(np.int64)

    def span(self) -> tuple[int, int]:
        return self.least, self.most

    def _ends(self) -> tuple[float, float]:
        return self._share_below(self.least - 0.5), self._share_below(self.most + 0.5)

    def _share_below(self, number: float) -> float:
        """Return the share of the law before the cut that lies below a number."""
        return 0.5 * math.erfc(-math.log(number / self.median) / self.sigma / math.sqrt(2))


class Bimodal(Law):
    """A uniform number from the range `small` in a share of all draws, otherwise one from the range `large` above it.

    At a rank u below the share p it is small's number at rank u / p, else large's at rank (u - p) / (1 - p).

    References
    ----------
    spec 1, section 6, pilot: 70 % U{1..4}, 30 % U{16..32}.

    Examples
    --------
    >>> Bimodal(small_share=0.5, small=[1, 4], large=[16, 32]).draw(np.array([0.0, 0.49, 0.5, 0.99]))
    array([ 1,  4, 16, 32])
    """

    largest = "large.high"
    small_share: float = lever(
        0.7, least=0, most=1, step=0.05, description="how much of all comes from the small range"
    )
    small: Uniform = lever(Uniform(low=1, high=4), description="the range of the small numbers")
    large: Uniform = lever(Uniform(low=16, high=32), description="the range of the large numbers")

    def check(self) -> None:
        if self.large.low <= self.small.high:
            above = f"must lie above small.high ({self.small.high})"
            raise wrong_value("", f"{self.name}.large.low", above, self.large.low, self.small.high + 1)

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        inside, share = ranks < self.small_share, self.small_share
        within = np.divide(ranks, share, out=np.zeros_like(ranks), where=inside)
        np.divide(ranks - share, 1.0 - share, out=within, where=~inside)
        return np.where(inside, self.small.quantile(within), self.large.quantile(within))

    def span(self) -> tuple[int, int]:
        low = self.small.low if self.small_share > 0 else self.large.low
        return low, self.large.high if self.small_share < 1 else self.small.high

    def nearest_within(self, most: int) -> str:
        return super().nearest_within(most) if self.large.low <= most and self.small_share < 1 else ""


class Empirical(Law):
    """One of some numbers, each as often as its weight says; without weights all equally often.

    Numbers are taken in rising order: at rank u it is the first whose share of the weights, added to the shares before
    it, exceeds u.

    Examples
    --------
    >>> Law.read({"empirical": [1, 2, 4, 8]}).draw(np.array([0.0, 0.25, 0.99]))
    array([1, 2, 8])
    >>> Empirical(outcomes=(16, 1), weights=(1, 3)).draw(np.array([0.0, 0.74, 0.75]))
    array([ 1,  1, 16])
    """

    brief = ("outcomes",)
    outcomes: tuple[int, ...] = lever((1, 2, 4, 8), least=1, most=LARGEST, description="the numbers that may come")
    weights: tuple[float, ...] = lever((), least=0, most=1e15, description="how often each comes, on any scale")

    def check(self) -> None:
        if not self.outcomes:
            raise InputError("empirical.outcomes must hold at least one number. Got [].")
        if self.weights and len(self.weights) != len(self.outcomes):
            expected = f"must be as many as outcomes ({len(self.outcomes)}), or none"
            raise wrong_value("", "empirical.weights", expected, list(self.weights))
        if self.weights and not any(self.weights):
            raise wrong_value("", "empirical.weights", "must not all be zero", list(self.weights))

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        numbers, shares = self._rising()
        indices = np.searchsorted(shares, ranks * shares[-1], side="right")
        return numbers[np.minimum(indices, len(numbers) - 1)]

    def span(self) -> tuple[int, int]:
        numbers, _ = self._rising()
        return int(numbers[0]), int(numbers[-1])

    def _rising(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers that can come in rising order, and their weights added up."""
        numbers = np.array(self.outcomes, np.int64)
        weights = np.array(self.weights or [1.0] * len(numbers))
        order = np.argsort(numbers, kind="stable")
        order = order[weights[order] > 0]
        return numbers[order], np.cumsum(weights[order])


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


class Sometimes(Law):
    """A law's number in a share of all draws, else 0: a resource that some workgroups do not need at all.

    At a rank u below 1 - share it is 0, else the law's number at rank (u - (1 - share)) / share. What must be at least
    1, such as a size or a duration, cannot be drawn so.

    Examples
    --------
    >>> Sometimes(share=0.5, law={"uniform": [1, 16]}).draw(np.array([0.0, 0.49, 0.5, 0.99]))
    array([ 0,  0,  1, 16])
    """

    share: float = lever(0.5, least=0, most=1, step=0.05, description="how much of all draws come from the law")
    law: Law = lever(Uniform(low=1, high=32), description="how often each number comes where one comes at all")

    def check(self) -> None:
        if isinstance(self.law, (Sometimes, Correlated)):
            raise InputError(f"sometimes.law must be another law than {self.law.name}.")

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        nothing = 1.0 - self.share
        inside = ranks >= nothing
        drawn = np.zeros(len(ranks), np.int64)
        drawn[inside] = self.law.draw(np.minimum((ranks[inside] - nothing) / (1.0 - nothing), _BELOW_ONE))
        return drawn

    def span(self) -> tuple[int, int]:
        low, high = self.law.span()
        return (0 if self.share < 1 else low), (high if self.share > 0 else 0)

    def nearest_within(self, most: int) -> str:
        near = self.law.nearest_within(most)
        return near and f"sometimes.law.{near}"

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema, where the law inside is any but this one and `correlated`."""
        inside = {
            **family_schema(Law, without=[cls.name, Correlated.name]),
            "description": cls.levers["law"].description,
        }
        levers = {"share": cls.levers["share"].schema(), "law": inside}
        return {"type": "object", "additionalProperties": False, "properties": levers}
