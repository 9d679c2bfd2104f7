"""A topology as a value, the PCI side of a board, and what a link carries.

A topology is cards, the wires between them, and facts about its file. The PCI side is what every GPU has to its CPU,
and what GPUs behind one switch have to each other.

Speeds are per direction, in GB/s. A link whose generation a file or a sweep tells has the width of `link_widths`.
What is assumed, and PCI whose speed a file tells, is as NCCL and RCCL plan with it: what is achieved, not what is
printed. Sources, read: [1] NVIDIA/nccl src/graph/topo.h @ 069a3d4f95ca and src/graph/topo.cc (`kvDictPciGen`, 100
Mbit/s a lane; width times speed over 80); [2] ROCm/rccl src/graph/topo.h @ 08814b0a9e02 (`ncclTopoXGMISpeed`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.machine.link_widths import TYPES_OF_CARD, WIDTHS, Widths, nvlink_type, xgmi_type

MOST_LINKS_A_GPU = 18
"""NVLinks of the card that has the most of them (H100, field.md 2.4): what seems to have more has a switch."""


PAPER_GBPS = {"nvlink": 25.0, "xgmi": 46.0}
"""What an assumed link carries on paper: an NVLink of the second to the fourth generation; an xGMI link of MI100."""
PCIE_SHARE = 0.75
"""What NCCL plans with of the paper width of a PCI connection [1]."""


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
    type: str = ""
    """A name of `WIDTHS`. It is `assumed`, `assumed_pcie` or `planned_pcie` where `gbps` is what a library plans with,
    `printed` where the file tells the paper figure, and empty where it tells what was measured."""

    def at(self, widths: Widths) -> Wire:
        """Return the same wire with the width that its type has as taken, or on paper."""
        if self.type in WIDTHS:
            return self._replace(gbps=WIDTHS[self.type].at(widths)[0])
        if widths == "measured" or self.type in ("", "printed"):
            return self
        return self._replace(gbps=PAPER_GBPS[self.kind] if self.type == "assumed" else self.gbps / PCIE_SHARE)

    @property
    def duplex(self) -> float:
        """Return the measured bandwidth of both directions together, as a multiple of one."""
        return WIDTHS[self.type].duplex if self.type in WIDTHS else 2.0


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
        """Return the content of the file in plain types: `format`, `cards` (GPUs), `links`, and what else its format
        has."""
        gpus = sum(node.kind == "gpu" for node in self.nodes)
        result = {"format": self.format, "cards": gpus, "links": self.links, **self.noted}
        if not self.nvlink_assumed_gbps:
            return result
        cure = "a sweep's `card` or `link_gbps` tells it"
        return {**result, "assumed": f"an NVLink carries {self.nvlink_assumed_gbps:g} GB/s per direction; {cure}"}

    def with_nvlinks(self, gbps: float) -> Topology:
        """Return the same topology with NVLinks of another speed in the place of the assumed one."""
        of_another = tuple(
            wire._replace(gbps=gbps, type="") if wire.kind == "nvlink" and wire.type == "assumed" else wire
            for wire in self.wires
        )
        return self._of_wires(of_another)._replace(nvlink_assumed_gbps=0.0)

    def of_card(self, card: str) -> Topology:
        """Return the same topology with the links of a card, a name of `TYPES_OF_CARD`, where links were assumed."""
        link, pci = TYPES_OF_CARD[card]
        kind, on_paper = WIDTHS[link].kind, WIDTHS[link].paper_gbps
        types = {("assumed", kind): link, ("printed", kind): link, ("assumed_pcie", "pcie"): pci}
        wires = tuple(
            wire._replace(type=types.get((wire.type, wire.kind), wire.type)).at("measured")
            if wire.type != "printed" or wire.gbps == on_paper
            else wire
            for wire in self.wires
        )
        left = 0.0 if WIDTHS[link].kind == "nvlink" else self.nvlink_assumed_gbps
        return self._of_wires(wires)._replace(nvlink_assumed_gbps=left)

    def at(self, widths: Widths) -> Topology:
        """Return the same topology with the widths that were measured, or with those on paper."""
        return self._of_wires(tuple(wire.at(widths) for wire in self.wires))

    def _of_wires(self, wires: tuple[Wire, ...]) -> Topology:
        """Return the same topology with these wires, and ports as much faster as the widest link of their card."""
        before, after = ({name: _widest(all_, name) for name in self._ids()} for all_ in (self.wires, wires))
        nodes = tuple(
            node._replace(port_gbps=node.port_gbps / before[node.id] * after[node.id]) if node.port_gbps else node
            for node in self.nodes
        )
        return self._replace(nodes=nodes, wires=wires)

    def _ids(self) -> list[str]:
        return [node.id for node in self.nodes]


def _widest(wires: Collection[Wire], name: str) -> float:
    """Return the bandwidth of one link of the wire of a card that carries the most."""
    return max((wire.gbps * wire.links, wire.gbps) for wire in wires if name in wire.ends)[1]


def switched(ports: Mapping[str, int], gbps: float, type_: str = "") -> tuple[dict[str, float], list[Wire]]:
    """Return the ports and wires of links to an NVSwitch: every two cards reach each other over all links that both
    have, and a card's links are its port: what it carries to all others together.

    Parameters
    ----------
    ports : mapping
        How many links each card has to the switch.
    gbps : float
        What one link carries per direction.
    type_ : str
        The type of the links, as `Wire` has it.

    Returns
    -------
    dict, list
        What each card's links carry together, and the wires.
    """
    pairs = combinations([name for name, count in ports.items() if count], 2)
    wires = [Wire((one, other), "nvlink", gbps, min(ports[one], ports[other]), type=type_) for one, other in pairs]
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
_XGMI_OLD = 24.0
_GCN_NUMBERS = {"906": "gfx906", "908": "gfx908", "910": "gfx90a", "940": "gfx940"}
"""Older RCCL files write the architecture as a number; 910 is that of MI200 (gfx90a)."""

_SM_OF_TYPE = {"nvlink5": 100, "nvlink4": 90, "nvlink3_ga102": 86, "nvlink3": 80, "nvlink2": 70, "nvlink1": 60}
_NAMES = {name: _SM_OF_TYPE[link] for name, (link, _) in TYPES_OF_CARD.items() if link in _SM_OF_TYPE}
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

    >>> nvlink_gbps(80), nvlink_gbps(86), nvlink_gbps(90)
    (22.75, 12.0, 20.6)
    """
    name = nvlink_type(sm)
    return WIDTHS[name].gbps if name else NVLINK_GBPS


def card_names() -> list[str]:
    """Return the cards whose links are known, the newest of each maker first."""
    return list(TYPES_OF_CARD)


def card_named(text: str) -> str | None:
    """Return the known card of a name, whatever its case; None if there is none.

    >>> card_named("mi300x"), card_named("nvidia_gb200"), card_named("h1000")
    ('MI300X', 'GB200', None)
    """
    named = generation_named(text)
    return named[0] if named else next((name for name in TYPES_OF_CARD if name == text.upper()), None)


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
    (48.4, 36.0, 24.0)
    """
    name = xgmi_type(gcn_name(gcn))
    return WIDTHS[name].gbps if name else _XGMI_OLD


def gcn_name(gcn: str) -> str:
    """Return the name of an architecture, which older files write as a number."""
    return _GCN_NUMBERS.get(gcn, gcn)


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
    """Return the bandwidth between two CPUs.

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


def pci_wires(ways: list[WayUp], linked: Collection[frozenset[str]], type_: str = "planned_pcie") -> list[Wire]:
    """Return the links over PCI.

    A link to the CPU is as fast as the slowest part of its way; all GPUs behind one bridge at the CPU share it. Two
    GPUs with a bridge in common reach each other through the lowest such, without the CPU; where they are linked
    otherwise (`linked`), that way is not taken. `type_` is that of the PCI connections; a CPU on the module of a GPU
    has its own.

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
        *(
            Wire((way.gpu, way.cpu), "pcie", min(way.gbps), 1, _channel(way, shared), _type_at(min(way.gbps), type_))
            for way in ways
        ),
        *(
            Wire((one.gpu, other.gpu), "pcie", gbps, type=_type_at(gbps, type_))
            for one, other in combinations(ways, 2)
            if frozenset((one.gpu, other.gpu)) not in linked
            for gbps in _through_switch(one, other)
        ),
    ]


def _type_at(gbps: float, type_: str) -> str:
    return "nvlink_c2c" if gbps == C2C_GBPS else type_


def _channel(way: WayUp, shared: list[str]) -> str:
    return f"{way.cpu}_switch{shared.index(way.bridges[-1])}" if way.bridges and way.bridges[-1] in shared else ""


def _through_switch(one: WayUp, other: WayUp) -> list[float]:
    """Return the bandwidth between two GPUs through their lowest common bridge; empty where there is none."""
    common = next((bridge for bridge in one.bridges if bridge in other.bridges), None)
    if common is None:
        return []
    parts = [part for way in (one, other) for part in way.gbps[: way.bridges.index(common) + 1]]
    return [min(parts)]
