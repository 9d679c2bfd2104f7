"""Holder bitmaps as people write them, and what contracts of translation share: machines of a few cores.

Core 0 stands on the left, `1` = holds the page (spec 4, section 4). Memories follow from the seed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.errors import wrong_value
from workbench.policies.contract import Contract


def cores_of(bitmap: str) -> list[int]:
    """Return the cores that a bitmap names, in order.

    Raises
    ------
    InputError
        There is something else than `0` and `1` in it, or nothing.

    Examples
    --------
    >>> cores_of("0110")
    [1, 2]
    """
    if not isinstance(bitmap, str) or not bitmap or set(bitmap) - {"0", "1"}:
        raise wrong_value("", "bitmap", "must be a string of 0 and 1, core 0 on the left", bitmap)
    return [core for core, bit in enumerate(bitmap) if bit == "1"]


def degree(bitmap: str) -> int:
    """Return the sharing degree: how many cores hold the translation, the local one included (spec 4, E4, E5).

    >>> degree("0111"), degree("1000"), degree("1111")
    (3, 1, 4)
    """
    return len(cores_of(bitmap))


def as_words(bitmap: str) -> np.ndarray:
    """Return the bitmap as compiled code sees it: uint64[words], core c is bit c % 64 of word c // 64."""
    words = [0] * -(-len(bitmap) // 64)
    for core in cores_of(bitmap):
        words[core // 64] |= 1 << core % 64
    return np.array(words, np.uint64)


CORES = 8


class OfCores(Contract):
    """The contract of a policy that knows how many cores there are."""

    sizes: ClassVar[tuple[int, ...]] = (CORES,)

    def start_memory(self, policy: Any, size: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run with so many cores."""
        memory: np.ndarray = policy.start_memory(size, seed)
        return memory


def two_of(draw: np.random.Generator, cores: int) -> tuple[int, int]:
    """Draw two different cores."""
    one, other = draw.permutation(cores)[:2].tolist()
    return one, other


def drawn_pairs(draw: np.random.Generator, cores: int) -> np.ndarray:
    """Draw how many entries each core shares with each other one."""
    return np.where(np.eye(cores, dtype=bool), 0, draw.integers(0, 7, (cores, cores))).reshape(-1)
