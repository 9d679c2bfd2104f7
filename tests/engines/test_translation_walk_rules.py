"""Page sizes, ranges, walk queues, software walks and dead entries under load: equal to the event-driven twin."""

from __future__ import annotations

import pytest

from tests.engines.translation_load_cases import differences, drawn_with_walks

SIZE = 20


FIRST_SEEDS = [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(SIZE, 1200, SIZE))]


@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_the_engine_and_its_twin_agree_whatever_is_walked(first: int) -> None:
    for seed in range(first, first + SIZE):
        result = differences(drawn_with_walks(seed))
        assert not result, (seed, sorted(result))
