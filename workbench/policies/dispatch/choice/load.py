"""Module choices by what runs there (least waves, the idler of two), by turns, by number or by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from workbench.compiled import kernel
from workbench.errors import InputError, at, wrong_value
from workbench.levers import lever
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.scene import USUAL
from workbench.policies.dispatch.choice.view import ChoiceNotice, ChoiceView
from workbench.streams import Streams
from workbench.structures.rng import below

AT = 0


class ByLoad(Choice, abstract=True):
    """A choice that counts the waves or the workgroups that run in a module, by the slots that they take."""

    load: Literal["waves", "workgroups"] = lever("waves", description="what is counted")
    load_at: int = lever(
        -1,
        least=-1,
        most=63,
        description="where its slots stand among the machine's resources; -1 = where they usually do",
    )

    def bound(self, names: Sequence[str]) -> Self:
        """Return the policy with the place at which this machine has the slots."""
        return self.but(load_at=list(names).index(self.load)) if self.load in names else self

    def parameters(self) -> np.ndarray:
        return np.array([float(USUAL.index(self.load) if self.load_at < 0 else self.load_at)])

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        path, place = path or self.name, int(self.parameters()[AT])
        if self.load not in names:
            lacks = f"{path} counts {self.load}, which this machine has no slots of; it has {', '.join(names)}."
            raise InputError(at(where, lacks))
        if list(names).index(self.load) != place:
            expected = f"must be the place of {self.load} among {', '.join(names)}, from 0 on"
            raise wrong_value(where, f"{path}.load_at", expected, place, list(names).index(self.load))


class LeastWaves(ByLoad):
    """Take the module in which the fewest waves run, or with `load="workgroups"` the fewest groups; ties as the engine.

    Counted by workgroups it is the rule to join the shortest queue. It balances slots, not registers or memory.

    References
    ----------
    spec 3, section 7: join shortest queue, least waves.

    Examples
    --------
    >>> LeastWaves().choose([(9, 9, 3, 9, 9), (1, 1, 7, 1, 9), (9, 9, 5, 9, 9)], totals=(9, 9, 10, 9, 9))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = idle_slots(see.modules[k], see.free, see.totals, see.levers)


GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class TwoChoices(ByLoad):
    """Draw two of the modules with space and take the one in which fewer waves (or groups) run; ties as the engine.

    Every pair is equally likely. The module that is taken scores 2, the other one 1, or 2 as well at a tie, all others
    0. Nearly as even as looking at all modules, for two looks.

    References
    ----------
    spec 3, section 7. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.

    Examples
    --------
    >>> TwoChoices().choose([(9, 9, 3, 9, 9), (9, 9, 7, 9, 9)])
    1
    """

    draws = True

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        one = below(see.memory, GENERATOR, see.count)
        if see.count > 1:
            two = below(see.memory, GENERATOR, see.count - 1)
            # The second number is drawn among the other modules, so numbers from the first one on move up by 1.
            two += two >= one
            ahead = idle_slots(see.modules[one], see.free, see.totals, see.levers) - idle_slots(
                see.modules[two], see.free, see.totals, see.levers
            )
            see.scores[two] = 2.0 if ahead <= 0.0 else 1.0
            see.scores[one] = 2.0 if ahead >= 0.0 else 1.0
        else:
            see.scores[one] = 2.0

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `two_choices` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("two_choices"), 1)])


NEXT = 0
"""Memory: the module behind the one that was taken last."""


class RoundRobin(Choice):
    """Take the first module with space behind the one that was taken last, cyclically; there are no ties.

    It is blind to what is left in a module and to what has run there. The turn passes when a group is dispatched, so a
    module without space loses its turn.

    References
    ----------
    spec 3, R82; source document ¶238.

    Examples
    --------
    >>> RoundRobin().choose([(5,), (5,), (5,)]), RoundRobin().choose([(5,), (5,), (5,)], after=(0, 1))
    (0, 2)
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        every = see.free.size // see.totals.size
        for k in range(see.count):
            see.scores[k] = -float((see.modules[k] - see.memory[NEXT]) % every)

    @staticmethod
    def chosen(see: ChoiceNotice) -> None:
        see.memory[NEXT] = (see.module + 1) % see.modules


class FirstModule(Choice):
    """Take the lowest module with space, whatever the engine does with ties, for there are none.

    Modules fill one after another, and the last ones stay idle as long as they can.

    References
    ----------
    spec 3, section 7: a control that balances nothing; first fit over the modules.

    Examples
    --------
    >>> FirstModule().choose([(1,), (9,), (9,)], modules=(1, 2))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -float(see.modules[k])


class RandomModule(Choice):
    """Take any module with space, each as likely as another: it scores 1 and all others 0; there are no ties.

    The numbers come from the policy's own generator, seeded from the run's seed; every question draws one.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> RandomModule().choose([(5,), (5,), (5,)], modules=(1, 2)) in (1, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        see.scores[below(see.memory, GENERATOR, see.count)] = 1.0

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_module` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_module"), 1)])


@kernel
def idle_slots(module: int, free: Any, totals: Any, params: Any) -> float:
    """Return minus the waves or workgroups that run in a module: the more, the idler."""
    place = int(params[AT])
    return float(free[module * totals.size + place] - totals[place])
