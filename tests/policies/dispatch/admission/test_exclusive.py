"""Exclusive: groups of one kernel a module at a time (spec 7, R20)."""

from __future__ import annotations

from workbench.policies.dispatch.admission import AdmissionContract, Exclusive


class TestExclusive(AdmissionContract):
    policy = Exclusive()


def test_kernels_count_and_channels_do_not():
    held = [[], [(0, 7), (1, 7)], [(2, 8)]]
    assert [Exclusive().admits(held, module, channel=2, kernel=7) for module in range(3)] == [True, True, False]
