"""Max-min fair flows against flows that are followed one by one, and the laws that define them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.pool_flows import finishing_times as slow
from tests.oracles.pool_flows import rates
from tests.slow import examples
from workbench.structures.flow_sharing import Flows, finishing_times

PATHS = st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1, max_size=5)
FLOWS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 100), st.integers(0, 4)), min_size=1, max_size=12)
CAPACITY = st.lists(st.sampled_from([1.0, 2.5, 4.0, 10.0]), min_size=4, max_size=4)


@examples(16, 250)
@given(PATHS, FLOWS, CAPACITY)
def test_ends_as_flows_that_are_followed_one_by_one(paths, drawn, capacity):
    flows = sorted((start, amount, path % len(paths)) for start, amount, path in drawn)
    start, amount, path = (np.array(column) for column in zip(*flows, strict=True))
    first = np.cumsum([0, *map(len, paths)])
    used = np.array([r for each in paths for r in sorted(each)])
    given_ = Flows(start.astype(float), amount.astype(float), path, np.array(capacity), first, used)
    uses = [dict.fromkeys(paths[k], 1) for k in path]
    expected = slow(start.tolist(), amount.tolist(), uses, dict(enumerate(capacity)))
    np.testing.assert_allclose(finishing_times(given_), expected, rtol=1e-9)


@examples(10, 150)
@given(PATHS, CAPACITY)
def test_the_oracles_rates_are_max_min_fair(paths, capacity):
    """Every flow meets a full resource on which no flow is faster: the definition (Bertsekas, Gallager)."""
    result = rates([dict.fromkeys(path, 1) for path in paths], dict(enumerate(capacity)))
    load = [sum(rate for rate, path in zip(result, paths, strict=True) if r in path) for r in range(4)]
    for rate, path in zip(result, paths, strict=True):
        full = [r for r in path if load[r] >= capacity[r] * (1 - 1e-9)]
        fastest = [max(it for it, other in zip(result, paths, strict=True) if r in other) for r in full]
        assert any(rate >= most * (1 - 1e-9) for most in fastest)


def test_no_flow_at_all():
    nothing = np.zeros(0)
    assert (
        finishing_times(Flows(nothing, nothing, nothing.astype(int), nothing, np.array([0]), nothing.astype(int))).size
        == 0
    )
