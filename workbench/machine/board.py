"""Boards: cards with memory or switches, and the links between them; the machine of the engine `pool` (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.levers import Lever, Spec, lever, remembered
from workbench.machine.link_widths import WIDTHS, WIDTHS_LEVER, LinkWidth
from workbench.machine.network import Network, network_of
from workbench.machine.paths import Paths, best_paths
from workbench.machine.presets import Described, preset, preset_names

MOST_CARDS = 256

MIB = 1 << 20
GIB = 1 << 30
_CARDS: tuple[dict[str, Any], ...] = (
    {"id": "cpu0", "kind": "cpu", "memory_bytes": 64 * GIB},
    {"id": "gpu0"},
    {"id": "gpu1"},
)
_LINKS: tuple[dict[str, Any], ...] = (
    {"between": "cpu0 gpu0", "gbps": 12.0},
    {"between": "gpu0 gpu1", "gbps": 24.0, "kind": "nvlink"},
)
MOST_BYTES = 1 << 50


class Card(Spec):
    """A processor card, or a switch between cards (spec 5, section 2).

    >>> Card(id="gpu3", memory_bytes=256 * 10**9, used_bytes=48 * 10**9).free_bytes
    208000000000
    >>> Card(id="gpu0", memory_bytes=100, used_bytes=200)
    Traceback (most recent call last):
    workbench.errors.InputError: card gpu0: used_bytes must be at most memory_bytes (100). Got 200. Nearest: 100.
    """

    id: str = lever(description="what the card is called, such as gpu3")
    kind: Literal["gpu", "cpu", "switch"] = lever(
        "gpu", description="what it is; a switch has no memory and runs nothing"
    )
    memory_bytes: int = lever(16 * GIB, least=0, most=MOST_BYTES, unit="bytes", description="memory of the card")
    used_bytes: int = lever(
        0, least=0, most=MOST_BYTES, unit="bytes", description="memory that others hold all the time"
    )
    port_gbps: float = lever(
        0.0,
        least=0,
        most=1e6,
        unit="GB/s",
        description="what all its links carry together, per direction; 0 = no limit",
    )

    def check(self) -> None:
        if self.used_bytes > self.memory_bytes:
            most = self.memory_bytes
            raise InputError(
                f"card {self.id}: used_bytes must be at most memory_bytes ({most}). Got {self.used_bytes}. "
                f"Nearest: {most}."
            )
        if self.kind == "switch" and self.memory_bytes:
            raise InputError(
                f"card {self.id}: a switch has no memory. Got memory_bytes {self.memory_bytes}. Nearest: 0."
            )

    @property
    def free_bytes(self) -> int:
        """Return the bytes that the driver can give out when nothing is allocated yet (spec 5, V1)."""
        return self.memory_bytes - self.used_bytes


class Link(Spec):
    """Direct links between two cards; parallel ones add up (spec 5, R16).

    >>> Link(between="gpu0 gpu3", gbps=25, count=2).total_gbps, Link(between="gpu0 gpu3", gbps=25).ends
    (50.0, ('gpu0', 'gpu3'))
    >>> Link(between="gpu0 gpu0", gbps=25)
    Traceback (most recent call last):
    workbench.errors.InputError: link 'gpu0 gpu0': between must name two different cards, such as 'gpu0 gpu1'.
    """

    between: str = lever(description="the two cards, with a space between them")
    gbps: float = lever(least=1e-3, most=1e6, unit="GB/s", description="what one link carries, per direction")
    count: int = lever(1, least=1, most=1024, unit="links", description="links in parallel")
    kind: Literal["pcie", "nvlink", "xgmi", "qpi", "upi"] = lever("pcie", description="the bus")
    duplex: float = lever(
        2.0,
        least=1,
        most=2,
        step=0.05,
        description="what both directions carry together, as a multiple of one; 2 = each its full width at once",
    )
    channel: str = lever(
        "", description="a channel that several links share: together they carry what the fastest could"
    )

    def check(self) -> None:
        if len(set(self.between.split(" "))) != 2 or len(self.between.split(" ")) != 2 or "" in self.ends:
            raise InputError(f"link {self.between!r}: between must name two different cards, such as 'gpu0 gpu1'.")

    @property
    def ends(self) -> tuple[str, str]:
        """Return the two cards."""
        one, _, other = self.between.partition(" ")
        return one, other

    @property
    def total_gbps(self) -> float:
        """Return the bandwidth of all parallel links, per direction."""
        return self.gbps * self.count

    @property
    def both_gbps(self) -> float:
        """Return the bandwidth of all parallel links in both directions together."""
        return self.total_gbps * self.duplex


_LINK_TYPES = Lever(
    "link_types",
    "text",
    "",
    description="the types of the links, which say how much less than on paper was measured, such as nvlink4 pcie5",
)


class Board(Described):
    """Frozen description of a board; a card that stands earlier has the lower id wherever a tie is broken.

    Times of the driver and of the service are no part of it: they are levers of the engine.

    >>> board = Board()
    >>> board.ids, board.direct_gbps().tolist()
    (('cpu0', 'gpu0', 'gpu1'), [[0.0, 12.0, 0.0], [12.0, 0.0, 24.0], [0.0, 24.0, 0.0]])
    >>> board.paths("bottleneck").gbps[0, 2]                                    # only via gpu0 (spec 5, V8)
    np.float64(12.0)
    >>> Board(links=[Link(between="cpu0 gpu0", gbps=12)])
    Traceback (most recent call last):
    workbench.errors.InputError: board is not connected: no links lead from cpu0 to gpu1.
    """

    cards: tuple[Card, ...] = lever(tuple(Card(**it) for it in _CARDS), description="the cards, the lowest id first")
    links: tuple[Link, ...] = lever(tuple(Link(**it) for it in _LINKS), description="the direct links")

    shown: ClassVar[tuple[str, ...]] = ("gpus", "cpus", "memory_gib", "direct_links", "fastest_gbps", "slowest_gbps")

    may_omit: ClassVar[tuple[str, ...]] = ("link_types",)

    @classmethod
    def figures(cls) -> Mapping[str, Lever]:
        """Return the statements of a preset's file: cards and links as on paper, and the types of the links."""
        return {**cls.levers, _LINK_TYPES.name: _LINK_TYPES}

    @classmethod
    def of_figures(cls, figures: Mapping[str, Any]) -> Self:
        """Return the board of a preset, its links as wide as was measured of their types.

        >>> Board.read("dgx_h100").direct_gbps()[2, 3]
        np.float64(370.8)
        >>> Board.read({"preset": "dgx_h100", "widths": "paper"}).direct_gbps()[2, 3]
        np.float64(450.0)
        """
        types = figures.get(_LINK_TYPES.name, "")
        on_paper = cls(**{name: value for name, value in figures.items() if name != _LINK_TYPES.name})
        return _as_measured(on_paper, types) if types else on_paper

    @classmethod
    def read(cls, given: object, path: str = "machine", where: str = "") -> Self:
        """Read the board that a sweep file describes: a preset, cards and links, a topology file (`TopologyFile`) or an
        arrangement (`RegularBoard`). With a preset, `widths: paper` takes its links as they are on paper."""
        from workbench.machine.topologies.registry import levers_of_topology

        return super().read(levers_of_topology(_with_widths(given, path, where), path, where), path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `read` takes."""
        from workbench.machine.topologies.registry import TopologyFile
        from workbench.machine.topologies.regular import RegularBoard

        name, levers = super().schema()["anyOf"]
        widths = WIDTHS_LEVER.schema()
        of_preset = {**levers, "properties": {**levers["properties"], "widths": widths}}
        return {"anyOf": [name, of_preset, TopologyFile.schema(), RegularBoard.schema()]}

    def check(self) -> None:
        ids = self.ids
        if not 1 <= len(ids) <= MOST_CARDS:
            raise InputError(f"board.cards must have 1 to {MOST_CARDS} cards. Got {len(ids)}.")
        if len(set(ids)) < len(ids):
            again = next(name for k, name in enumerate(ids) if name in ids[:k])
            raise InputError(f"board.cards has two cards of the id {again}; every id must be another.")
        if not any(card.memory_bytes for card in self.cards):
            raise InputError("board.cards must have a card with memory. Got switches or empty cards alone.")
        self._check_links()

    def _check_links(self) -> None:
        channels: dict[frozenset[str], str] = {}
        ids = set(self.ids)
        for link in self.links:
            for end in link.ends:
                if end not in ids:
                    raise unknown_name(f"board: link {link.between!r}", "card", end, self.ids)
            if channels.setdefault(frozenset(link.ends), link.channel) != link.channel:
                raise InputError(f"board: all links of {link.between!r} must have the same channel.")
        reached = self._reached()
        for name, seen in zip(self.ids, reached, strict=True):
            if not seen:
                raise InputError(f"board is not connected: no links lead from {self.ids[0]} to {name}.")

    def _reached(self) -> list[bool]:
        """Return the cards that links lead to from the first one."""
        linked = self.direct_gbps() > 0
        seen = np.zeros(len(self.cards), bool)
        seen[0] = True
        for _ in self.cards:
            seen |= linked[seen].any(axis=0)
        return [bool(it) for it in seen]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the names of the cards, in their order."""
        return tuple(card.id for card in self.cards)

    def index(self, name: str, where: str = "") -> int:
        """Return the place of a card among the cards.

        Raises
        ------
        InputError
            There is no such card.
        """
        if name not in self.ids:
            raise unknown_name(where, "card", name, self.ids)
        return self.ids.index(name)

    def direct_gbps(self) -> np.ndarray:
        """Return the bandwidth of direct links: float64[cards, cards], GB/s per direction, parallel links added; 0 = no
        link."""
        table = np.zeros((len(self.cards), len(self.cards)))
        places = {name: place for place, name in enumerate(self.ids)}
        for link in self.links:
            one, other = (places[end] for end in link.ends)
            table[one, other] += link.total_gbps
            table[other, one] = table[one, other]
        return table

    def paths(self, metric: str = "hop_penalised", max_hops: int = 8, hop_factor: float = 0.5) -> Paths:
        """Return the best path between every two cards, see `best_paths`; do not write to the shared result."""
        return _paths_of(self, metric, max_hops, hop_factor)

    def network(self, paths: Paths) -> Network:
        """Return the resources that data share on these paths, see `network_of`. Boards share the result: do not write
        to it."""
        return _network_of(self, paths.routes)

    def row(self) -> dict[str, Any]:
        """Return the row of this board in a table of presets."""
        direct = self.direct_gbps()
        linked = direct[direct > 0]
        return {
            "gpus": sum(card.kind == "gpu" for card in self.cards),
            "cpus": sum(card.kind == "cpu" for card in self.cards),
            "memory_gib": sum(card.memory_bytes for card in self.cards) / GIB,
            "direct_links": sum(link.count for link in self.links),
            "fastest_gbps": float(linked.max(initial=0.0)),
            "slowest_gbps": float(linked.min(initial=np.inf)) if linked.size else 0.0,
        }


def _with_widths(given: object, path: str, where: str) -> object:
    """Return the given settings with a preset's levers on paper where they say `widths: paper`."""
    if not isinstance(given, Mapping) or "widths" not in given or "topology" in given:
        return given
    widths = WIDTHS_LEVER.check(given["widths"], f"{path}.widths", where)
    if "preset" not in given:
        expected = "must stand beside a preset or a topology file, whose links it is about"
        raise wrong_value(where, f"{path}.widths", expected, widths)
    rest = {name: value for name, value in given.items() if name != "widths"}
    if widths == "measured" or given["preset"] not in preset_names(Board):
        return rest
    figures = preset(str(given["preset"]), Board).figures
    on_paper = {name: figure.value for name, figure in figures.items() if name != _LINK_TYPES.name}
    return {**on_paper, **{name: value for name, value in rest.items() if name != "preset"}}


def _width_named(name: str) -> LinkWidth:
    if name not in WIDTHS:
        raise unknown_name("", "type of links", name, WIDTHS)
    return WIDTHS[name]


_B = TypeVar("_B", bound=Board)


@remembered
def _as_measured(board: _B, types: str) -> _B:
    """Return the board with links of these types as wide as was measured, and ports as much narrower as their links."""
    by_paper = {(it.kind, it.paper_gbps): it for it in map(_width_named, types.split())}
    type_of = {link: by_paper.get((link.kind, link.gbps)) for link in board.links}
    links = [link.but(gbps=it.gbps, duplex=it.duplex) if (it := type_of[link]) else link for link in board.links]
    widest: dict[str, Link] = {}
    for link in board.links:
        for end in link.ends:
            widest[end] = max(widest.get(end, link), link, key=lambda one: one.total_gbps)
    cards = [
        card.but(port_gbps=card.port_gbps / it.paper_gbps * it.gbps)
        if card.port_gbps and (it := type_of[widest[card.id]])
        else card
        for card in board.cards
    ]
    return board.but(cards=tuple(cards), links=tuple(links))


@remembered
def _paths_of(board: Board, metric: str, max_hops: int, hop_factor: float) -> Paths:
    return best_paths(board.direct_gbps(), metric, max_hops, hop_factor)


@remembered
def _network_of(board: Board, routes: Any) -> Network:
    return network_of(board.cards, board.links, routes)


class CardsAlike(Spec):
    """Cards alike inside; the first one has less memory left, so that it borrows.

    Neighbors in a ring have links of the full speed, every other two cards of half of it, as a hybrid cube mesh has
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
        150.0, least=1, most=2000, scale="log", unit="GB/s", description="a link of neighbors per direction"
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


def board_line(board: Board) -> str:
    """Return a line that describes a board.

    >>> board_line(Board())
    '2 GPUs and 1 CPU, 96 GiB in all; direct links of 12 to 24 GB/s'
    """
    row = board.row()
    kinds = " and ".join(f"{row[kind]} {kind[:-1].upper()}{'s' * (row[kind] != 1)}" for kind in ("gpus", "cpus"))
    speeds = dict.fromkeys(f"{row[speed]:g}" for speed in ("slowest_gbps", "fastest_gbps"))
    return f"{kinds}, {row['memory_gib']:g} GiB in all; direct links of {' to '.join(speeds)} GB/s"
