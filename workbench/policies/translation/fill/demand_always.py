"""Demand always: the requester is filled, nobody else."""

from __future__ import annotations

from workbench.policies.translation.fill.question import Fill


class DemandAlways(Fill):
    """Fill the requester, always, as usual; sharing is not looked at, so there are no ties.

    References
    ----------
    spec 4, R20: the conventional control.

    Examples
    --------
    >>> DemandAlways().decide(["1100"])
    Decision(fills=True, pushes=())
    """

    def answer(core, cores, entries, held, shared, pairs, push, params, memory):  # type: ignore[no-untyped-def]
        return 0
