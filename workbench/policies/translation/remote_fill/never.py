"""Never: no copy is kept."""

from __future__ import annotations

from workbench.policies.translation.remote_fill.question import RemoteFill


class Never(RemoteFill):
    """Keep no copy: the peer is asked again next time; nothing is compared, so there are no ties.

    References
    ----------
    spec 4, E9: avoids duplicates.

    Examples
    --------
    >>> Never().copies()
    False
    """

    def answer(core, peer, cores, entries, held, degree, pairs, params, memory):  # type: ignore[no-untyped-def]
        return 0
