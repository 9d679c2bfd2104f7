"""Never: no copy is kept."""

from __future__ import annotations

from workbench.policies.translation.remote_fill.question import RemoteFill
from workbench.policies.translation.remote_fill.view import RemoteFillView


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

    @staticmethod
    def answer(see: RemoteFillView) -> int:
        return 0
