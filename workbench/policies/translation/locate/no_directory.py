"""No directory: a miss goes to the shared TLB."""

from __future__ import annotations

from workbench.policies.translation.locate.question import Locate, Plan


class NoDirectory(Locate):
    """Ask nobody: a miss goes to the shared TLB, then to the walker; nobody is chosen, so there are no ties.

    References
    ----------
    spec 4, R12: the baseline; source document paragraph 3.

    Examples
    --------
    >>> NoDirectory().plan(32).kind
    0
    """

    def plan(self, private_entries: int) -> Plan:
        return Plan()
