"""Any die against its contract: spec 3's dispatcher, which knows no dies."""

from __future__ import annotations

from workbench.policies.dispatch.die import ALL, AnyDie, DieContract


class TestAnyDie(DieContract):
    policy = AnyDie()


def test_engines_need_not_ask_it():
    assert AnyDie().neutral()
    assert AnyDie().die_of(fits=(0, 2)) == ALL
