"""What every rule for copies after a remote hit owes, as tests to join, for policies of this package or not.

from workbench.policies.translation.remote_fill.contract import RemoteFillContract

class TestMyRemoteFill(RemoteFillContract):
    policy = MyRemoteFill()
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.policies.asking import KEPT, Asked, Scenes
from workbench.policies.contract import check
from workbench.policies.translation.of_cores import OfCores, drawn_pairs, two_of
from workbench.policies.translation.remote_fill.question import RemoteFill
from workbench.policies.translation.remote_fill.view import RemoteFillView

__all__ = ["RemoteFillContract", "check"]

ENTRIES = 16


class RemoteFillContract(OfCores):
    """Tests that every rule for copies after a remote hit passes; a subclass names the policy."""

    policy: ClassVar[RemoteFill]

    def scenes(self, policy: RemoteFill, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about answers of peers."""
        for _ in range(steps):
            core, peer = two_of(draw, size)
            held, degree = int(draw.integers(ENTRIES + 1)), int(draw.integers(1, 9))
            yield RemoteFillView(core, peer, size, ENTRIES, held, degree, drawn_pairs(draw, size), *KEPT)

    def judge(self, request: Asked) -> str:
        """Return a fault where the answer is neither yes nor no."""
        return (
            ""
            if request.answer in (0, 1)
            else f"answered {request.answer}, which is neither 0 nor 1, for {request.see}"
        )
