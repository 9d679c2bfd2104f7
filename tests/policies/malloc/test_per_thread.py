"""Per thread against its contract."""

from __future__ import annotations

from workbench.policies.malloc import PerThread
from workbench.policies.malloc.serve import ServeContract


class TestPerThread(ServeContract):
    policy = PerThread(zero_policy="null")


def test_everybody_asks_for_himself():
    served = PerThread(zero_policy="null").served([3, 0, 9])
    assert [(one.leader, one.total, one.offsets) for one in served] == [(0, 4, [0]), (2, 12, [0])]
