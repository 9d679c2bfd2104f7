"""What numbers come, and how often?

A law answers with its quantile function: ranks in [0, 1) in, whole numbers of at least 1 out, a higher rank never
giving a smaller number. Drawing is then inversion: one uniform rank a number. That has three consequences on purpose:

- the first n numbers are the same however many are drawn, so a longer queue begins with the shorter one;
- two laws asked with the same seed rise and fall together, so comparing them is paired;
- a duration can be made to depend on a size without changing either's law (`correlated`).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.errors import InputError
from workbench.levers import Family

LARGEST = 10**10
"""The largest number that a law may draw; ten million of them still add up in 63 bits."""


class Law(Family, noun="law", example="{uniform: [1, 32]}", bare="constant"):
    """The base of every law.

    One's own, in a file or a notebook cell, is a class with `quantile` and `span`:

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
