"""-ln(1 - u) against exact arithmetic and against NumPy's."""

import math
from decimal import Decimal, localcontext

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.streams import Streams
from workbench.workloads.synthetic.portable_math import waiting


def exactly(rank: float) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        return -(1 - Decimal(rank)).ln()


@given(st.integers(0, 2**53 - 1).map(lambda bits: bits / 2**53))
def test_it_is_within_five_in_ten_to_the_sixteen(rank):
    assert abs(Decimal(float(waiting(np.array([rank]))[0])) - exactly(rank)) <= Decimal("5e-16") * exactly(rank)


def test_it_is_numpys_up_to_the_last_bits():
    ranks = Streams(2).uniforms("any", 100_000)
    np.testing.assert_allclose(waiting(ranks), -np.log1p(-ranks), rtol=6e-16)


def test_it_never_falls_and_starts_at_zero():
    ranks = np.sort(Streams(3).uniforms("any", 100_000))
    assert (np.diff(waiting(ranks)) >= 0).all()
    start = waiting(np.array([0.0]))[0]
    assert (start, math.copysign(1, start)) == (0.0, 1.0)


def test_the_highest_rank_waits_53_halvings():
    assert waiting(np.array([1 - 2.0**-53]))[0] == 53 * math.log(2)
