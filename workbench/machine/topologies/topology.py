"""What a topology file says: cards, the wires between them, and facts about the file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

from workbench.errors import InputError

MOST_LINKS_A_GPU = 18
"""NVLinks of the card that has the most of them (H100, field.md 2.4): what seems to have more has a switch."""


class Node(NamedTuple):
    """A card."""

    id: str
    kind: str
    """gpu or cpu."""
    port_gbps: float = 0.0
    """What all its links carry together, per direction; 0 = no limit."""


class Wire(NamedTuple):
    """Links between two cards."""

    ends: tuple[str, str]
    kind: str
    """nvlink, xgmi, pcie or qpi."""
    gbps: float
    """What one link carries per direction."""
    links: int = 1
    channel: str = ""
    """What several wires share: together they carry what the fastest of them could; empty = nothing."""


class Topology(NamedTuple):
    """A topology file, read."""

    format: str
    nodes: tuple[Node, ...]
    """The CPUs, then the GPUs by their number."""
    wires: tuple[Wire, ...]
    links: int
    """The links between GPUs that the file has, as its format counts them: link elements of an XML file, which names
    each link at both of its ends; bonded NVLinks of `nvidia-smi`; pairs with peer access of a matrix."""
    noted: Mapping[str, Any]
    """Further facts of the format, in plain types."""
    nvlink_assumed_gbps: float = 0.0
    """What one NVLink was taken to carry where the file does not tell its generation; 0 where nothing was assumed."""

    def facts(self) -> dict[str, Any]:
        """Return what the file holds, in plain types: `format`, `cards` (GPUs), `links`, and what else its format
        has."""
        gpus = sum(node.kind == "gpu" for node in self.nodes)
        result = {"format": self.format, "cards": gpus, "links": self.links, **self.noted}
        if not self.nvlink_assumed_gbps:
            return result
        cure = "a sweep's `card` or `link_gbps` tells it"
        return {**result, "assumed": f"an NVLink carries {self.nvlink_assumed_gbps:g} GB/s per direction; {cure}"}

    def with_nvlinks(self, gbps: float) -> Topology:
        """Return the same topology with NVLinks of another speed in the place of the assumed one.

        Raises
        ------
        ValueError
            Nothing was assumed.
        """
        if not self.nvlink_assumed_gbps:
            raise ValueError("nothing was assumed of these links")
        assumed = [wire.kind == "nvlink" and wire.gbps == self.nvlink_assumed_gbps for wire in self.wires]
        linked = {
            name for wire, is_assumed in zip(self.wires, assumed, strict=True) if is_assumed for name in wire.ends
        }
        wires = tuple(
            wire._replace(gbps=gbps) if is_assumed else wire
            for wire, is_assumed in zip(self.wires, assumed, strict=True)
        )
        nodes = tuple(
            node._replace(port_gbps=node.port_gbps / self.nvlink_assumed_gbps * gbps) if node.id in linked else node
            for node in self.nodes
        )
        return self._replace(nodes=nodes, wires=wires, nvlink_assumed_gbps=0.0)


def switched(ports: Mapping[str, int], gbps: float) -> tuple[dict[str, float], list[Wire]]:
    """Return the ports and wires of links to an NVSwitch: every two cards reach each other over all links that both
    have, and a card's links are its port: what it carries to all others together.

    Parameters
    ----------
    ports : mapping
        How many links each card has to the switch.
    gbps : float
        What one link carries per direction.

    Returns
    -------
    dict, list
        What each card's links carry together, and the wires.
    """
    pairs = combinations([name for name, count in ports.items() if count], 2)
    wires = [Wire((one, other), "nvlink", gbps, min(ports[one], ports[other])) for one, other in pairs]
    return {name: count * gbps for name, count in ports.items()}, wires


def check_connected(topology: Topology, where: str) -> Topology:
    """Return the same topology, refused where no wires lead from its first card to some other.

    Raises
    ------
    InputError
        A card stands alone.
    """
    near: dict[str, set[str]] = {node.id: set() for node in topology.nodes}
    for one, other in (wire.ends for wire in topology.wires):
        near[one].add(other)
        near[other].add(one)
    first = topology.nodes[0].id
    seen, ahead = {first}, [first]
    while ahead:
        fresh = near[ahead.pop()] - seen
        seen |= fresh
        ahead.extend(sorted(fresh))
    lost = next((node.id for node in topology.nodes if node.id not in seen), None)
    if lost is not None:
        raise InputError(f"{where}: is not connected: no links lead from {first} to {lost}.")
    return topology


def groups(names: list[str], pairs: list[tuple[str, str]]) -> list[list[str]]:
    """Return the names in groups that pairs join, in the order of the first of each.

    >>> groups(["a", "b", "c"], [("a", "c")])
    [['a', 'c'], ['b']]
    """
    of = {name: {name} for name in names}
    for one, other in pairs:
        joined = of[one] | of[other]
        of.update(dict.fromkeys(joined, joined))
    found = {id(of[name]): of[name] for name in names}
    return [[name for name in names if name in group] for group in found.values()]
