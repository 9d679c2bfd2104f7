"""The compact generator against its definition in whole numbers, and against chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workbench.structures.rng import below, next_word

WORD = 2**64


def twin(state: int) -> int:
    state ^= state << 13 & WORD - 1
    state ^= state >> 7
    return state ^ state << 17 & WORD - 1


@given(st.integers(1, 2**63 - 1))
def test_follows_the_definition(seed):
    memory, state = np.array([7, seed]), seed
    for _ in range(20):
        state = twin(state)
        assert int(next_word(memory, 1)) == state
        assert int(memory[1]) % WORD == state
    assert memory[0] == 7


@given(st.integers(1, 2**63 - 1), st.integers(1, 4096))
def test_stays_below(seed, count):
    memory = np.array([seed])
    assert all(0 <= below(memory, 0, count) < count for _ in range(20))


@pytest.mark.parametrize("count", [2, 3, 5, 6, 63, 64, 65])
def test_is_uniform(count):
    memory = np.array([88172645463325252])
    drawn = np.bincount([below(memory, 0, count) for _ in range(2000 * count)], minlength=count)
    assert stats.chisquare(drawn).pvalue > 0.001
