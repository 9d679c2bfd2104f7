"""Which cached block serves a request? (spec 5, R11)

An answer takes a `FitView`. `BestFit` is the document's choice among cached blocks.

What every choice owes, in a test file, for policies of this package or not:

    class TestMyFit(FitContract):
        policy = MyFit()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Answer, Question, number, readable, view
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST_BYTES, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes
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
    largest,
    new_size_index,
    smallest_at_least,
)


@view
class FitView(NamedTuple):
    """A request, and the cached blocks by size (`workbench.structures.size_index`).

    `smallest_at_least` and `largest` search `roots`, `filled` and `nodes`. `nodes` also leads through all blocks by
    address: `AFTER` is the next one, and a block whose `ABOVE` is `OUTSIDE` is in use.
    """

    size: int = number("bytes that are needed, as the cache rounds them")
    pool: int = number("the pool of blocks that may serve it: a card's, or one of the two of a card")
    first: int = number("the block of the pool with the lowest address, in use or cached; -1 = there is none")
    roots: np.ndarray = readable("int64", "pools * classes", "of the index by size")
    filled: np.ndarray = readable("uint64", "words", "of the index by size")
    nodes: np.ndarray = readable("int64", "blocks * fields", "of the index by size, and all blocks by address")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


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
        """Return the memory of the policy at the start of a run: int64[memory_size]."""
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


class BestFit(CacheFit):
    """Take the smallest cached block that is large enough, one of the exact size first; the lowest address wins a tie.

    The search looks at a tree of a few blocks, so its cost grows with the logarithm of their number.

    References
    ----------
    spec 5, R11, V2, V3, V5.

    Examples
    --------
    >>> BestFit().take([32, 64, 96, 128], 64), BestFit().take([128, 96, 96], 64), BestFit().take([32, 48], 64)
    (1, 1, None)
    """

    @staticmethod
    def answer(see: FitView) -> int:
        return smallest_at_least(see.roots, see.filled, see.nodes, see.pool, see.size)


class ExactFit(CacheFit):
    """Take a cached block of exactly the size that is needed; the lowest address wins a tie.

    With `cache: size_classes` these are the free lists of a slab allocator: one a class, never split.

    References
    ----------
    spec 5, R11 (an exact block is used as it is), section 7 (size classes).

    Examples
    --------
    >>> ExactFit().take([32, 96, 64], 64), ExactFit().take([32, 96], 64)
    (2, None)
    """

    @staticmethod
    def answer(see: FitView) -> int:
        block = smallest_at_least(see.roots, see.filled, see.nodes, see.pool, see.size)
        return block if block != NONE and see.nodes[block * FIELDS + SIZE] == see.size else NONE


class FirstFit(CacheFit):
    """Take the cached block with the lowest address that is large enough; addresses differ, so there are no ties.

    It walks through the blocks one by one: its cost grows with their number.

    References
    ----------
    spec 5, H5.4: what best fit is compared with.

    Examples
    --------
    >>> FirstFit().take([32, 128, 64], 64)
    1
    """

    @staticmethod
    def answer(see: FitView) -> int:
        block = see.first
        while block != NONE:
            if see.nodes[block * FIELDS + ABOVE] != OUTSIDE and see.nodes[block * FIELDS + SIZE] >= see.size:
                return block
            block = see.nodes[block * FIELDS + AFTER]
        return NONE


class LimitedFit(CacheFit):
    """Take the smallest block that is large enough unless it is too large; the lowest address wins a tie.

    For caches that do not split: a block that is much larger would be held by a small request.

    References
    ----------
    spec 5, section 2: another choice of `cache_fit`.

    Examples
    --------
    >>> LimitedFit(waste=0.25).take([128, 80], 64), LimitedFit(waste=0.125).take([128, 80], 64)
    (1, None)
    """

    waste: float = lever(
        0.25, least=0, most=1000, step=0.05, description="largest excess, as a share of what is needed"
    )

    @staticmethod
    def answer(see: FitView) -> int:
        block = smallest_at_least(see.roots, see.filled, see.nodes, see.pool, see.size)
        if block == NONE or see.nodes[block * FIELDS + SIZE] - see.size > see.levers.waste * see.size:
            return NONE
        return block


class WorstFit(CacheFit):
    """Take the largest cached block, if it is large enough; the lowest address wins a tie.

    References
    ----------
    spec 5, section 2: another choice of `cache_fit`, so that what remains of a split block stays useful.

    Examples
    --------
    >>> WorstFit().take([32, 128, 64, 128], 64), WorstFit().take([32, 48], 64)
    (1, None)
    """

    @staticmethod
    def answer(see: FitView) -> int:
        block = largest(see.roots, see.filled, see.nodes, see.pool)
        return block if block != NONE and see.nodes[block * FIELDS + SIZE] >= see.size else NONE


class FitContract(Contract):
    """Tests that every choice among cached blocks passes; a subclass names the policy."""

    policy: ClassVar[CacheFit]
    steps = 40
    tried = 40

    def start_memory(self, policy: CacheFit, size: int, seed: int) -> np.ndarray:
        """Return the memory of the policy at the start of a run."""
        return policy.start_memory()

    def scenes(self, policy: CacheFit, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about blocks side by side, some in use; sizes alike and not, from bytes to GiB."""
        for _ in range(steps):
            index, needed = _drawn(draw)
            yield FitView(needed, 0, 0, *index, *KEPT)

    def judge(self, request: Request) -> str:
        """Return a fault where the block is in use or too small."""
        answer, see = request.answer, request.see
        if answer == NONE:
            return ""
        if not 0 <= answer < see.nodes.size // FIELDS or see.nodes[answer * FIELDS + ABOVE] == OUTSIDE:
            return f"took block {answer}, which is not cached, for {see}"
        small = see.nodes[answer * FIELDS + SIZE] < see.size
        return f"took block {answer}, which is too small, for {see}" if small else ""

    def test_takes_an_exact_block_where_it_is_the_only_one(self) -> None:
        assert self.policy.take([64], 64) == 0
        assert self.policy.take([32], 64) is None
        assert self.policy.take([], 64) is None


def _drawn(draw: np.random.Generator) -> tuple[SizeIndex, int]:
    count, most = int(draw.integers(1, 12)), int(2 ** draw.uniform(1, 32))
    sizes = np.maximum(draw.choice(draw.integers(1, most + 1, 4), count), 1).tolist()
    return blocks_in_order(sizes, (draw.random(count) < 0.7).tolist()), int(draw.choice(sizes) + draw.integers(0, 2))


def best_fit_split(cached: Sequence[int], size: int) -> tuple[int, int] | None:
    """Return the block that best fit takes for a request, and what remains of it when it is split; None = no block
    fits.

    Equal blocks are equal here, so there is no tie to break.

    Raises
    ------
    InputError
        A size is below 1.

    References
    ----------
    spec 5, R11, R12, V2-V4.

    Examples
    --------
    >>> best_fit_split(cached=[32, 96, 128], size=64), best_fit_split([32, 64, 96], 64), best_fit_split([32, 48], 64)
    ((96, 32), (64, 0), None)
    """
    taken = BestFit().take(cached, size)
    return None if taken is None else (cached[taken], cached[taken] - size)
