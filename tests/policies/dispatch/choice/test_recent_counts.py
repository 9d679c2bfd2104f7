"""The exact sliding window by itself: the vector V35, its slow twin, time that runs forward (spec 3, R75, E23)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_choice import window
from workbench.errors import InputError
from workbench.policies.dispatch.choice import LeastRecentEnergy, RecentCounts
from workbench.policies.dispatch.choice.view import CLASSES

STEPS = st.lists(
    st.tuples(st.integers(0, 6) | st.integers(0, 10**12), st.booleans(), st.integers(0, 5), st.integers(1, 9)),
    max_size=60,
)


@given(st.sampled_from([1, 2, 4, 8, 1024]), STEPS)
def test_counts_as_its_twin(nx, steps):
    recent, events, now = RecentCounts(nx=nx), [], 0
    for passed, executes, kind, count in steps:
        now += passed
        if executes:
            recent.execute(now, CLASSES[kind], count)
            events.append((now, kind, count))
        else:
            assert list(recent.counts(now)) == window(events, now, nx)
    assert list(recent.counts(now + 1)) == window(events, now + 1, nx)


@pytest.mark.parametrize("kind", CLASSES)
def test_v35(kind):
    recent = RecentCounts(nx=4)
    for cycle in (1, 2, 3, 6):
        recent.execute(cycle, kind)
    counts = recent.counts(7)
    assert counts == tuple(2 * (name == kind) for name in CLASSES)
    weights = tuple(2.0 * (name == kind) for name in CLASSES)
    assert LeastRecentEnergy(weights=weights, nx=4).scores([counts]) == [-4]


def test_an_empty_history_is_0():
    assert RecentCounts().counts(10**15) == (0,) * 6


def test_what_executes_at_the_decision_is_not_past():
    recent = RecentCounts(nx=2)
    recent.execute(5, "jump")
    assert [recent.counts(cycle)[5] for cycle in (5, 6, 7, 8)] == [0, 1, 1, 0]


def test_refuses():
    recent = RecentCounts(nx=4)
    recent.execute(9, "load")
    with pytest.raises(InputError, match=r"cycle must be at least 9, for time runs forward\. Got 8\. Nearest: 9\."):
        recent.execute(8, "load")
    recent.counts(20)
    with pytest.raises(InputError, match=r"cycle must be at least 20"):
        recent.counts(19)
    with pytest.raises(InputError, match=r"cycle must be at least 20"):
        recent.execute(19, "load")
    with pytest.raises(InputError, match=r"unknown instruction class 'loads'; .* Did you mean load\?"):
        recent.execute(30, "loads")
    with pytest.raises(InputError, match=r"nx must be a power of two .* Nearest: 4\."):
        RecentCounts(nx=5)
