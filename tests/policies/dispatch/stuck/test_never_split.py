"""Never split against its contract: whole groups, for ever."""

from __future__ import annotations

from workbench.policies.dispatch import NeverSplit
from workbench.policies.dispatch.stuck import FOR_EVER, StuckContract


class TestNeverSplit(StuckContract):
    policy = NeverSplit()


def test_is_never_asked_and_would_split_nothing():
    ready = NeverSplit().ready()
    assert (ready.patience, ready.look_ahead, ready.sub_priority, ready.divides_shared) == (FOR_EVER, 0, 0, 0)
    assert all(NeverSplit().parts(waves) == [waves] for waves in range(1, 40))
