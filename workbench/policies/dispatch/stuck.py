"""What becomes of a group that has been stuck for many rounds? (spec 3, Em. 3)

A round fails when a group waits and nothing is dispatched; a dispatch sets the count of failed rounds back. Once the
count exceeds `patience()`, the policy is asked about each group at a channel's head, in the order of the channels; its
answer takes a `StuckView`. The sub-groups take the group's place at the head of its channel one after another, waves
shared out evenly, the first ones with one more. When nothing is split, the count stays where it is and a later group at
a head is asked about at once (spec 3, E11).

What every policy owes, in a test file, for policies of this package or not:

    class TestMySplit(StuckContract):
        policy = MySplit(threshold=16)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, number, view
from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST_LEVELS, MOST_WAVES, truths, whole
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import Request, Scenes


@view
class StuckView(NamedTuple):
    """The group at the head of a channel."""

    waves: int = number("waves of the group")
    independent: int = number("1 where its waves may run apart, 0 where they belong together")
    priority: int = number("its static priority")
    levels: int = number("how many priorities there are")
    levers: Any = PARAMS


PARTS = Question(
    "stuck",
    StuckView,
    answers="into how many sub-groups the group is split, from 2 to `waves`; 0 or 1 leaves it whole",
    wrong="answered {answer} parts, but it has fewer waves, or they are not independent",
)
FOR_EVER = 1 << 62
"""The patience of a policy that is never asked."""

SubPriority = Literal["inherit", "lowest", "below_all"]
"""The priority of a sub-group: its group's; the lowest level; a level below the lowest that no window raises."""


class ReadyStuck(NamedTuple):
    """A policy for stuck groups as engines receive it."""

    answer: Answer
    params: np.ndarray
    patience: int
    look_ahead: int
    sub_priority: int
    """0 inherit, 1 lowest, 2 below all."""
    divides_shared: int


class Stuck(Policy, abstract=True):
    """The base of every policy for stuck groups; a new one needs an `answer`."""

    question: ClassVar[str] = "stuck"
    asks: ClassVar[Question] = PARTS

    def patience(self) -> int:
        """Return the failed rounds in a row that must be exceeded before the policy is asked."""
        return FOR_EVER

    def look_ahead(self) -> int:
        """Return the number of groups behind the head of each channel that may be dispatched while the head does not
        fit."""
        return 0

    def sub_priority(self) -> SubPriority:
        """Return the priority of a sub-group."""
        return "inherit"

    def divides_shared(self) -> bool:
        """Return whether a sub-group asks for its share of its group's module resources, rounded up, instead of all."""
        return False

    def rounds_until_asked(self, at: int = 0) -> int:
        """Return the number of rounds in a row that must fail until the policy is asked, counted from `at` failed ones
        (spec 3, E10)."""
        return max(self.patience() + 1 - whole("at", at), 1)

    def parts(self, waves: int, independent: bool = True, priority: int = 1, levels: int = 4) -> list[int]:
        """Return the waves of each sub-group that a group becomes when it is asked about; itself if it stays whole.

        Parameters
        ----------
        waves : int
            Waves of the group, at least 1.
        independent : bool
            Whether its waves may run apart.
        priority, levels : int
            Its static priority, and how many there are.

        Raises
        ------
        InputError
            The group has no wave.
        """
        waves, levels = whole("waves", waves, None, MOST_WAVES), whole("levels", levels, 1, MOST_LEVELS)
        priority, (independent,) = whole("priority", priority, 1, levels + 1), truths("independent", [independent], 1)
        if waves < 1:
            raise wrong_value("", "waves", "must be at least 1", waves, 1)
        seen = StuckView(waves, int(independent), priority, levels, self.parameters())
        parts = max(int(self.plain_answer()(seen)), 1)
        return [waves // parts + (k < waves % parts) for k in range(parts)]

    def ready(self, checked: bool = False) -> ReadyStuck:
        """Return the policy for a run."""
        return ReadyStuck(
            self.ready_answer(checked),
            self.parameters(),
            self.patience(),
            self.look_ahead(),
            ("inherit", "lowest", "below_all").index(self.sub_priority()),
            int(self.divides_shared()),
        )


class NeverSplit(Stuck):
    """Leave every group whole, however long it is stuck; it is never asked, so there are no ties.

    References
    ----------
    spec 3, H3.6: what splitting is compared with.

    Examples
    --------
    >>> NeverSplit().parts(waves=8)
    [8]
    """

    @staticmethod
    def answer(see: StuckView) -> int:
        return 1


INTO, HALVES = 1, 1


class SplitWhenStuck(Stuck):
    """Split every flagged group at a channel's head once more rounds than the threshold have failed in a row.

    Each wave becomes a sub-group, or the group is halved, its first half the larger one. A group whose waves belong
    together, or of one wave, stays whole. All flagged heads are split at once, so there are no ties.

    References
    ----------
    spec 3, R21-R29 (C0-C3); E9-E12; V30.

    Examples
    --------
    >>> SplitWhenStuck().parts(waves=3), SplitWhenStuck(into="halves").parts(waves=7)
    ([1, 1, 1], [4, 3])
    >>> SplitWhenStuck().parts(waves=3, independent=False)
    [3]
    >>> SplitWhenStuck(threshold=256).rounds_until_asked()
    257
    """

    threshold: int = lever(
        256,
        least=1,
        most=1 << 20,
        scale="log",
        unit="rounds",
        description="failed rounds in a row that must be exceeded",
    )
    into: Literal["waves", "halves"] = lever("waves", description="what a group is split into")
    priority: SubPriority = lever(
        "lowest",
        description="a sub-group's priority: its group's, the lowest level, or one below it that no window raises",
    )
    shared: Literal["full", "divided"] = lever(
        "full", description="whether a sub-group needs all of its group's module resources, or its share, rounded up"
    )

    @staticmethod
    def answer(see: StuckView) -> int:
        if not see.independent or see.waves < 2:
            return 1
        return 2 if see.levers.into == HALVES else see.waves

    def patience(self) -> int:
        """Return the threshold."""
        return self.threshold

    def sub_priority(self) -> SubPriority:
        """Return the lever `priority`."""
        return self.priority

    def divides_shared(self) -> bool:
        """Return whether the lever `shared` says so."""
        return self.shared == "divided"


class Backfill(Stuck):
    """Let one of the next few groups of a channel go while its head fits nowhere: the first in order that fits.

    Nothing is reserved for the head, which may be passed for ever; the order inside a channel is then kept no more
    (R2). All else is as `upstream` says: `Backfill(upstream=SplitWhenStuck())` also splits. Queue order leaves no ties.

    References
    ----------
    spec 3, section 7: competes with splitting; D. Lifka, "The ANL/IBM SP Scheduling System", Job Scheduling Strategies
    for Parallel Processing, 1995, whose EASY scheduler reserves for the head.

    Examples
    --------
    >>> Backfill(depth=8).look_ahead()
    8
    >>> from workbench.policies.dispatch import SplitWhenStuck
    >>> both = Backfill(upstream=SplitWhenStuck(threshold=16))
    >>> both.parts(waves=3), both.patience()
    ([1, 1, 1], 16)
    """

    depth: int = lever(
        4, least=1, most=4096, unit="groups", description="how many groups behind a channel's head may pass it"
    )
    upstream: Stuck = lever(NeverSplit(), description="what becomes of a head that stays stuck all the same")

    def function(self) -> Callable[..., int]:
        """Return the answer of upstream."""
        return self.upstream.function()

    def speakers(self) -> Sequence[Stuck]:
        """Return upstream, whose function answers."""
        return (self.upstream,)

    def lever_kinds(self) -> tuple[tuple[str, str], ...]:
        """Return those of the upstream, whose answer it is."""
        return self.upstream.lever_kinds()

    def parameters(self) -> np.ndarray:
        """Return the levers of upstream, whose answer it is."""
        return self.upstream.parameters()

    def patience(self) -> int:
        """Return the patience of upstream."""
        return self.upstream.patience()

    def look_ahead(self) -> int:
        """Return the depth, or what upstream looks ahead if that is more."""
        return max(self.depth, self.upstream.look_ahead())

    def sub_priority(self) -> SubPriority:
        """Return the priority that upstream gives a sub-group."""
        return self.upstream.sub_priority()

    def divides_shared(self) -> bool:
        """Return the answer of upstream."""
        return self.upstream.divides_shared()


WAVES = (1, 2, 3, 4, 7, 16, 64, 1024)


class StuckContract(Contract):
    """Tests that every policy for stuck groups passes; a subclass names the policy."""

    policy: ClassVar[Stuck]
    sizes = (1, 4, 8)
    """Numbers of priorities."""

    def scenes(self, policy: Stuck, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask every question of small size and some larger ones, a sub-group below all priorities among them."""
        for waves, independent, priority in product(WAVES, (0, 1), range(1, size + 2)):
            yield StuckView(waves, independent, priority, size, None)

    def judge(self, request: Request) -> str:
        """Return a fault where waves that belong together are split, or a sub-group would get none (spec 3, R29)."""
        parts, see = request.answer, request.see
        fine = parts in (0, 1) or (see.independent and 2 <= parts <= see.waves)
        return "" if fine else f"splits into {parts}, for {see}"

    def test_no_wave_is_lost(self) -> None:
        for waves in range(1, 70):
            parts = self.policy.parts(waves)
            assert sum(parts) == waves, f"{parts} of {waves}"
            assert min(parts) >= 1, f"{parts} of {waves}"
            assert parts == sorted(parts, reverse=True), "the first sub-groups are the larger ones"
            assert max(parts) - min(parts) <= 1, "shared out evenly"

    def test_what_it_asks_of_the_engine(self) -> None:
        ready = self.policy.ready()
        assert 0 <= ready.patience <= FOR_EVER
        assert ready.look_ahead >= 0
        assert ready.sub_priority in (0, 1, 2)
        assert ready.divides_shared in (0, 1)
        assert self.policy.rounds_until_asked() == ready.patience + 1
