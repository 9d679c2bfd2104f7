"""Always: a copy is kept."""

from __future__ import annotations

from workbench.policies.translation.remote_fill.question import RemoteFill
from workbench.policies.translation.remote_fill.view import RemoteFillView


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

    @staticmethod
    def answer(see: RemoteFillView) -> int:
        return 1
