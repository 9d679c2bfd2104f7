"""First module: the lowest that has room."""

from __future__ import annotations

from workbench.policies.dispatch.choice.question import Choice


class FirstModule(Choice):
    """Take the lowest module with room, whatever the engine does with ties, for there are none.

    Modules fill one after another, and the last ones stay idle as long as they can.

    References
    ----------
    spec 3, section 7: a control that balances nothing; first fit over the modules.

    Examples
    --------
    >>> FirstModule().choose([(1,), (9,), (9,)], modules=(1, 2))
    1
    """

    def answer(cycle, count, modules, demand, free, longest, totals, recent, heat, scores, params, memory):  # type: ignore[no-untyped-def]
        for k in range(count):
            scores[k] = -float(modules[k])
