"""Keep all: nothing goes back; the neutral answer."""

from __future__ import annotations

from workbench.policies.pool.idle.question import IdleRelease
from workbench.policies.pool.idle.view import IdleView


class KeepAll(IdleRelease):
    """Keep every cached block, however much there is; it is never asked, so there are no ties.

    References
    ----------
    spec 5, H5.8: what a limit is compared with.

    Examples
    --------
    >>> KeepAll().returned([64, 128], limit=100)
    []
    """

    @staticmethod
    def answer(see: IdleView) -> int:
        return -1
