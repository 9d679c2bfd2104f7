"""Always: a copy is kept."""

from __future__ import annotations

from workbench.policies.translation.remote_fill.question import RemoteFill


class Always(RemoteFill):
    """Keep a copy of whatever a peer answers; nothing is compared, so there are no ties.

    References
    ----------
    spec 4, E9: the default.

    Examples
    --------
    >>> Always().copies()
    True
    """

    def answer(core, peer, cores, entries, held, degree, pairs, params, memory):  # type: ignore[no-untyped-def]
        return 1
