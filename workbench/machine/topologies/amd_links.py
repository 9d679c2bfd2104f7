"""What AMD's tools tell of every two GPUs, as a board: direct xGMI links, and the way over PCI and CPUs for the rest.

Two GPUs have a direct link if it is xGMI of one hop; what is further away is reached over others. Without xGMI a GPU
reaches others over PCI and its CPU. Which CPU that is, NUMA nodes tell, else the hops: GPUs two hops apart over PCI are
at one CPU, those three hops apart at two. How fast a link is, amd-smi tells as the bandwidths of one link and of all
together; where nothing does, `speeds` has what RCCL plans with for the oldest cards, and a fact says so.

Square tables that AMD's tools print: a title, a line that names the columns, a row a GPU.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from workbench.errors import InputError, shown
from workbench.machine.topologies.speeds import PCIE3_X16_GBPS, WayUp, pci_wires, socket_gbps, xgmi_gbps
from workbench.machine.topologies.topology import Node, Topology, Wire, groups

_XGMI, _PCIE, _NONE = "XGMI", "PCIE", "N/A"
_KINDS = (_XGMI, _PCIE, _NONE, "UNKNOWN", "XXXX")
_AT_ONE_CPU = 2
_MOST_LINKS = 64
MOST_GPUS = 1024


class Pair(NamedTuple):
    """What is told of two GPUs."""

    kind: str
    """XGMI, PCIE, N/A or UNKNOWN."""
    hops: int | None = None
    weight: int | None = None
    link_mbps: int | None = None
    """Bandwidth of one link, in MB/s per direction."""
    all_mbps: int | None = None
    """Of all links of the two together."""

    @property
    def direct(self) -> bool:
        """Return whether a link joins the two without another card between."""
        return self.kind == _XGMI and (self.hops is None or self.hops <= 1)

    @property
    def links(self) -> int:
        """Return how many links join the two."""
        if not self.link_mbps or not self.all_mbps:
            return 1
        return min(max(self.all_mbps // self.link_mbps, 1), _MOST_LINKS)


Pairs = Mapping[tuple[int, int], Pair]
"""What is told of every two GPUs, the lower number first."""


def pair_of(told: Mapping[tuple[int, int], Pair], one: int, other: int, where: str) -> Pair:
    """Return what both directions of a pair say alike.

    Raises
    ------
    InputError
        A direction is missing, of an unknown kind, or the two contradict each other.
    """
    for way in ((one, other), (other, one)):
        if way not in told:
            raise InputError(f"{where}: does not tell how GPU{way[0]} reaches GPU{way[1]}; the output is cut off.")
        if told[way].kind not in _KINDS:
            which = f"the link type of GPU{way[0]} and GPU{way[1]}"
            raise InputError(f"{where}: {which} must be XGMI, PCIE or N/A. Got {shown(told[way].kind)}.")
    there, back = told[one, other], told[other, one]
    if there.kind != back.kind:
        raise InputError(
            f"{where}: is not symmetric: GPU{one} to GPU{other} is {there.kind}, GPU{other} to GPU{one} is {back.kind}."
        )
    return there


def pairs_of(gpus: list[int], told: Mapping[tuple[int, int], Pair], where: str) -> Pairs:
    """Return what is told of every two GPUs; errors as of `pair_of`, and for too many GPUs."""
    if not 0 < len(gpus) <= MOST_GPUS:
        raise InputError(f"{where}: must tell of 1 to {MOST_GPUS} GPUs. Got {len(gpus)}.")
    return {(one, other): pair_of(told, one, other, where) for one, other in combinations(gpus, 2)}


def amd_topology(format_name: str, gpus: list[int], pairs: Pairs, numa: Mapping[int, int]) -> Topology:
    """Return the board.

    Parameters
    ----------
    gpus : list of int
        Their numbers.
    numa : mapping
        The NUMA node of each GPU, as far as it is told.
    """
    direct = [(ends, pair) for ends, pair in pairs.items() if pair.direct]
    assumed = any(not pair.link_mbps for _, pair in direct)
    wires = [
        Wire((f"gpu{one}", f"gpu{other}"), "xgmi", (pair.link_mbps or 0) / 1000 or xgmi_gbps(""), pair.links)
        for (one, other), pair in direct
    ]
    linked = {frozenset(wire.ends) for wire in wires}
    homes = _homes(gpus, pairs, numa)
    cpus = [f"cpu{k}" for k in range(max(homes.values()) + 1)]
    ways = [WayUp(f"gpu{gpu}", cpus[homes[gpu]], (), (PCIE3_X16_GBPS,)) for gpu in gpus]
    alone = {gpu for gpu in gpus if not any(f"gpu{gpu}" in ends for ends in linked)}
    nodes = [Node(f"gpu{gpu}", "gpu", PCIE3_X16_GBPS if gpu in alone else 0.0) for gpu in gpus]
    return Topology(
        format=format_name,
        nodes=(*(Node(name, "cpu") for name in cpus), *nodes),
        wires=(*wires, *pci_wires(ways, linked), *_sockets(cpus)),
        links=sum(pair.links for _, pair in direct),
        noted=_facts(gpus, pairs, numa) | ({"xgmi_gbps": "assumed"} if assumed else {}),
    )


def _sockets(cpus: list[str]) -> list[Wire]:
    """Return the links between CPUs; as their makers are not told, AMD's are taken."""
    return [Wire(pair, "qpi", socket_gbps("x86_64", "AuthenticAMD", 0)) for pair in combinations(cpus, 2)]


def _homes(gpus: list[int], pairs: Pairs, numa: Mapping[int, int]) -> dict[int, int]:
    """Return the CPU of every GPU, numbered in the order of the GPUs."""
    if all(numa.get(gpu, -1) >= 0 for gpu in gpus):
        nodes = sorted({numa[gpu] for gpu in gpus})
        return {gpu: nodes.index(numa[gpu]) for gpu in gpus}
    names = {gpu: f"{gpu}" for gpu in gpus}
    over_pci = {ends: pair.hops for ends, pair in pairs.items() if pair.kind == _PCIE and pair.hops is not None}
    if not any(hops > _AT_ONE_CPU for hops in over_pci.values()):
        return dict.fromkeys(gpus, 0)
    near = [(names[one], names[other]) for (one, other), hops in over_pci.items() if hops <= _AT_ONE_CPU]
    return {int(name): k for k, group in enumerate(groups(list(names.values()), near)) for name in group}


def _facts(gpus: list[int], pairs: Pairs, numa: Mapping[int, int]) -> dict[str, Any]:
    hops = [pair.hops for pair in pairs.values() if pair.hops is not None]
    weights = [pair.weight for pair in pairs.values() if pair.weight is not None]
    return {
        "gpus": len(gpus),
        "gpu_pair_types": dict(sorted(Counter(pair.kind for pair in pairs.values()).items())),
        "pairs_with_direct_link": sum(pair.direct for pair in pairs.values()),
        **({"hops_min_max": [min(hops), max(hops)]} if hops else {}),
        **({"weight_min_max": [min(weights), max(weights)]} if weights else {}),
        **({"numa_nodes": len(set(numa.values()))} if numa else {}),
    }


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
Table = dict[tuple[str, str], str]
"""The cell of a row and a column, by their names."""


def lines_of(text: bytes) -> list[str]:
    """Return the lines of a text, without colours and blanks behind them."""
    return [_COLOUR.sub("", line).rstrip() for line in text.decode(errors="replace").lstrip("\ufeff").splitlines()]


def tables(
    lines: list[str], title: re.Pattern[str], name: re.Pattern[str], where: str
) -> Iterator[tuple[str, list[str], Table]]:
    """Yield every table: its title, the names of its columns, its cells.

    Parameters
    ----------
    title : pattern
        Matches the line of a title; its first group is the title.
    name : pattern
        Matches the name of a row or a column.

    Raises
    ------
    InputError
        A row is missing, or has not as many cells as there are columns.
    """
    for k, line in enumerate(lines):
        match = title.match(line)
        names = lines[k + 1].split() if match and k + 1 < len(lines) else []
        if match and names and all(name.fullmatch(column) for column in names):
            yield match[1], names, _cells(match[1], names, lines[k + 2 : k + 2 + len(names)], where)


def _cells(title: str, names: list[str], rows: list[str], where: str) -> Table:
    cells: Table = {}
    for k, row in enumerate(names):
        told = rows[k].split() if k < len(rows) else []
        if not told or told[0] != row:
            raise InputError(f"{where}: {title}: the row of {row} is missing; the output is cut off.")
        if len(told) != len(names) + 1:
            raise InputError(
                f"{where}: {title}: the row of {row} must have {len(names)} values. Got {shown(' '.join(told[1:]))}."
            )
        cells.update({(row, column): cell for column, cell in zip(names, told[1:])})
    return cells


def whole(cell: str) -> int | None:
    """Return a cell as a whole number, None where it is none, such as N/A.

    >>> whole("15"), whole("N/A")
    (15, None)
    """
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 10 else None
