"""What every policy for the place of regions owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.residency.contract import ResidencyContract

class TestMyResidency(ResidencyContract):
    policy = MyResidency()
"""

from __future__ import annotations

from typing import ClassVar

from workbench.policies.pool.residency.question import (
    LARGEST,
    NOTHING,
    OLDEST,
    SLOWEST_LINK,
    TO_HOST,
    TO_TARGET,
    Residency,
)
from workbench.policies.value_contract import ValueContract

__all__ = ["ResidencyContract"]


class ResidencyContract(ValueContract):
    """Tests that every policy for the place of regions passes; a subclass names the policy."""

    policy: ClassVar[Residency]

    def test_its_numbers_are_ones_that_the_engine_knows(self) -> None:
        rules = self.policy.rules()
        assert rules.returns in (0, 1)
        assert rules.order in (OLDEST, LARGEST, SLOWEST_LINK)
        assert rules.at_most >= 0
        assert rules.evicts in (NOTHING, TO_HOST, TO_TARGET)

    def test_an_order_belongs_to_regions_that_move_home(self) -> None:
        rules = self.policy.rules()
        assert rules.returns or (rules.order, rules.at_most) == (OLDEST, 0), "an order of moves that never happen"

    def test_the_same_numbers_every_time(self) -> None:
        assert self.policy.rules() == self.policy.but().rules()
