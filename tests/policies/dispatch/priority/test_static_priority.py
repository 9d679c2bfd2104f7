"""Static priority and no priority at all, against their contracts (spec 3, R16)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.policies.dispatch.priority.together import ranks
from workbench.policies.dispatch import StaticPriority
from workbench.policies.dispatch.priority import FOR_EVER, PriorityContract, holds_until
from workbench.policies.scenes import Speaker


class TestStaticPriority(PriorityContract):
    policy = StaticPriority()


@given(st.integers(0, 1 << 50), st.integers(1, 9), st.integers(0, 1 << 50))
def test_time_changes_nothing(cycle, priority, waited):
    assert ranks(StaticPriority(), 8)(cycle, priority, waited) == priority


def test_holds_for_ever():
    assert holds_until(Speaker(StaticPriority()), 5, 4) == FOR_EVER
