"""Clustered: a TLB between the private ones and the shared one, for a few cores each."""

from __future__ import annotations

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.translation.locate.question import CLUSTER, Locate, Plan


class Clustered(Locate):
    """Look in a TLB that a few neighbouring cores share, an L1.5, before the shared TLB; it evicts the LRU entry.

    What comes from the shared TLB or a walk is kept there too. A hit counts as served by a peer; the log's peer is the
    number of the cluster. No ties can occur.

    References
    ----------
    spec 4, section 7: an alternative hierarchy.

    Examples
    --------
    >>> Clustered(cores=4, entries=128).plan(32).cluster_entries
    128
    """

    cores: int = lever(4, least=1, most=1024, unit="cores", description="cores that share one")
    entries: int = lever(128, least=1, most=1 << 20, unit="entries", description="entries of each")
    ways: int = lever(0, least=0, most=1 << 20, unit="ways", description="entries of a set; 0 = fully associative")
    look_up_cycles: int = lever(
        4, least=0, most=10_000, unit="cycles", description="a look-up, with the way there and back"
    )

    def check(self) -> None:
        if self.ways and self.entries % self.ways:
            least = min(self.ways, self.entries)
            near = next(ways for ways in range(least, 0, -1) if self.entries % ways == 0)
            raise wrong_value("", f"{self.name}.ways", f"must divide entries ({self.entries})", self.ways, near)

    def plan(self, private_entries: int) -> Plan:
        return Plan(
            kind=CLUSTER,
            look_up_cycles=self.look_up_cycles,
            cluster_cores=self.cores,
            cluster_entries=self.entries,
            cluster_ways=self.ways or self.entries,
        )
