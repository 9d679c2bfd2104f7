"""Which cached block serves a request? (spec 5, R11)

An answer takes a `FitView`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import wrong_value
from workbench.policies.arguments import MOST_BYTES, whole, wholes
from workbench.policies.policy import Policy
from workbench.policies.pool.fit.view import FitView
from workbench.structures.size_index import (
    ABOVE,
    ADDRESS,
    AFTER,
    FIELDS,
    NONE,
    OUTSIDE,
    SIZE,
    SizeIndex,
    insert,
    new_size_index,
)

FIT = Question(
    "cache_fit",
    FitView,
    answers="a cached block of the pool of at least the size, or -1: the driver is asked",
    wrong="answered block {answer}, which is not a cached block of the pool that is large enough; -1 takes none",
)


class ReadyFit(NamedTuple):
    """A fit as engines receive it."""

    answer: Answer
    params: np.ndarray
    memory: np.ndarray


class CacheFit(Policy, abstract=True):
    """The base of every choice among cached blocks; a new one needs an `answer`."""

    question: ClassVar[str] = "cache_fit"
    asks: ClassVar[Question] = FIT

    def start_memory(self) -> np.ndarray:
        """Return what the policy remembers at the start of a run: int64[memory_size]."""
        return np.zeros(1, np.int64)

    def take(self, cached: Sequence[int], size: int) -> int | None:
        """Choose the place in `cached` of the block that is taken, in plain Python and without an engine.

        Parameters
        ----------
        cached : sequence of int
            Sizes of the cached blocks in bytes, the lowest address first.
        size : int
            Bytes that are asked for.

        Returns
        -------
        int or None
            None where no block serves it, so that the driver is asked.

        Raises
        ------
        InputError
            A size is below 1.
        """
        cached, size = wholes("cached", cached, -MOST_BYTES, MOST_BYTES), whole("size", size, None, MOST_BYTES)
        if min([size, *cached]) < 1:
            raise wrong_value("", "sizes", "must be at least 1 byte", min([size, *cached]), 1)
        index = blocks_in_order(cached)
        first = 0 if len(cached) else NONE
        answer = self.plain_answer()(FitView(size, 0, first, *index, self.parameters(), self.start_memory()))
        return None if answer < 0 else int(answer)

    def ready(self, checked: bool = False) -> ReadyFit:
        """Return the policy for one run: compiled function, parameters, fresh memory."""
        return ReadyFit(self.ready_answer(checked), self.parameters(), self.start_memory())


def blocks_in_order(cached: Sequence[int], free: Sequence[bool] | None = None) -> SizeIndex:
    """Return a pool of blocks side by side from address 0 on; those that are not `free` are in use."""
    index, address = new_size_index(1, max(len(cached), 1)), 0
    for block, size in enumerate(cached):
        at = block * FIELDS
        index.nodes[at + SIZE], index.nodes[at + ADDRESS] = size, address
        index.nodes[at + AFTER] = block + 1 if block + 1 < len(cached) else NONE
        index.nodes[at + ABOVE] = OUTSIDE
        if free is None or free[block]:
            insert(index, 0, block)
        address += size
    return index
