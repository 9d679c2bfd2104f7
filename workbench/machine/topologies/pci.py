"""A topology as a value, the PCI side of a board, and what a link carries.

A topology is cards, the wires between them, and facts about its file. The PCI side is what every GPU has to its CPU,
and what GPUs behind one switch have to each other.

Speeds are per direction, in GB/s, as NCCL and RCCL plan with them: what is achieved, not what is printed. Sources,
read: [1] NVIDIA/nccl src/graph/topo.h @ 069a3d4f95ca and src/graph/topo.cc (`kvDictPciGen`, 100 Mbit/s a lane; width
times speed over 80); [2] ROCm/rccl src/graph/topo.h @ 08814b0a9e02 (`ncclTopoXGMISpeed`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
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
    format: str = ""
    """The name of the format that the file was known by."""

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
        """Return the same topology with NVLinks of another speed in the place of the assumed one."""
        before = self.nvlink_assumed_gbps

        def is_assumed(wire: Wire) -> bool:
            return wire.kind == "nvlink" and wire.gbps == before

        linked = {name for wire in self.wires if is_assumed(wire) for name in wire.ends}
        wires = tuple(wire._replace(gbps=gbps) if is_assumed(wire) else wire for wire in self.wires)
        nodes = tuple(
            node._replace(port_gbps=node.port_gbps / before * gbps) if node.id in linked else node
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


NVLINK_GBPS = 20.0
"""A link of sm_70 and sm_80 [1]; taken where a file does not say which cards it is about."""
_NVLINK = ((100, 40.1), (90, 20.6), (87, 20.0), (86, 12.0), (70, 20.0), (60, 18.0))
_XGMI = (("gfx90a", 36.0), ("gfx942", 48.0), ("gfx94", 48.0), ("gfx95", 48.0))
_XGMI_OLD = 24.0
_GCN_NUMBERS = {"906": "gfx906", "908": "gfx908", "910": "gfx90a", "940": "gfx940"}
"""Older RCCL files write the architecture as a number; 910 is that of MI200 (gfx90a)."""

_CARDS = {
    100: ("GB300", "B300", "GB200", "B200", "B100"),
    90: ("GH200", "H200", "H100", "H800", "H20"),
    86: ("A40", "A10", "A6000", "A5000", "A4000", "RTX 3090"),
    80: ("A100", "A800", "A30"),
    70: ("V100",),
    60: ("P100",),
}
_NAMES = {name: sm for sm, names in _CARDS.items() for name in names}
_CARD = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_NAMES)})(?![0-9])", re.IGNORECASE)

C2C_GBPS = 345.0
"""What joins a GPU and its CPU on one module: eight links of 43,125 MB/s, as NCCL's own topology files write it
(NVIDIA/nccl#2202); taken where a file says that there is such a link and not how fast it is."""

PCIE3_X16_GBPS = 12.0
_LANE_GTS = ((2.5, 15), (5.0, 30), (8.0, 60), (16.0, 120), (32.0, 240), (64.0, 480))
_USUAL_LANES = 16

QPI_GBPS = 6.0
"""Between two Intel sockets up to Broadwell [1]; taken where a file does not say which CPUs they are."""
_INTEL = ((207, 40.0), (143, 22.0), (85, 10.0))
_AMD_GBPS, _POWER_GBPS, _ARM_GBPS = 16.0, 32.0, 6.0


def nvlink_gbps(sm: int) -> float:
    """Return a link of NVIDIA cards of a compute capability, written as 70 for 7.0.

    >>> nvlink_gbps(70), nvlink_gbps(86), nvlink_gbps(90)
    (20.0, 12.0, 20.6)
    """
    return next((gbps for least, gbps in _NVLINK if sm >= least), NVLINK_GBPS)


def card_names() -> list[str]:
    """Return the cards whose NVLink generation is known, the newest first."""
    return list(_NAMES)


def generation_named(text: str) -> tuple[str, int] | None:
    """Return the first known card that a text names, and its compute capability; None if it names none.

    >>> generation_named("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)"), generation_named("nvidia_gb200")
    (('H100', 90), ('GB200', 100))
    >>> generation_named("GPU0  GPU1  NIC0") is None
    True
    """
    match = _CARD.search(text)
    return (match[0].upper(), _NAMES[match[0].upper()]) if match else None


def xgmi_gbps(gcn: str) -> float:
    """Return a link of AMD cards of an architecture, as a name or as the number that older files hold.

    >>> xgmi_gbps("gfx942:sramecc+"), xgmi_gbps("910"), xgmi_gbps("908")
    (48.0, 36.0, 24.0)
    """
    name = _GCN_NUMBERS.get(gcn, gcn)
    return next((gbps for start, gbps in _XGMI if name.startswith(start)), _XGMI_OLD)


def pcie_gbps(speed: str, width: int) -> float:
    """Return a PCI connection of a speed such as `16.0 GT/s PCIe` and so many lanes; 16 lanes of 8 GT/s where nothing
    is said.

    >>> pcie_gbps("8 GT/s", 16), pcie_gbps("16.0 GT/s PCIe", 8), pcie_gbps("", 0)
    (12.0, 12.0, 12.0)
    """
    said = re.match(r"\d+(?:\.\d+)?", speed)
    a_lane = next((lane for gts, lane in _LANE_GTS if said and float(said[0]) == gts), 60)
    return (width or _USUAL_LANES) * a_lane / 80.0


def socket_gbps(arch: str, vendor: str, model: int) -> float:
    """Return what two CPUs exchange.

    >>> socket_gbps("x86_64", "GenuineIntel", 85), socket_gbps("x86_64", "AuthenticAMD", 49)
    (10.0, 16.0)
    """
    if arch != "x86_64":
        return {"ppc64": _POWER_GBPS, "arm64": _ARM_GBPS}.get(arch, QPI_GBPS)
    if vendor == "AuthenticAMD":
        return _AMD_GBPS
    return next((gbps for least, gbps in _INTEL if model >= least), QPI_GBPS)


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
