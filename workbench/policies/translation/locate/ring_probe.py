"""Ring probe: ask the neighbours one after the other, whatever they hold."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.locate.question import RING, Locate, Plan


class RingProbe(Locate):
    """Probe the next cores by number, in a circle, one after the other; the first that holds it answers, so no ties.

    The probe travels from neighbour to neighbour and waits for each look-up; after the last it goes to the shared TLB.
    No storage. With `push_neighbours` as fill rule translations are fetched for neighbours in advance.

    References
    ----------
    spec 4, section 7. Baruah et al., "Valkyrie: Leveraging Inter-TLB Locality to Enhance GPU Performance", PACT 2020:
    in its style, not its protocol.

    Examples
    --------
    >>> RingProbe(reach=3).plan(32).reach
    3
    """

    reach: int = lever(2, least=1, most=1024, unit="cores", description="neighbours that are probed")
    remote_hit_refreshes: bool = lever(False, description="whether a remote hit is a use of the peer's entry")

    def plan(self, private_entries: int) -> Plan:
        return Plan(kind=RING, reach=self.reach, refreshes_peer=int(self.remote_hit_refreshes))
