"""`machine: {cards: 4, modules: 8, ...}`: a node of cards that are alike, but for what is left of the first one's
memory."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from workbench.levers import Spec, lever

MIB = 1 << 20


class CardsAlike(Spec):
    """Cards alike inside; the first one has less memory left, so that it borrows.

    Neighbours in a ring have links of the full speed, every other two cards of half of it, as a hybrid cube mesh has
    double and single ones. A card has modules of the source document's dispatcher, 32 entries of the shared TLB and a
    walker for each of them, and walks of 400 cycles.

    References
    ----------
    spec 6, R4 and V2 (a walk of 400 cycles); spec 5, ¶17 (150 GB/s of a direct link); spec 4, section 6 (the pilot);
    spec 3, ¶151 (units of a module).

    Examples
    --------
    >>> node = CardsAlike(cards=2, modules=8).node()
    >>> [link["gbps"] for link in CardsAlike().node()["board"]["links"]], node["translation"]["walkers"]
    ([150.0, 75.0, 150.0, 150.0, 75.0, 150.0], 8)
    """

    cards: int = lever(4, least=1, most=16, unit="cards", description="cards of the node")
    modules: int = lever(4, least=1, most=64, unit="modules", description="modules of a card, each with a private TLB")
    card_mib: int = lever(1024, least=16, most=1 << 20, scale="log", unit="MiB", description="memory of a card")
    left_mib: int = lever(
        32, least=1, most=1 << 20, scale="log", unit="MiB", description="what is left of the first card's memory"
    )
    link_gbps: float = lever(
        150.0, least=1, most=2000, scale="log", unit="GB/s", description="a link of neighbours per direction"
    )
    private_entries: int = lever(32, least=1, most=1 << 16, unit="entries", description="entries of a private TLB")
    walkers: int = lever(0, least=0, most=4096, unit="walkers", description="walkers of a card; 0 = one a module")
    level_cycles: int = lever(
        100, least=0, most=1 << 20, unit="cycles", description="to read one of the four levels of the page table"
    )

    def node(self) -> dict[str, Any]:
        """Return the three parts of the machine."""
        memory = self.card_mib * MIB
        cards: list[dict[str, Any]] = [{"id": f"gpu{k}", "memory_bytes": memory} for k in range(self.cards)]
        cards[0]["used_bytes"] = memory - min(self.left_mib, self.card_mib) * MIB
        links = [self._link(one, other) for one, other in combinations(range(self.cards), 2)]
        board = {"cards": cards, "links": links}
        return {
            "board": board,
            "card": {"preset": "patent_dispatch", "compute_units": self.modules},
            "translation": {
                "cores": self.modules,
                "private_entries": self.private_entries,
                "shared_entries": 32 * self.modules,
                "walkers": self.walkers or self.modules,
                "level_cycles": self.level_cycles,
            },
        }

    def _link(self, one: int, other: int) -> dict[str, Any]:
        apart = min(other - one, self.cards - other + one)
        return {"between": f"gpu{one} gpu{other}", "gbps": self.link_gbps / (1 if apart == 1 else 2), "kind": "nvlink"}
