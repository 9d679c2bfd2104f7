"""Which cached memory goes back to the driver? (spec 5, R29)

Only whole driver allocations can go back, and only those that are cached in every part (spec 5, E5). After each release
on a card whose cached bytes exceed `limit_bytes()`, the policy is asked which one goes until the limit is kept or none
is left; its answer takes an `IdleView`.

What every policy owes, in a test file, for policies of this package or not:

    class TestMyRelease(IdleContract):
        policy = MyRelease()
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, number, readable, view
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST_BYTES, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import Request, Scenes

BYTES, IN_USE, OLDER, NEWER = range(4)
"""Of a driver allocation: its size, how many of its blocks are in use, and its neighbors in the order of `oldest`."""
EACH = 4
NO_LIMIT = 1 << 62


@view
class IdleView(NamedTuple):
    """A card whose cached bytes exceed the limit."""

    excess: int = number("cached bytes above the limit, at least 1")
    oldest: int = number("the driver allocation of the card that became wholly cached first, at least 0")
    origins: np.ndarray = readable(
        "int64",
        "4 * allocations",
        "four numbers a driver allocation: from `oldest` on, `origins[4 * it + NEWER]` leads to the one that became "
        "wholly cached next (-1 = none); `BYTES` is its size",
    )
    levers: Any = PARAMS


RELEASE = Question(
    "idle_release",
    IdleView,
    answers="the driver allocation that goes, or -1 to keep all that is left",
    wrong="answered {answer}, which is not a driver allocation of the card that is wholly cached; -1 keeps the rest",
)


class ReadyIdle(NamedTuple):
    """A policy for idle memory as engines receive it."""

    answer: Answer
    params: np.ndarray
    limit: int


class IdleRelease(Policy, abstract=True):
    """The base of every policy for idle memory; a new one needs an `answer`."""

    question: ClassVar[str] = "idle_release"
    asks: ClassVar[Question] = RELEASE

    def limit_bytes(self) -> int:
        """Return the cached bytes that a card may keep."""
        return NO_LIMIT

    def returned(self, cached: Sequence[int], limit: int) -> list[int]:
        """Return the driver allocations that go back, in their order, in plain Python and without an engine.

        Parameters
        ----------
        cached : sequence of int
            Bytes of each driver allocation that is wholly cached, the one that became so first in front.
        limit : int
            Cached bytes that the card may keep.

        Raises
        ------
        InputError
            The limit is below 0.
        """
        cached, limit = wholes("cached", cached, 0, MOST_BYTES), whole("limit", limit, None)
        if limit < 0:
            raise wrong_value("", "limit", "must be at least 0 bytes", limit, 0)
        left, gone = list(range(len(cached))), []
        while left and sum(cached[k] for k in left) > limit:
            excess = sum(cached[k] for k in left) - limit
            answer = int(self.plain_answer()(IdleView(excess, left[0], chained(cached, left), self.parameters())))
            if answer < 0:
                break
            gone.append(cached[answer])
            left.remove(answer)
        return gone

    def ready(self, checked: bool = False) -> ReadyIdle:
        """Return the policy for one run."""
        return ReadyIdle(self.ready_answer(checked), self.parameters(), self.limit_bytes())


def chained(cached: Sequence[int], order: Sequence[int]) -> np.ndarray:
    """Return driver allocations of these sizes, those of `order` wholly cached one after another."""
    origins = np.full((max(len(cached), 1), EACH), -1)
    for k, size in enumerate(cached):
        origins[k, BYTES], origins[k, IN_USE] = size, 0
    for one, other in pairwise(order):
        origins[one, NEWER], origins[other, OLDER] = other, one
    return origins.reshape(-1)


class KeepAll(IdleRelease):
    """Keep every cached block, however much there is; it is never asked, so there are no ties.

    References
    ----------
    spec 5, H5.8: what a limit is compared with.

    Examples
    --------
    >>> KeepAll().returned([64, 128], limit=100)
    []
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        return -1


class Limited(IdleRelease, abstract=True):
    """The base of policies that keep so many cached bytes a card."""

    limit_bytes_a_card: int = lever(
        1 << 30, least=0, most=1 << 50, unit="bytes", description="cached bytes that a card may keep"
    )

    def limit_bytes(self) -> int:
        return self.limit_bytes_a_card


class LeastRecentlyUsed(Limited):
    """Give back the driver allocation that has been wholly cached for longest; the order is total, there are no ties.

    References
    ----------
    spec 5, R29, E6, E7.

    Examples
    --------
    >>> LeastRecentlyUsed().returned([64, 128, 256, 512, 1024], limit=1000)
    [64, 128, 256, 512, 1024]
    >>> LeastRecentlyUsed().returned([1024, 512, 256, 128, 64], limit=1000)
    [1024]
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        return see.oldest


class Largest(Limited):
    """Give back the largest driver allocation; of equal ones that which has been wholly cached for longest.

    References
    ----------
    spec 5, section 2 (`idle_victim`).

    Examples
    --------
    >>> Largest().returned([64, 1024, 512], limit=100)
    [1024, 512]
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        largest, it = see.oldest, see.oldest
        while it >= 0:
            if see.origins[it * EACH + BYTES] > see.origins[largest * EACH + BYTES]:
                largest = it
            it = see.origins[it * EACH + NEWER]
        return largest


class SmallestSufficient(Limited):
    """Give back the smallest driver allocation that covers the excess, or, where none does, the largest; then go on.

    Of equal ones that which has been wholly cached for longest. The smallest sufficient *set* would be a
    knapsack (see DEVIATIONS.md).

    References
    ----------
    spec 5, section 4 (idle release).

    Examples
    --------
    >>> SmallestSufficient().returned([64, 128, 256, 512, 1024], limit=1000)
    [1024]
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        smallest, it = see.oldest, see.oldest
        while it >= 0:
            size, best = see.origins[it * EACH + BYTES], see.origins[smallest * EACH + BYTES]
            enough = size >= see.excess
            if (enough and (best < see.excess or size < best)) or (not enough and best < see.excess and size > best):
                smallest = it
            it = see.origins[it * EACH + NEWER]
        return smallest


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

    def judge(self, request: Request) -> str:
        """Return a fault where what is named is not wholly cached."""
        wrong = request.answer not in (-1, *_cached(request.see))
        return f"named {request.answer}, which is not wholly cached, for {request.see}" if wrong else ""

    def test_keeps_within_its_limit_or_keeps_all(self) -> None:
        assert 0 <= self.policy.limit_bytes() <= NO_LIMIT
        for requested in self.requests():
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
