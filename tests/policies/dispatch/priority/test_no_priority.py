"""No priority against its contract: everyone equal, but for what stands below all."""

from __future__ import annotations

from workbench.policies.dispatch import NoPriority
from workbench.policies.dispatch.priority import PriorityContract


class TestNoPriority(PriorityContract):
    policy = NoPriority()


def test_everyone_is_equal_above_what_is_below_all():
    result = NoPriority().ranks([1, 2, 7, 8, 9], levels=8, cycle=99, waited=[5, 0, 9, 1, 99])
    assert result == [0, 0, 0, 0, 1]
