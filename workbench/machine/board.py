"""Cards with memory, and the links between them: the machine of the engine `pool` (spec 5)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.levers import lever
from workbench.machine.card import GIB, Card
from workbench.machine.described import Described
from workbench.machine.link import Link
from workbench.machine.network import Network, network_of
from workbench.machine.paths import Paths, best_paths

MOST_CARDS = 64
_CARDS: tuple[dict[str, Any], ...] = (
    {"id": "cpu0", "kind": "cpu", "memory_bytes": 64 * GIB},
    {"id": "gpu0"},
    {"id": "gpu1"},
)
_LINKS: tuple[dict[str, Any], ...] = (
    {"between": "cpu0 gpu0", "gbps": 12.0},
    {"between": "gpu0 gpu1", "gbps": 24.0, "kind": "nvlink"},
)


class Board(Described):
    """Frozen description of a board; a card that stands earlier has the lower id wherever a tie is broken.

    Times of the driver and of the service are no part of it: they are levers of the engine.

    >>> board = Board()
    >>> board.ids, board.direct_gbps().tolist()
    (('cpu0', 'gpu0', 'gpu1'), [[0.0, 12.0, 0.0], [12.0, 0.0, 24.0], [0.0, 24.0, 0.0]])
    >>> board.paths().gbps[0, 2]                                                # only via gpu0 (spec 5, V8)
    np.float64(12.0)
    >>> Board(links=[Link(between="cpu0 gpu0", gbps=12)])
    Traceback (most recent call last):
    workbench.errors.InputError: board is not connected: no links lead from cpu0 to gpu1.
    """

    cards: tuple[Card, ...] = lever(tuple(Card(**it) for it in _CARDS), description="the cards, the lowest id first")
    links: tuple[Link, ...] = lever(tuple(Link(**it) for it in _LINKS), description="the direct links")

    shown: ClassVar[tuple[str, ...]] = ("gpus", "cpus", "memory_gib", "direct_links", "fastest_gbps", "slowest_gbps")

    @classmethod
    def read(cls, given: object, path: str = "machine", where: str = "") -> Self:
        """Read the board that a sweep file describes: a preset, cards and links, a topology file (`TopologyFile`) or an
        arrangement (`RegularBoard`)."""
        from workbench.machine.topologies.in_sweep import levers_of_topology

        return super().read(levers_of_topology(given, path, where), path, where)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of what `read` takes."""
        from workbench.machine.topologies.in_sweep import TopologyFile
        from workbench.machine.topologies.regular import RegularBoard

        usual = super().schema()
        return {"anyOf": [*usual["anyOf"], TopologyFile.schema(), RegularBoard.schema()]}

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
        for link in self.links:
            for end in link.ends:
                if end not in self.ids:
                    raise unknown_name(f"board: link {link.between!r}", "card", end, self.ids)
            if channels.setdefault(frozenset(link.ends), link.channel) != link.channel:
                raise InputError(f"board: all links of {link.between!r} must have the same channel.")
        reached = self._reached()
        for name, seen in zip(self.ids, reached, strict=True):
            if not seen:
                raise InputError(f"board is not connected: no links lead from {self.ids[0]} to {name}.")

    def _reached(self) -> list[bool]:
        """Return which cards links lead to from the first one."""
        linked = self.direct_gbps() > 0
        seen = np.zeros(len(self.cards), bool)
        seen[0] = True
        for _ in self.cards:
            seen |= linked[seen].any(axis=0)
        return [bool(it) for it in seen]

    @property
    def ids(self) -> tuple[str, ...]:
        """Return what the cards are called, in their order."""
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
        """Return what direct links carry: float64[cards, cards], GB/s per direction, parallel links added; 0 = no
        link."""
        table = np.zeros((len(self.cards), len(self.cards)))
        for link in self.links:
            one, other = (self.ids.index(end) for end in link.ends)
            table[one, other] += link.total_gbps
            table[other, one] = table[one, other]
        return table

    def paths(self, metric: str = "bottleneck", max_hops: int = 8, hop_factor: float = 0.5) -> Paths:
        """Return the best path between every two cards, see `best_paths`."""
        return best_paths(self.direct_gbps(), metric, max_hops, hop_factor)

    def network(self, paths: Paths) -> Network:
        """Return what data share on these paths, see `network_of`."""
        return network_of(self.cards, self.links, paths.routes)

    def row(self) -> dict[str, Any]:
        """Return what a table of presets shows of this board."""
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


def board_note(board: Board) -> str:
    """Return what a board is, in a line.

    >>> board_note(Board())
    '2 GPUs and 1 CPU, 96 GiB in all; direct links of 12 to 24 GB/s'
    """
    row = board.row()
    kinds = " and ".join(f"{row[kind]} {kind[:-1].upper()}{'s' * (row[kind] != 1)}" for kind in ("gpus", "cpus"))
    speeds = dict.fromkeys(f"{row[speed]:g}" for speed in ("slowest_gbps", "fastest_gbps"))
    return f"{kinds}, {row['memory_gib']:g} GiB in all; direct links of {' to '.join(speeds)} GB/s"
