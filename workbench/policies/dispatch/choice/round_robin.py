"""Round robin: the document's baseline."""

from __future__ import annotations

from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceNotice, ChoiceView

NEXT = 0
"""Memory: the module behind the one that was taken last."""


class RoundRobin(Choice):
    """Take the first module with room behind the one that was taken last, cyclically; there are no ties.

    It is blind to what is left in a module and to what has run there. The turn passes when a group is dispatched, so a
    module without room loses its turn.

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
