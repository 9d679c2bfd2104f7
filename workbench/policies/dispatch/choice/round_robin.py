"""Round robin: the document's baseline."""

from __future__ import annotations

from typing import Any

from workbench.policies.dispatch.choice.question import Choice

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

    def answer(cycle, count, modules, demand, free, longest, totals, recent, heat, scores, params, memory):  # type: ignore[no-untyped-def]
        every = free.size // totals.size
        for k in range(count):
            scores[k] = -float((modules[k] - memory[NEXT]) % every)

    def chosen(module: Any, modules: Any, params: Any, memory: Any) -> None:
        memory[NEXT] = (module + 1) % modules
