"""The PCI side of a board: what every GPU has to its CPU, and what GPUs behind one switch have to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from itertools import combinations
from typing import NamedTuple

from workbench.machine.topologies.topology import Wire


class WayUp(NamedTuple):
    """How a GPU reaches its CPU."""

    gpu: str
    cpu: str
    bridges: tuple[str, ...]
    """The PCI bridges on the way, the one at the GPU first."""
    gbps: tuple[float, ...]
    """What each part of the way carries: to the first bridge, from it to the next, ..., to the CPU."""


def pci_wires(ways: list[WayUp], linked: Collection[frozenset[str]]) -> list[Wire]:
    """Return the links over PCI.

    A link to the CPU is as fast as the slowest part of its way; all GPUs behind one bridge at the CPU share it. Two
    GPUs with a bridge in common reach each other through the lowest such, without the CPU; where they are linked
    otherwise (`linked`), that way is not taken.

    >>> ways = [WayUp(f"gpu{k}", "cpu0", ("a",), (24.0, 12.0)) for k in range(2)]
    >>> for wire in pci_wires(ways, []):
    ...     print(wire.ends, wire.gbps, wire.channel or None)
    ('gpu0', 'cpu0') 12.0 cpu0_switch0
    ('gpu1', 'cpu0') 12.0 cpu0_switch0
    ('gpu0', 'gpu1') 24.0 None
    """
    behind = Counter(way.bridges[-1] for way in ways if way.bridges)
    shared = [bridge for bridge, gpus in behind.items() if gpus > 1]
    return [
        *(Wire((way.gpu, way.cpu), "pcie", min(way.gbps), channel=_channel(way, shared)) for way in ways),
        *(
            Wire((one.gpu, other.gpu), "pcie", gbps)
            for one, other in combinations(ways, 2)
            if frozenset((one.gpu, other.gpu)) not in linked
            for gbps in _through_switch(one, other)
        ),
    ]


def _channel(way: WayUp, shared: list[str]) -> str:
    return f"{way.cpu}_switch{shared.index(way.bridges[-1])}" if way.bridges and way.bridges[-1] in shared else ""


def _through_switch(one: WayUp, other: WayUp) -> list[float]:
    """Return what two GPUs exchange through their lowest common bridge; empty where there is none."""
    common = next((bridge for bridge in one.bridges if bridge in other.bridges), None)
    if common is None:
        return []
    parts = [part for way in (one, other) for part in way.gbps[: way.bridges.index(common) + 1]]
    return [min(parts)]
