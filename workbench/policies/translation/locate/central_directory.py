"""Central directory: one structure beside the shared TLB knows who holds what."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.locate.question import CENTRAL, Locate, Plan


class CentralDirectory(Locate):
    """Ask one directory beside the shared TLB, which sends the request on to a holder; `peer` breaks ties.

    It lies at the core in the middle by number and is always up to date. A hit takes three ways over the network (to
    it, to the holder, back) instead of two; without a holder the request goes on to the shared TLB from there. Degrees
    and counts of shared entries are not known beside the private TLBs.

    References
    ----------
    spec 4, section 7: a rival with one structure and one extra trip.

    Examples
    --------
    >>> CentralDirectory().plan(32).look_up_cycles
    2
    """

    look_up_cycles: int = lever(2, least=0, most=10_000, unit="cycles", description="a look-up")
    remote_hit_refreshes: bool = lever(False, description="whether a remote hit is a use of the peer's entry")

    def plan(self, private_entries: int) -> Plan:
        return Plan(kind=CENTRAL, look_up_cycles=self.look_up_cycles, refreshes_peer=int(self.remote_hit_refreshes))
