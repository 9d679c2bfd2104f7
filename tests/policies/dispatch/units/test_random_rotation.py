"""Random rotation against its contract: an even split from every unit, each as often as another (spec 3, section 7)."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.oracles.dispatch_units import dealt, drawn
from workbench.policies.dispatch.units import RandomRotation, UnitsContract, asks
from workbench.policies.scenes import Speaker


class TestRandomRotation(UnitsContract):
    policy = RandomRotation()


@given(st.integers(1, 600), st.integers(1, 64), st.integers(1, (1 << 63) - 1))
def test_is_the_even_split_from_the_unit_that_is_drawn(waves, units, state):
    first, after = drawn(state, units)
    signed = after - (1 << 64) if after >= 1 << 63 else after
    assert RandomRotation().split(waves, units, state) == (dealt(waves, units, first), signed)


def test_every_unit_comes_first_as_often_as_another():
    ask, pointer = Speaker(RandomRotation()).ask, RandomRotation().first_pointer(3, 7)
    firsts = []
    for _ in range(6000):
        see = asks(1, pointer, np.zeros(6, np.int64))
        pointer = ask(see)
        firsts.append(int(see.counts.argmax()))
    assert stats.chisquare(np.bincount(firsts, minlength=6)).pvalue > 0.001


def test_modules_draw_apart():
    assert len({RandomRotation().first_pointer(module, 0) for module in range(512)}) == 512
