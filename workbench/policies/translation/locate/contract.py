"""What every way to look near by owes, as tests to join, for policies of this package or not.

from workbench.policies.translation.locate.contract import LocateContract

class TestMyLocate(LocateContract):
    policy = MyLocate()
"""

from __future__ import annotations

from typing import Any, ClassVar

from workbench.policies.value_contract import ValueContract

__all__ = ["LocateContract"]


class LocateContract(ValueContract):
    """Tests that every way to look near by passes; a subclass names the policy."""

    policy: ClassVar[Any]

    def test_plans_in_whole_numbers(self) -> None:
        for entries in (1, 32, 1024):
            assert all(isinstance(figure, int) for figure in self.policy.plan(entries))
