"""The smallest p-values that there can be: of so many seeds, of so many shuffles, among so many tests.

What cannot come below 5 % whatever the data are cannot be decided, and is said before anything runs.
"""

from __future__ import annotations

import math

from workbench.statistics.looks import PLANNED

ALPHA = 0.05
"""The chance of any false word in a table."""


def least_p(seeds: int, tests: int = 1) -> float:
    """Return the smallest corrected p that there can be among so many tests, that of all seeds on one side.

    A comparison has two tests, of size and of direction.

    >>> least_p(7, 1) == 2**-6 / 0.9, least_p(6, 40), least_p(0)
    (True, 1.0, 1.0)
    """
    return min(1.0, max(tests, 1) * 2.0 ** (1 - seeds) / PLANNED)


def fewest_seeds(tests: int, alpha: float = ALPHA) -> int:
    """Return the fewest seeds with which any of so many tests can be below alpha.

    >>> fewest_seeds(1), fewest_seeds(40)
    (6, 11)
    """
    # Start below the result, as the logarithm is rounded.
    needed = max(1, math.floor(math.log2(max(tests, 1) / (alpha * PLANNED))))
    while least_p(needed, tests) >= alpha:
        needed += 1
    return needed


def fewest_shuffles(tests: int, alpha: float = ALPHA) -> int:
    """Return the fewest shuffles with which one of so many searches can be below alpha after Holm's correction.

    A p-value of shuffles is at least one over their number and one.

    >>> fewest_shuffles(1), fewest_shuffles(10), 10 / (1 + fewest_shuffles(10)) < 0.05
    (20, 200, True)
    """
    return math.floor(tests / alpha)
