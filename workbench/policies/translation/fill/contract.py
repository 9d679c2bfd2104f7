"""What every fill rule owes, as tests to join, for policies of this package or not.

from workbench.policies.translation.fill.contract import FillContract

class TestMyFill(FillContract):
    policy = MyFill()
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.policies.asking import ANSWER, KEPT, Asked, Scenes, Speaker, plain
from workbench.policies.contract import check
from workbench.policies.translation.fill.question import REFUSED, Fill
from workbench.policies.translation.fill.view import FillNotice, FillView
from workbench.policies.translation.of_cores import OfCores, drawn_pairs, two_of

__all__ = ["FillContract", "check"]

ENTRIES = 16


class FillContract(OfCores):
    """Tests that every fill rule passes; a subclass names the policy."""

    policy: ClassVar[Fill]

    def scenes(self, policy: Fill, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about translations that come, and tell of what becomes of copies."""
        for _ in range(steps):
            core, peer = two_of(draw, size)
            held, shared = int(draw.integers(ENTRIES + 1)), int(draw.integers(9))
            yield FillView(core, size, ENTRIES, held, shared, drawn_pairs(draw, size), np.full(size, -7), *KEPT)
            yield "told", FillNotice(core, peer, int(draw.integers(2)), size, *KEPT)

    def judge(self, request: Asked) -> str:
        """Return a fault where a copy goes to the requester, twice to one core, or to none that there is."""
        if request.name != ANSWER:
            return ""
        see, pushed = request.see, request.after.push[: max(request.answer, 0)].tolist()
        others = set(range(see.cores)) - {see.core}
        fine = REFUSED <= request.answer < see.cores and set(pushed) <= others and len(set(pushed)) == len(pushed)
        return "" if fine else f"answered {request.answer} with copies to {pushed}, for {see}"

    def test_depends_on_counts_only_where_it_says_so(self) -> None:
        speaker = Speaker(self.policy, self.start_memory(self.policy, 8, 1), plain(self.policy))
        for requested in self.asked() if not self.policy.counts() else []:
            if requested.name == ANSWER:
                blind = requested.see._replace(shared=0, pairs=0 * requested.see.pairs, memory=None)
                assert speaker.ask(blind) >= 0, "a rule that reads no counts does not depend on them"
