"""The break-even of section 4: every row of the table, and against a mean that is summed up miss by miss."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.explain.break_even import break_even, break_even_table, pays

TABLE = {
    (12, 4, 1): (0.125, 0.147, 0.227),
    (12, 6, 1): (0.167, 0.208, 0.417),
    (12, 8, 1): (0.250, 0.357, None),
    (12, 12, 1): (None, None, None),
    (19, 12, 1): (0.143, 0.196, 0.769),
    (10, 6, 1): (0.250, 0.333, 1.0),
}
"""Copied from spec 4: shared, remote, look-up -> the break-even at 0, 10 and 30 percent of stale answers."""


def test_every_row_of_the_table():
    result: dict[tuple[float, ...], list[float | None]] = {}
    for row in break_even_table():
        result.setdefault(row[:3], []).append(None if row.remote_share is None else round(row.remote_share, 3))
    assert {case: tuple(shares) for case, shares in result.items()} == TABLE


costs = st.integers(0, 40)


@given(
    shared=costs, remote=costs, look_up=costs, hits=st.integers(0, 50), stale=st.integers(0, 50), far=st.integers(0, 50)
)
def test_pays_when_the_mean_of_the_misses_is_lower(shared, remote, look_up, hits, stale, far):
    misses = hits + stale + far
    if not misses or not hits + stale:
        return
    without = misses * shared
    with_it = misses * look_up + hits * remote + stale * (remote + shared) + far * shared
    named, f = (hits + stale) / misses, stale / (hits + stale)
    if with_it != without:
        assert pays(named, shared, remote, look_up, f) == (with_it < without)


@pytest.mark.parametrize("costs", [(-1, 4, 1, 0), (12, -4, 1, 0), (12, 4, -1, 0), (12, 4, 1, 1.5)])
def test_refuses_nonsense(costs):
    with pytest.raises(InputError, match="must be"):
        break_even(*costs)
