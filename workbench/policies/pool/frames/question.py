"""Which frames does memory get that the driver gives? (spec 6, R10)

The driver pages memory, so that an allocation lies in one run of frames or in several: which, decides how large the
pages of its regions may be. An answer takes a `FramesView` and is asked again until the allocation has all it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import InputError, wrong_value
from workbench.policies.arguments import MOST_BYTES, listed, whole, wholes
from workbench.policies.policy import Policy
from workbench.policies.pool.frames.view import FramesView

FRAMES = Question(
    "frames",
    FramesView,
    answers="a free granule: what is needed is taken from there on, at most to the end of its free run",
    wrong="answered granule {answer}, which is not free",
)


class ReadyFrames(NamedTuple):
    """A choice of frames as engines receive it."""

    answer: Answer
    params: np.ndarray


class Frames(Policy, abstract=True):
    """The base of every choice of frames; a new one needs an `answer`."""

    question: ClassVar[str] = "frames"
    asks: ClassVar[Question] = FRAMES

    def take(self, free: Sequence[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        """Choose the granules that an allocation gets, in plain Python and without an engine.

        Parameters
        ----------
        free : sequence of (int, int)
            The free runs of a card, ascending: first granule and length; no two touch.
        count : int
            Granules that are needed.

        Returns
        -------
        list of (int, int)
            Runs in the order in which the allocation has them.

        Raises
        ------
        InputError
            The runs are out of order or have too few granules, or the answer is no free granule.
        """
        left, needed, runs = _checked(free), whole("count", count, 1, MOST_BYTES), list[tuple[int, int]]()
        if sum(length for _, length in left) < needed:
            raise wrong_value("", "count", "must be at most the free granules", needed, sum(it[1] for it in left))
        while (taken := sum(length for _, length in runs)) < needed:
            start, length = np.array(left, np.int64).T.copy()
            see = FramesView(needed - taken, taken, len(left), start, length, self.parameters())
            runs.append(self._cut(left, int(self.plain_answer()(see)), needed - taken))
        return runs

    def _cut(self, left: list[tuple[int, int]], at: int, need: int) -> tuple[int, int]:
        """Take granules from one on out of its free run."""
        for k, (start, length) in enumerate(left):
            if start <= at < start + length:
                got, end = min(need, start + length - at), start + length
                rest = [(start, at - start), (at + got, end - at - got)]
                left[k : k + 1] = [run for run in rest if run[1] > 0]
                return at, got
        raise InputError(f"{self.short()} {FRAMES.wrong.format(answer=at)}.")

    def ready(self, checked: bool = False) -> ReadyFrames:
        """Return the policy for one run."""
        return ReadyFrames(self.ready_answer(checked), self.parameters())


def _checked(free: Any) -> list[tuple[int, int]]:
    rows = [wholes(f"free[{k}]", row, 0, MOST_BYTES, 2) for k, row in enumerate(listed("free", free))]
    for one, other in pairwise(rows):
        if one[0] + one[1] >= other[0]:
            raise wrong_value("", "free", "must be runs in ascending order, of which no two touch", free)
    if any(length < 1 for _, length in rows):
        raise wrong_value("", "free", "must be runs of at least 1 granule", free)
    return [(start, length) for start, length in rows]
