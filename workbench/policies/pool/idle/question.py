"""Which cached memory goes back to the driver? (spec 5, R29)

Only whole driver allocations can go back, and only those that are cached in every part (spec 5, E5). After each release
on a card whose cached bytes exceed `limit_bytes()`, the policy is asked which one goes until the limit is kept or none
is left; its answer takes an `IdleView`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import wrong_value
from workbench.policies.arguments import MOST_BYTES, whole, wholes
from workbench.policies.policy import Policy
from workbench.policies.pool.idle.view import IdleView

BYTES, IN_USE, OLDER, NEWER = range(4)
"""Of a driver allocation: its size, how many of its blocks are in use, and its neighbours in the order of `oldest`."""
EACH = 4
NO_LIMIT = 1 << 62
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
