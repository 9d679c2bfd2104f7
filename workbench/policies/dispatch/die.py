"""On which die does a group or a cluster start? (spec 7, R4 to R9)

A die is a set of modules that stand together: an XCD, a GPC, a shader engine. In every round the policy is asked about
each head that fits some admitted module, before the candidates of the round are formed. After each dispatch of the
round it is asked once more about the heads that are left. It keeps no memory: all that it may count by, it sees.

What every policy owes, in a test file, for policies of this package or not:

    class TestMyDie(DieContract):
        policy = MyDie()
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, number, readable, view
from workbench.errors import unknown_name, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import listed, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes

ALL, WAIT = -1, -2
"""Answers that are no die: modules of all dies compete; the head waits, for no die in particular."""
MOST_DIES = 16
USUAL = ("vgpr", "sgpr", "waves", "shared", "workgroups")
"""The resources of a machine unless it says otherwise."""


@view
class DieView(NamedTuple):
    """A head, and the dies of the machine."""

    kernel: int = number("the kernel of the group")
    channel: int = number("its channel")
    group: int = number("its number in its kernel, from 0; of a cluster, the number of the cluster")
    groups: int = number("how many groups its kernel has; where it has clusters, how many of those")
    of_channel: int = number("how many groups of its channel were dispatched before it; a cluster counts once")
    of_all: int = number("how many groups of all channels were dispatched before it; a cluster counts once")
    dies: int = number("how many dies there are")
    resources: int = number("how many resources a module has")
    fits: np.ndarray = readable(
        "int64",
        "dies",
        "how many admitted modules of each die it fits; for a cluster 1 where the die can take all of it",
    )
    free: np.ndarray = readable(
        "int64", "dies * resources", "free blocks of each die, row by row, summed over its admitted modules"
    )
    levers: Any = PARAMS


DIE = Question(
    "die",
    DieView,
    answers="a die; -1: modules of all dies compete; -2: it waits. A die where nothing fits: it waits for that die",
    wrong="answered {answer}, which is no die; -1 lets all dies compete, -2 lets the group wait",
)


_SEEN = ("kernel", "channel", "group", "groups", "of_channel", "of_all", "free")


class ReadyDie(NamedTuple):
    """A policy for dies as engines receive it."""

    answer: Answer
    params: np.ndarray


class Die(Policy, abstract=True):
    """The base of every policy for dies; a new one needs an `answer`."""

    question: ClassVar[str] = "die"
    asks: ClassVar[Question] = DIE

    def neutral(self) -> bool:
        """Return whether the policy always lets all dies compete, so that engines need not ask."""
        return False

    def numbers_on(self, names: Sequence[str]) -> np.ndarray:
        """Return the levers as the answer sees them on a machine with these resources: float64[levers]."""
        return self.parameters()

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        """Refuse levers that do not go with the machine's resources."""

    def die_of(self, fits: Sequence[int], **seen: Any) -> int:
        """Return the answer about one head, in plain Python and without an engine.

        Parameters
        ----------
        fits : sequence of int
            How many admitted modules of each die it fits.
        **seen : int or sequence, optional
            `kernel`, `channel`, `group`, `of_channel` and `of_all`: 0 if not given. `groups`: the number of the group
            and 1 if not given. `free`: of each die the free vgpr, sgpr, waves, shared and workgroups.

        Raises
        ------
        InputError
            There is no die, the kernel has no such group, or an argument is no whole number in its range.
        """
        counts = wholes("fits", fits, 0, 1 << 40)
        if not 1 <= len(counts) <= MOST_DIES:
            raise wrong_value("", "fits", f"must have a number for each of 1 to {MOST_DIES} dies", len(counts))
        if unknown := [name for name in seen if name not in _SEEN]:
            raise unknown_name("", "name", unknown[0], _SEEN)
        kernel, channel, of_channel, of_all = (
            whole(name, seen.get(name, 0), 0, 1 << 40) for name in ("kernel", "channel", "of_channel", "of_all")
        )
        group = whole("group", seen.get("group", 0), 0, 1 << 40)
        groups = whole("groups", seen.get("groups", group + 1), group + 1, 1 << 41)
        rows = listed("free", seen.get("free", [[0] * len(USUAL)] * len(counts)))
        if len(rows) != len(counts):
            raise wrong_value("", "free", f"must have a row for each of the {len(counts)} dies", len(rows))
        free = np.array([wholes(f"free[{die}]", row, 0, 1 << 40, len(USUAL)) for die, row in enumerate(rows)], np.int64)
        numbers = (kernel, channel, group, groups, of_channel, of_all, len(counts), len(USUAL))
        return int(
            self.plain_answer()(DieView(*numbers, np.array(counts, np.int64), free.reshape(-1), self.parameters()))
        )

    def ready(self, names: Sequence[str], checked: bool = False) -> ReadyDie:
        """Return the policy for a machine with these resources."""
        return ReadyDie(self.ready_answer(checked), self.numbers_on(names))


class AnyDie(Die):
    """Let the modules of all dies compete: the dispatcher of spec 3, which knows no dies; there are no ties.

    References
    ----------
    spec 7, R5.

    Examples
    --------
    >>> AnyDie().die_of(fits=(0, 3))
    -1
    """

    @staticmethod
    def answer(see: DieView) -> int:
        return ALL

    def neutral(self) -> bool:
        """Return True: dies do not matter."""
        return True


BY_KERNEL, BY_CHANNEL = 0, 1
BOUND = 0


class RoundRobinDies(Die):
    """Send one chunk of groups after another to the next die: number g belongs to die floor(g / chunk) mod dies.

    The number counts the groups of a kernel, or what was dispatched before of a channel or of all; a group that waits
    keeps no number. With `bound` a group waits for its die, as in AMD's emulator; on cards this is assumed. With `skip`
    it goes to the next die in cyclic order that it fits, and does not change whose turn is next. There are no ties.

    References
    ----------
    spec 7, R6, E1, E3, E6, V3, V4, V13. ROCm/rocm-systems, `emulation/rocjitsu/docs/vm-design.md`: workgroup i goes to
    die i mod count.

    Examples
    --------
    >>> [RoundRobinDies(chunk=2).die_of(fits=(1, 1), group=g) for g in range(6)]
    [0, 0, 1, 1, 0, 0]
    >>> RoundRobinDies().die_of(fits=(1, 0), group=1), RoundRobinDies(binding="skip").die_of(fits=(1, 0), group=1)
    (1, 0)
    """

    by: Literal["kernel", "channel", "all"] = lever(
        "kernel", description="what numbers the groups: their kernel, or the dispatches of their channel or of all"
    )
    chunk: int = lever(1, least=1, most=1 << 20, unit="groups", description="groups in a row that go to one die")
    binding: Literal["bound", "skip"] = lever(
        "bound", description="where nothing fits on the die: wait for it, or go to the next one that fits"
    )

    @staticmethod
    def answer(see: DieView) -> int:
        counted = see.of_all
        if see.levers.by == BY_KERNEL:
            counted = see.group
        elif see.levers.by == BY_CHANNEL:
            counted = see.of_channel
        die = counted // see.levers.chunk % see.dies
        if see.levers.binding == BOUND:
            return die
        for step in range(see.dies):
            following = (die + step) % see.dies
            if see.fits[following] > 0:
                return following
        return WAIT


class ContiguousDies(Die):
    """Give each die an equal part of a kernel's groups in a row: of n, number g belongs to die floor(g dies / n).

    A group waits for its die. There are no ties.

    References
    ----------
    spec 7, R7, V4, V12.

    Examples
    --------
    >>> [ContiguousDies().die_of(fits=(1, 1), group=g, groups=6) for g in range(6)]
    [0, 0, 0, 1, 1, 1]
    """

    @staticmethod
    def answer(see: DieView) -> int:
        return see.group * see.dies // see.groups


class MostFreeDie(Die):
    """Take the die with the most free amount of a resource among those that fit; the lowest die wins a tie.

    The amount is the sum over the admitted modules of the die, of contiguous resources too.

    References
    ----------
    spec 7, R8.

    Examples
    --------
    >>> MostFreeDie().die_of(fits=(1, 2, 0), free=[(9, 9, 4, 9, 9), (9, 9, 7, 9, 9), (9, 9, 8, 9, 9)])
    1
    """

    resource: str = lever("waves", description="the label of the resource that counts")

    @staticmethod
    def answer(see: DieView) -> int:
        best, most, at = WAIT, -1, int(see.levers[0])
        for die in range(see.dies):
            if see.fits[die] > 0 and see.free[die * see.resources + at] > most:
                best, most = die, see.free[die * see.resources + at]
        return best

    def parameters(self) -> np.ndarray:
        return self.numbers_on(USUAL)

    def numbers_on(self, names: Sequence[str]) -> np.ndarray:
        """Return the place of the resource: float64[1]; the first where the machine has none of that label."""
        return np.array([float([*names, self.resource].index(self.resource) % max(len(names), 1))])

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        if self.resource not in names:
            raise unknown_name(where, f"resource of {path or self.name}", self.resource, names)


class FirstDie(Die):
    """Take the lowest die that fits; no two are equal.

    References
    ----------
    spec 7, R8.

    Examples
    --------
    >>> FirstDie().die_of(fits=(0, 2, 5))
    1
    """

    @staticmethod
    def answer(see: DieView) -> int:
        for die in range(see.dies):
            if see.fits[die] > 0:
                return die
        return WAIT


class DieContract(Contract):
    """Tests that every policy for dies passes; a subclass names the policy."""

    policy: ClassVar[Die]
    sizes = (1, 2, 3, 8, 16)
    """Numbers of dies."""
    steps = 80

    def scenes(self, policy: Die, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about heads that fit at least one module, with rising numbers of dispatches."""
        sent = np.zeros(4, np.int64)
        for _ in range(steps):
            groups, channel = int(draw.integers(1, 40)), int(draw.integers(0, 4))
            fits = draw.integers(0, 3, size)
            fits[int(draw.integers(size))] += 1
            numbers = (int(draw.integers(0, 9)), channel, int(draw.integers(groups)), groups, int(sent[channel]))
            free = draw.integers(0, 5, size * len(USUAL))
            answer = yield DieView(*numbers, int(sent.sum()), size, len(USUAL), fits, free, KEPT[0])
            sent[channel] += answer >= ALL

    def judge(self, request: Request) -> str:
        """Return a fault where the answer is no die, and neither that all compete nor that the group waits."""
        fine = request.answer in (ALL, WAIT) or 0 <= request.answer < request.see.dies
        return "" if fine else f"answered {request.answer}, which is no die, for {request.see}"

    def test_lets_all_dies_compete_where_it_says_so(self) -> None:
        if self.policy.neutral():
            others = [str(request.see) for request in self.requests() if request.answer != ALL]
            assert not others, f"neutral is True, so engines do not ask: {others[0]}"
