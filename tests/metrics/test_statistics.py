"""Statistics that leave out what NumPy's methods look at first give what these give, to the bit."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from workbench.metrics.statistics import gini, mean, mean_and_deviation, quantile

GENERATOR = np.random.default_rng(20261122)
SIZES = [1, 2, 7, 8, 9, 127, 128, 129, 1_000, 8_193, 20_001]
"""About where sums are split into pairs and where whole numbers are converted a buffer at a time."""
KINDS = {
    "large whole numbers": lambda size: GENERATOR.integers(0, 10**14, size),
    "small whole numbers": lambda size: GENERATOR.integers(-5, 5, size).astype(np.int32),
    "flags": lambda size: GENERATOR.random(size) < 0.3,
    "numbers": lambda size: GENERATOR.random(size) * 10.0 ** GENERATOR.integers(-9, 9, size),
    "not a number": lambda size: np.full(size, np.nan),
}


def _bits(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_mean_and_deviation_are_those_of_numpy(kind):
    for size in SIZES:
        values = kind(size)
        assert _bits(mean(values)) == _bits(values.mean())
        if values.dtype != bool:
            assert _bits(*mean_and_deviation(values)) == _bits(values.mean(), values.std())


def test_statistics_leave_their_values_as_they_are():
    values = np.array([5, 1, 3])
    assert (quantile(values, 0.5), round(gini(values), 12)) == (3.0, round(8 / 27, 12))
    mean_and_deviation(values)
    assert values.tolist() == [5, 1, 3]
