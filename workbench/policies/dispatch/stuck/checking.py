"""One call that tries a new policy for stuck groups before its first run, and what the contract asks it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from workbench.compiled import RAISED, kernel, ran_out
from workbench.errors import PolicyError
from workbench.policies.dispatch.stuck.question import PARTS, Stuck
from workbench.policies.dispatch.stuck.view import StuckView

WAVES, LEVELS = (1, 2, 3, 4, 7, 16, 64, 1024), (1, 4, 8)

_parts = PARTS.ask


@kernel
def _asked(answer, waves, independent, priority, levels, params):  # type: ignore[no-untyped-def]
    return _parts(answer, StuckView(waves, independent, priority, levels, params))


class Asked(NamedTuple):
    """One question."""

    waves: int
    independent: int
    priority: int
    """1 to `levels` + 1: a sub-group that is below all may be asked about too."""
    levels: int

    def __str__(self) -> str:
        kind = "independent" if self.independent else "related"
        return f"a group of {self.waves} {kind} waves at priority {self.priority} of {self.levels}"


def questions() -> Iterator[Asked]:
    """Every question of small size, and some larger ones."""
    for levels, waves, independent in product(LEVELS, WAVES, (0, 1)):
        for priority in range(1, levels + 2):
            yield Asked(waves, independent, priority, levels)


class Speaker:
    """Asks a policy: compiled, through its address as engines do, or in plain Python."""

    def __init__(self, policy: Stuck, compiled: bool, checked: bool = False) -> None:
        self.policy, self.params = policy, policy.parameters()
        self.ready = policy.ready(checked) if compiled else None

    def ask(self, asked: Asked) -> int:
        """Into how many sub-groups, `RAISED` where there was an exception."""
        if self.ready is not None:
            return int(_asked(self.ready.answer, *asked, self.params))
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                return int(self.policy.plain_answer()(StuckView(*asked, self.params)))
        except Exception:
            return RAISED


def allowed(asked: Asked, answer: int) -> bool:
    """Whether the group stays whole, or is one of independent waves and each sub-group gets at least one."""
    return answer in (0, 1) or (bool(asked.independent) and 2 <= answer <= asked.waves)


def digest(policy: Stuck, compiled: bool) -> str:
    """A digest of the answers to all questions: the same in every process, compiled or not."""
    speaker = Speaker(policy, compiled)
    answers = [speaker.ask(asked) for asked in questions()]
    return hashlib.blake2b(repr(answers).encode(), digest_size=8).hexdigest()


def check(policy: Stuck) -> None:
    """Ask a policy about some hundred groups, with every array index tested, and refuse a wrong answer.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, differs between compiled and plain Python, splits waves that
        belong together (spec 3, R29), or into more sub-groups than there are waves.

    Examples
    --------
    >>> from workbench.policies.dispatch.stuck import SplitWhenStuck
    >>> check(SplitWhenStuck())
    """
    compiled, plain = Speaker(policy, True, checked=True), Speaker(policy, False)
    for asked in questions():
        answer, again = compiled.ask(asked), plain.ask(asked)
        if answer == RAISED:
            what = "did not come to an end" if ran_out() else "raised an exception"
            raise PolicyError(f"{policy.short()} {what} when asked about {asked}.")
        if not allowed(asked, answer):
            raise PolicyError(f"{policy.short()} splits {asked} into {answer}.")
        if answer != again:
            raise PolicyError(f"{policy.short()} answered {answer} compiled and {again} in plain Python, for {asked}.")
