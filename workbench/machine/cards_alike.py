"""`machine: {cards: 4, modules: 8, ...}`: a node of cards that are alike, but for what is left of the first one's
memory."""

from __future__ import annotations

from typing import Any

from workbench.levers import Spec, lever
from workbench.machine.topologies.regular import RegularBoard

MIB = 1 << 20


class CardsAlike(Spec):
    """Cards alike inside, every two of them linked; the first one has less memory left, so that it borrows.

    Everything else is as in the preset `four_small_cards`: modules of the source document's dispatcher, shared entries
    and walkers in proportion to the modules.

    References
    ----------
    spec 6, R4; the preset for where its figures come from.

    Examples
    --------
    >>> node = CardsAlike(cards=2, modules=8).node()
    >>> [card["used_bytes"] >> 20 for card in node["board"]["cards"]], node["translation"]["walkers"]
    ([992, 0], 8)
    """

    cards: int = lever(4, least=1, most=16, unit="cards", description="cards of the node")
    modules: int = lever(4, least=1, most=64, unit="modules", description="modules of a card, each with a private TLB")
    card_mib: int = lever(1024, least=16, most=1 << 20, scale="log", unit="MiB", description="memory of a card")
    left_mib: int = lever(
        32, least=1, most=1 << 20, scale="log", unit="MiB", description="what is left of the first card's memory"
    )
    link_gbps: float = lever(
        150.0, least=1, most=2000, scale="log", unit="GB/s", description="a link of two cards per direction"
    )
    private_entries: int = lever(32, least=1, most=1 << 16, unit="entries", description="entries of a private TLB")
    walkers: int = lever(0, least=0, most=4096, unit="walkers", description="walkers of a card; 0 = one a module")
    level_cycles: int = lever(
        100, least=0, most=1 << 20, unit="cycles", description="to read one of the four levels of the page table"
    )

    def node(self) -> dict[str, Any]:
        """Return the three parts of the machine."""
        rule = RegularBoard(
            arrangement="fully_connected", gpus=self.cards, card_gib=self.card_mib / 1024, link_gbps=self.link_gbps,
            hosts=0,
        )  # fmt: skip
        board = rule.board()
        board["cards"] = [{**card, "memory_bytes": self.card_mib * MIB, "used_bytes": 0} for card in board["cards"]]
        board["cards"][0]["used_bytes"] = max(self.card_mib - self.left_mib, 0) * MIB
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
