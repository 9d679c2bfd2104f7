"""What every policy for idle memory owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.idle.contract import IdleContract

class TestMyRelease(IdleContract):
    policy = MyRelease()
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.policies.asking import Asked, Scenes
from workbench.policies.contract import Contract, check
from workbench.policies.pool.idle.question import BYTES, EACH, NEWER, NO_LIMIT, IdleRelease, chained
from workbench.policies.pool.idle.view import IdleView

__all__ = ["IdleContract", "check"]


class IdleContract(Contract):
    """Tests that every policy for idle memory passes; a subclass names the policy."""

    policy: ClassVar[IdleRelease]
    steps = 40
    tried = 40

    def scenes(self, policy: IdleRelease, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about driver allocations of sizes alike and not, some of them wholly cached."""
        for _ in range(steps):
            sizes, order = _drawn(draw)
            excess = int(draw.integers(1, sizes[order].sum() + 1))
            yield IdleView(excess, order[0], chained(sizes.tolist(), order), _BROUGHT)

    def judge(self, request: Asked) -> str:
        """Return a fault where what is named is not wholly cached."""
        wrong = request.answer not in (-1, *_cached(request.see))
        return f"named {request.answer}, which is not wholly cached, for {request.see}" if wrong else ""

    def test_keeps_within_its_limit_or_keeps_all(self) -> None:
        assert 0 <= self.policy.limit_bytes() <= NO_LIMIT
        for requested in self.asked():
            sizes = requested.see.origins[BYTES::EACH][_cached(requested.see)].tolist()
            gone = self.policy.returned(sizes, max(sum(sizes) - requested.see.excess, 0))
            assert not gone or sum(sizes) - sum(gone) <= sum(sizes) - requested.see.excess


_BROUGHT: Any = None
"""Stands for the levers, which the policy brings along."""


def _cached(see: IdleView) -> list[int]:
    """Return the driver allocations that are wholly cached, in the order in which they became so."""
    origins, at = [], see.oldest
    while at >= 0:
        origins.append(int(at))
        at = see.origins[EACH * at + NEWER]
    return origins


def _drawn(draw: np.random.Generator) -> tuple[np.ndarray, list[int]]:
    sizes = draw.integers(1, int(2 ** draw.uniform(1, 30)) + 1, 8)
    sizes[draw.integers(0, 8, 3)] = sizes[0]
    return sizes, draw.permutation(8)[: draw.integers(1, 9)].tolist()
