"""Which modules may a group go to at all? (spec 7, R19 and R20)

The policy is asked about a group and a module before it is looked whether the group fits. It sees what is resident now,
within a round too. A module's report stays the same for all groups, admitted or not.

Partitions of a card are answers of this question: green contexts and CU masks (`partition_by_channel`), an MPS share
(`share_by_channel`), one kernel a module (`exclusive`).

What every policy owes, in a test file, for policies of this package or not:

    class TestMyAdmission(AdmissionContract):
        policy = MyAdmission()
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, kernel, number, readable, view
from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import listed, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import KEPT, Request, Scenes


@view
class AdmissionView(NamedTuple):
    """A group, and a module that it might go to."""

    channel: int = number("the channel of the group")
    kernel: int = number("its kernel")
    priority: int = number("its static priority")
    module: int = number("the module")
    die: int = number("the die of the module")
    modules: int = number("how many modules there are")
    groups: int = number("groups that are resident in the module")
    same_kernel: int = number("groups of the same kernel among them")
    modules_held: int = number("modules in which the group's channel has any group")
    demand: np.ndarray = readable("int64", "resources", "what the whole group takes of each resource of a module")
    here: np.ndarray = readable("int64", "channels", "groups of each channel that are resident in the module")
    own: np.ndarray = readable("int64", "all modules", "groups of the group's channel that are resident in each module")
    levers: Any = PARAMS


ADMISSION = Question(
    "admission",
    AdmissionView,
    answers="1 where the group may go to the module, 0 where it may not",
    wrong="answered {answer}; it must be 1 (the group may go there) or 0 (it may not)",
)

MOST_NUMBER = 1 << 16
"""The largest channel or kernel that a group is tried out with."""


class ReadyAdmission(NamedTuple):
    """A policy for admission as engines receive it."""

    answer: Answer
    params: np.ndarray


class Admission(Policy, abstract=True):
    """The base of every policy for admission; a new one needs an `answer`."""

    question: ClassVar[str] = "admission"
    asks: ClassVar[Question] = ADMISSION

    def neutral(self) -> bool:
        """Return whether the policy admits every group to every module, so that engines need not ask."""
        return False

    def check_modules(self, modules: int, path: str = "", where: str = "") -> None:
        """Refuse levers that do not go with the number of modules."""

    def admits(self, held: Sequence[Any], module: int, **seen: Any) -> bool:
        """Return whether a group may go to a module, in plain Python and without an engine.

        Parameters
        ----------
        held : sequence of lists of pairs
            Channel and kernel of each group that is resident, a list a module.
        module : int
            The module, from 0.
        **seen : int, optional
            `channel`, `kernel` (0 if not given) and `priority` (1 if not given) of the group, `die` of the module (0).

        Raises
        ------
        InputError
            There is no such module, or an argument is no whole number in its range.
        """
        names = ("channel", "kernel", "priority", "die")
        if unknown := [name for name in seen if name not in names]:
            raise unknown_name("", "name", unknown[0], names)
        channel, kernel, priority, die = (
            whole(name, seen.get(name, int(name == "priority")), 0, MOST_NUMBER) for name in names
        )
        resident = [_pairs(f"held[{k}]", pairs) for k, pairs in enumerate(listed("held", held))]
        if not resident:
            raise wrong_value("", "held", "must have a list of groups for at least one module", [])
        module = whole("module", module, 0, len(resident) - 1)
        here = resident[module]
        channels = 1 + max([channel, *(of for pairs in resident for of, _ in pairs)])
        by_channel = np.bincount([of for of, _ in here], minlength=channels)
        own = np.array([sum(of == channel for of, _ in pairs) for pairs in resident])
        numbers = (len(here), sum(of == kernel for _, of in here), int((own > 0).sum()))
        see = AdmissionView(
            channel, kernel, priority, module, die, len(resident), *numbers, np.zeros(0, np.int64), by_channel, own,
            self.parameters(),
        )  # fmt: skip
        return bool(self.plain_answer()(see))

    def ready(self, checked: bool = False) -> ReadyAdmission:
        """Return the policy for a run."""
        return ReadyAdmission(self.ready_answer(checked), self.parameters())


def _pairs(name: str, pairs: Any) -> list[tuple[int, int]]:
    """Return the channel and the kernel of each group of a list."""
    each = enumerate(listed(name, pairs, "must be a list of pairs: the channel and the kernel of each group"))
    numbers = [wholes(f"{name}[{k}]", pair, 0, MOST_NUMBER, count=2) for k, pair in each]
    return [(channel, kernel) for channel, kernel in numbers]


class OpenToAll(Admission):
    """Admit every group to every module: the dispatcher of spec 3.

    References
    ----------
    spec 7, R20.

    Examples
    --------
    >>> OpenToAll().admits(held=[[(0, 0)], [(1, 1)]], module=1)
    True
    """

    @staticmethod
    def answer(see: AdmissionView) -> int:
        return 1

    def neutral(self) -> bool:
        """Return True: no group is kept away."""
        return True


_NUMBER = re.compile("[0-9]{1,9}")
EVERYWHERE = 0
OTHERS, PARTS, SPANS = 0, 1, 2


class Partition(Admission, abstract=True):
    """A partition of the modules: each part is a list of modules, written `0-3` or `0-3,8`, with `|` between parts."""

    parts: str = lever(
        "0", description="the modules of each part as ranges, such as `0-3,8 | 4-7`: part k, from 0, is of number k"
    )
    others: Literal["everywhere", "nowhere"] = lever(
        "everywhere", description="where those may go whose number has no part, or an empty one"
    )

    def spans(self) -> list[list[tuple[int, int]]]:
        """Return the first and the last module of each range of each part.

        Raises
        ------
        InputError
            A part is no list of ranges.
        """
        return [_spans(part, f"{self.name}.parts") for part in self.parts.split("|")]

    def check(self) -> None:
        self.spans()

    def check_modules(self, modules: int, path: str = "", where: str = "") -> None:
        last = max((last for part in self.spans() for _, last in part), default=0)
        if last >= modules:
            lacks = f"{path or self.name}.parts names module {last}; the machine has 0 to {modules - 1}."
            raise InputError(at(where, lacks))

    def parameters(self) -> np.ndarray:
        """Return whether others go nowhere, how many parts there are, where each ends, and then all ranges."""
        spans = self.spans()
        ends = np.cumsum([len(part) for part in spans]).tolist()
        flat = [float(module) for part in spans for span in part for module in span]
        return np.array([float(self.others == "nowhere"), float(len(spans)), *map(float, ends), *flat])


def _spans(text: str, path: str) -> list[tuple[int, int]]:
    spans = []
    for piece in filter(None, text.replace(" ", "").split(",")):
        first, dash, last = piece.partition("-")
        last = last if dash else first
        is_range = _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last) and int(first) <= int(last)
        if not is_range:
            raise wrong_value("", path, "must be modules as ranges, such as `0-3,8 | 4-7`", text)
        spans.append((int(first), int(last)))
    return spans


@kernel
def in_part(number: int, module: int, levers: Any) -> int:
    """Return 1 where a module is in the part of a number; where that has none, whether others go everywhere.

    >>> levers = PartitionByChannel(parts="0-1,5 | 2", others="nowhere").parameters()
    >>> [in_part(0, 5, levers), in_part(0, 2, levers), in_part(1, 2, levers), in_part(2, 2, levers)]
    [1, 0, 1, 0]
    """
    parts = int(levers[PARTS])
    first = int(levers[SPANS + number - 1]) if 0 < number < parts else 0
    last = int(levers[SPANS + number]) if number < parts else first
    if first == last:
        return int(levers[OTHERS] == EVERYWHERE)
    spans = SPANS + parts
    for k in range(first, last):
        if levers[spans + 2 * k] <= module <= levers[spans + 2 * k + 1]:
            return 1
    return 0


class PartitionByChannel(Partition):
    """Admit the groups of channel k to the modules of part k alone: a green context or a CU mask a stream.

    References
    ----------
    spec 7, R20.

    Examples
    --------
    >>> halves = PartitionByChannel(parts="0-1 | 2-3")
    >>> [halves.admits(held=[[], [], [], []], module=2, channel=channel) for channel in (0, 1, 2)]
    [False, True, True]
    """

    @staticmethod
    def answer(see: AdmissionView) -> int:
        return in_part(see.channel, see.module, see.levers)


class PartitionByKernel(Partition):
    """Admit the groups of kernel k to the modules of part k alone.

    References
    ----------
    spec 7, R20.

    Examples
    --------
    >>> second_alone = PartitionByKernel(parts=" | 0-1", others="nowhere")
    >>> [second_alone.admits(held=[[], []], module=1, kernel=kernel) for kernel in (0, 1)]
    [False, True]
    """

    @staticmethod
    def answer(see: AdmissionView) -> int:
        return in_part(see.kernel, see.module, see.levers)


UP, OF, WHOLE = 0, 1, 2


class ShareByChannel(Admission):
    """Let the groups of a channel stand in at most a share of the modules at once, and in at least one.

    Which modules these are is not fixed. Nothing is reserved: two channels may share a module, as under MPS.

    References
    ----------
    spec 7, R20, V7. NVIDIA, Multi-Process Service documentation, execution resource provisioning: the percentage is
    rounded down and the count of SMs up.

    Examples
    --------
    >>> [ShareByChannel(share=0.5).admits(held=[[(0, 0)], []], module=module) for module in (0, 1)]
    [True, False]
    >>> share, up = ShareByChannel(share=0.3), ShareByChannel(share=0.3, round="up")
    >>> share.most(8), up.most(8), ShareByChannel(share=0.07, round="up").most(100)
    (2, 3, 7)
    """

    share: float = lever(0.5, least=0.0, most=1.0, description="share of the modules, taken as the decimal is written")
    round: Literal["down", "up"] = lever("down", description="how a part of a module is rounded")

    @staticmethod
    def answer(see: AdmissionView) -> int:
        up = int(see.levers[WHOLE]) - 1 if see.levers[UP] else 0
        most = max((see.modules * int(see.levers[OF]) + up) // int(see.levers[WHOLE]), 1)
        return int(see.own[see.module] > 0 or see.modules_held < most)

    def parameters(self) -> np.ndarray:
        # The decimal as written, up to 12 places: 0.07 as a binary fraction, rounded up, would make 8 modules of 100.
        # Both parts are exact as float64.
        share = Fraction(str(self.share)).limit_denominator(1 << 40)
        return np.array([float(self.round == "up"), float(share.numerator), float(share.denominator)])

    def most(self, modules: int) -> int:
        """Return in how many modules a channel may have groups at once."""
        up, of, whole = map(int, self.parameters())
        return max((modules * of + up * (whole - 1)) // whole, 1)


class Exclusive(Admission):
    """Admit to a module the groups of one kernel at a time; it is free for another kernel once it is empty.

    References
    ----------
    spec 7, R20. GPGPU-Sim's default is near it: there a module is kept until the kernel has no groups left.

    Examples
    --------
    >>> [Exclusive().admits(held=[[(0, 5)], []], module=module, kernel=6) for module in (0, 1)]
    [False, True]
    """

    @staticmethod
    def answer(see: AdmissionView) -> int:
        return int(see.groups == see.same_kernel)


CHANNELS, KERNELS, RESOURCES = 3, 4, 5


class AdmissionContract(Contract):
    """Tests that every policy for admission passes; a subclass names the policy."""

    policy: ClassVar[Admission]
    sizes = (1, 2, 8, 40)
    """Numbers of modules."""
    steps = 120

    def scenes(self, policy: Admission, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Let groups come and go, and ask where each may go; some are there whatever the answer was."""
        resident = np.zeros((size, CHANNELS, KERNELS), np.int64)
        for _ in range(steps):
            channel, kernel, module = (int(draw.integers(n)) for n in (CHANNELS, KERNELS, size))
            here, own = resident[module].sum(axis=1), resident[:, channel].sum(axis=1)
            numbers = (int(resident[module].sum()), int(resident[module, :, kernel].sum()), int((own > 0).sum()))
            head = (channel, kernel, int(draw.integers(1, 5)), module, module * 2 // size, size)
            answer = yield AdmissionView(*head, *numbers, draw.integers(0, 9, RESOURCES), here, own, KEPT[0])
            resident[module, channel, kernel] += answer == 1 or draw.random() < 0.2
            if draw.random() < 0.3:
                resident[int(draw.integers(size))] = 0

    def judge(self, request: Request) -> str:
        """Return a fault where the answer is neither yes nor no."""
        return "" if request.answer in (0, 1) else f"answered {request.answer}, not 0 or 1, for {request.see}"

    def test_admits_every_group_if_it_says_so(self) -> None:
        if self.policy.neutral():
            kept_away = [str(request.see) for request in self.requests() if request.answer != 1]
            assert not kept_away, f"neutral is True, so engines do not ask: {kept_away[0]}"
