"""Which frames does memory get that the driver gives? (spec 6, R10)

The driver pages memory, so that an allocation lies in one run of frames or in several: which, decides how large the
pages of its regions may be. An answer takes a `FramesView` and is asked again until the allocation has all it needs.

What every choice owes, in a test file, for policies of this package or not:

    class TestMyFrames(FramesContract):
        policy = MyFrames()
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, number, readable, view
from workbench.errors import InputError, wrong_value
from workbench.policies.arguments import MOST_BYTES, listed, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import Request, Scenes


@view
class FramesView(NamedTuple):
    """What an allocation still needs, and the free runs of a card; only the first `runs` of the arrays count."""

    need: int = number("granules that the allocation still needs, at least 1; the card has as many")
    taken: int = number("granules that it has by now, by earlier answers")
    runs: int = number("free runs of the card, no two of which touch")
    start: np.ndarray = readable("int64", "most runs", "the first granule of each free run, ascending")
    length: np.ndarray = readable("int64", "most runs", "granules of each free run")
    levers: Any = PARAMS


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


class Longest(Frames):
    """Take the shortest free run that holds everything; if none does, the longest runs; the lowest one wins a tie.

    References
    ----------
    spec 6, R10, H6.1: the policy that keeps larger contiguous runs; best fit, with the longest holes as a fallback.

    Examples
    --------
    >>> longest = Longest()
    >>> longest.take([(2, 2), (6, 3), (10, 6)], 2), longest.take([(2, 2), (6, 3), (10, 6)], 7)
    ([(2, 2)], [(10, 6), (6, 1)])
    """

    @staticmethod
    def answer(see: FramesView) -> int:
        best, whole = 0, see.taken == 0 and see.length[0] >= see.need
        for run in range(1, see.runs):
            holds = see.taken == 0 and see.length[run] >= see.need
            shorter = see.length[run] < see.length[best]
            longer = see.length[run] > see.length[best]
            if (holds and (not whole or shorter)) or (not holds and not whole and longer):
                best, whole = run, holds
        return see.start[best]


class Lowest(Frames):
    """Take the lowest free granules, so that fragments are used up; no two are equal, so that there are no ties.

    References
    ----------
    spec 6, R10, H6.1: what a driver does that maps any free page, as it comes.

    Examples
    --------
    >>> Lowest().take([(2, 2), (6, 3), (10, 6)], 3)
    [(2, 2), (6, 1)]
    """

    @staticmethod
    def answer(see: FramesView) -> int:
        return see.start[0]


class FramesContract(Contract):
    """Tests that every choice of frames passes; a subclass names the policy."""

    policy: ClassVar[Frames]
    steps = 40
    tried = 40

    def scenes(self, policy: Frames, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about cards with a few free runs, of lengths alike and not, before and within an allocation."""
        for _ in range(steps):
            start, length = _drawn(draw)
            need, taken = int(draw.integers(1, length.sum() + 1)), int(draw.choice([0, 0, 5]))
            room = np.zeros(3, np.int64)
            yield FramesView(need, taken, start.size, np.r_[start, room], np.r_[length, room], _BROUGHT)

    def judge(self, request: Request) -> str:
        """Return a fault where the granule is not free."""
        see = request.see
        begins, ends = see.start[: see.runs], (see.start + see.length)[: see.runs]
        free = ((begins <= request.answer) & (request.answer < ends)).any()
        return "" if free else f"answered granule {request.answer}, which is not free, for {see}"

    def test_gives_exactly_what_is_needed(self) -> None:
        for requested in self.requests()[:20]:
            see = requested.see
            free = list(zip(see.start[: see.runs].tolist(), see.length[: see.runs].tolist(), strict=True))
            runs = self.policy.take(free, see.need)
            granules = [start + k for start, length in runs for k in range(length)]
            there = {start + k for start, length in free for k in range(length)}
            assert len(granules) == len(set(granules)) == see.need, f"{runs} is not {see.need} granules"
            assert there.issuperset(granules), f"{runs} is not all free in {free}"


_BROUGHT: Any = None
"""Stands for the levers, which the policy brings along."""


def _drawn(draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    length = draw.choice([1, 1, 2, 16, 512, 513], int(draw.integers(1, 9)))
    gap = draw.choice([1, 3, 512], length.size)
    return gap.cumsum() + length.cumsum() - length - int(draw.choice([0, gap[0]])), length
