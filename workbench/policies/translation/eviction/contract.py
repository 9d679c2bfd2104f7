"""The contract of eviction policies: tests that three lines in a test file join, for policies of this package or not.

    from workbench.policies.translation.eviction.contract import EvictionContract

    class TestMyEviction(EvictionContract):
        policy = MyEviction()

The subclass names the policy that is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from workbench.policies.contract import SEED, Contract
from workbench.policies.scenes import Request, Scenes
from workbench.policies.translation.eviction.plain_set import PlainSet
from workbench.policies.translation.eviction.question import Eviction
from workbench.policies.translation.eviction.view import EvictionView
from workbench.structures.set_assoc import NONE


class EvictionContract(Contract):
    """Tests that every eviction policy passes; a subclass names the policy."""

    policy: ClassVar[Eviction]
    sizes = (5,)
    """Entries of the sets."""

    def speakers(self) -> Sequence[Eviction]:
        """Return the policy that proposes candidates."""
        return (self.policy.base_policy(),)

    def start_memory(self, policy: Eviction, size: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run of four sets."""
        return policy.start_memory(4, size, seed)

    def scenes(self, policy: Eviction, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about sets in use for all their candidates, each after the answer before it."""
        for _ in range(-(-steps // size)):
            one, entry = PlainSet(policy, size, SEED), NONE
            for page in (*range(size), *draw.integers(0, size, 6).tolist()):
                one.use(page)
            for nth in range(size):
                entry = yield EvictionView._make((nth, entry, *one.fields(), None, one.memory))

    def judge(self, request: Request) -> str:
        """Return a fault where the answer is no entry of the set."""
        see = request.see
        fine = see.first <= request.answer < see.first + see.ways
        return "" if fine else f"proposed {request.answer}, which is no entry of the set, for {see}"

    def test_proposes_every_entry_once(self) -> None:
        for ways in (1, 2, 3, 4, 8):
            names = list(range(ways))
            for touched in ([], names[:1], names[::-1], names[ways // 2 :]):
                assert sorted(self.policy.order(names, touched)) == names
