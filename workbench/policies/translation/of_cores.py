"""What contracts of translation share: machines of a few cores, and memories that follow from the seed."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.policies.contract import Contract

CORES = 8


class OfCores(Contract):
    """The contract of a policy that knows how many cores there are."""

    sizes: ClassVar[tuple[int, ...]] = (CORES,)

    def start_memory(self, policy: Any, size: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run with so many cores."""
        memory: np.ndarray = policy.start_memory(size, seed)
        return memory


def two_of(draw: np.random.Generator, cores: int) -> tuple[int, int]:
    """Draw two different cores."""
    one, other = draw.permutation(cores)[:2].tolist()
    return one, other


def drawn_pairs(draw: np.random.Generator, cores: int) -> np.ndarray:
    """Draw how many entries each core shares with each other one."""
    return np.where(np.eye(cores, dtype=bool), 0, draw.integers(0, 7, (cores, cores))).reshape(-1)
