"""What `nvidia-smi topo -m` prints: how every two cards are connected, in tabs or in runs of blanks.

NVn is n bonded links; where a card would have more of them than cards have ports, they lead to NVSwitches. The PCI tree
is what the other labels tell, those of network cards too, for NVn hides what lies beneath: PIX and PXB join what is
behind one switch, PHB and NODE and equal CPU affinities what is at one CPU, SYS keeps CPUs apart; C2C is a CPU on the
module of the GPU. The table does not tell how fast anything is: NVLinks are of the generation of the card that the text
around it names (`nvidia-smi -L`), else of sm_70 and sm_80, PCI is of gen 3; a sweep can replace both. A table of some
of the cards (GPU4 and GPU5 alone) is one too.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import NamedTuple

from workbench.errors import InputError, shown
from workbench.machine.topologies import amd_smi_topo, rocm_smi_topo
from workbench.machine.topologies.speeds import (
    C2C_GBPS,
    NVLINK_GBPS,
    PCIE3_X16_GBPS,
    QPI_GBPS,
    WayUp,
    generation_named,
    nvlink_gbps,
    pci_wires,
)
from workbench.machine.topologies.topology import MOST_LINKS_A_GPU, Node, Topology, Wire, groups, switched

FORMAT = "nvidia_smi_topo"
SAYS = "the table of nvidia-smi topo -m"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_HEADINGS = re.compile(r"GPU NUMA ID|CPU Affinity|NUMA Affinity|\S+")
_GPU = re.compile(r"GPU[0-9]{1,4}")
_BEHIND_ONE_SWITCH, _AT_ONE_CPU, _APART = ("PIX", "PXB"), ("PHB", "NODE", "C2C"), ("SYS", "SOC")
_LABEL = re.compile(r"X|NV[0-9]{1,3}|PIX|PXB|PHB|NODE|SYS|SOC|C2C")
_AFFINITY = "CPU Affinity"


class _Table(NamedTuple):
    """The printed table: labels between devices, and what stands beside them."""

    gpus: list[str]
    others: list[str]
    """The columns that are no GPUs: network cards, then affinities."""
    labels: dict[tuple[str, str], str]
    affinity: dict[str, str]

    def pairs(self, wanted: tuple[str, ...]) -> list[tuple[str, str]]:
        return [pair for pair, label in self.labels.items() if label in wanted]

    def bonded(self) -> dict[tuple[str, str], int]:
        """Return the NVLinks between every two GPUs that have some."""
        found = {pair: self.labels[pair] for pair in combinations(self.gpus, 2)}
        return {pair: int(label[2:]) for pair, label in found.items() if label.startswith("NV")}


def recognises(text: bytes) -> bool:
    """Return whether a text is one of these."""
    of_amd = any(it.recognises(text) for it in (rocm_smi_topo, amd_smi_topo))
    return not of_amd and any(map(_is_header, _lines(text)))


def _is_header(line: str) -> bool:
    """Return whether a line names columns: a card first, and behind it no label, as in a card's row."""
    names = _headings(line)
    return bool(names) and _GPU.fullmatch(names[0]) is not None and not (names[1:] and _LABEL.fullmatch(names[1]))


def read(text: bytes, where: str) -> Topology:
    """Read the topology of a table.

    Raises
    ------
    InputError
        A row or a label is missing or unknown, or two cards say different things of each other.
    """
    table = _table(text, where)
    names = {gpu: f"gpu{gpu.removeprefix('GPU')}" for gpu in table.gpus}
    bonded = {(names[one], names[other]): count for (one, other), count in table.bonded().items()}
    own = {name: sum(count for pair, count in bonded.items() if name in pair) for name in names.values()}
    ports: dict[str, float] = {}
    named = generation_named(text.decode(errors="replace"))
    gbps = nvlink_gbps(named[1]) if named else NVLINK_GBPS
    wires = [Wire(pair, "nvlink", gbps, count) for pair, count in bonded.items()]
    if max(own.values()) > MOST_LINKS_A_GPU:
        own = {name: max((count for pair, count in bonded.items() if name in pair), default=0) for name in own}
        ports, wires = switched(own, gbps)
    cpus, ways = _ways_up(table, names)
    alone = {name: PCIE3_X16_GBPS for name, links in own.items() if not links}
    nodes = [Node(name, "gpu", ports.get(name) or alone.get(name, 0.0)) for name in names.values()]
    return Topology(
        format=FORMAT,
        nodes=(*(Node(name, "cpu") for name in cpus), *nodes),
        wires=(*wires, *pci_wires(ways, {*map(frozenset, bonded)}), *_sockets(cpus)),
        links=sum(own.values()) if ports else sum(bonded.values()),
        noted={
            "gpus": len(table.gpus),
            "gpu_pair_labels": dict(sorted(Counter(table.labels[p] for p in combinations(table.gpus, 2)).items())),
            "symmetric": True,
            "nvlinks_per_gpu": list(own.values()),
            "other_columns": table.others,
            **({"nvlinks_of": named[0]} if named and bonded else {}),
        },
        nvlink_assumed_gbps=0.0 if named or not bonded else gbps,
    )


def _sockets(cpus: list[str]) -> list[Wire]:
    return [Wire(pair, "qpi", QPI_GBPS) for pair in combinations(cpus, 2)]


def _lines(text: bytes) -> list[str]:
    return [_COLOUR.sub("", line).rstrip() for line in text.decode(errors="replace").splitlines()]


def _table(text: bytes, where: str) -> _Table:
    lines = _lines(text)
    start = next(k for k, line in enumerate(lines) if _is_header(line))
    columns = _headings(lines[start])
    gpus = [name for name in columns if _GPU.fullmatch(name)]
    found: dict[str, list[str]] = {}
    for line in lines[start + 1 :]:
        if not line.strip() or line.startswith("Legend"):
            break
        name, *cells = _cells(line)
        found[name] = cells
    for name in gpus:
        if name not in found:
            raise InputError(f"{where}: the row of {name} is missing; the table is cut off.")
    devices = [name for name in columns if name in found]
    labels = {
        (name, other): _label(found[name], columns.index(other), name, other, where)
        for name in devices
        for other in devices
    }
    _check_symmetric(labels, where)
    place = columns.index(_AFFINITY) if _AFFINITY in columns else -1
    affinity = {name: found[name][place] for name in gpus if 0 <= place < len(found[name])}
    return _Table(gpus, [name for name in columns if name not in gpus], labels, affinity)


def _headings(line: str) -> list[str]:
    if "\t" in line:
        return [name.strip() for name in line.split("\t") if name.strip()]
    return _HEADINGS.findall(line)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()


def _label(cells: list[str], place: int, name: str, other: str, where: str) -> str:
    label = cells[place] if place < len(cells) else ""
    if not _LABEL.fullmatch(label) or (label == "X") != (name == other):
        expected = "X" if name == other else "NVn, PIX, PXB, PHB, NODE, C2C or SYS"
        raise InputError(f"{where}: row {name}, column {other} must be {expected}. Got {shown(label)}.")
    if label == "NV0":
        raise InputError(f"{where}: row {name}, column {other}: NV0 would be links without bandwidth.")
    return label


def _check_symmetric(labels: dict[tuple[str, str], str], where: str) -> None:
    for (name, other), label in labels.items():
        if labels[other, name] != label:
            raise InputError(
                f"{where}: is not symmetric: {name} to {other} is {label}, {other} to {name} is {labels[other, name]}."
            )


def _ways_up(table: _Table, names: dict[str, str]) -> tuple[list[str], list[WayUp]]:
    """Return the CPUs, and how each GPU reaches its own."""
    devices = list(dict.fromkeys(name for name, _ in table.labels))
    near = table.pairs(_BEHIND_ONE_SWITCH + _AT_ONE_CPU)
    alike = [pair for pair in combinations(table.affinity, 2) if len({table.affinity[name] for name in pair}) == 1]
    cpus = _together(groups(devices, near + alike), set(table.pairs(_APART)))
    homes = {name: f"cpu{k}" for k, group in enumerate(cpus) for name in group}
    behind = {
        name: f"switch{k}"
        for k, group in enumerate(groups(devices, table.pairs(_BEHIND_ONE_SWITCH)))
        for name in group
        if len(group) > 1
    }
    on_module = {name for pair in table.pairs(("C2C",)) for name in pair}
    ways = [
        WayUp(
            names[name],
            homes[name],
            (behind[name],) if name in behind else (),
            (C2C_GBPS if name in on_module else PCIE3_X16_GBPS,) * 2,
        )
        for name in table.gpus
    ]
    return [f"cpu{k}" for k in range(len(cpus))], ways


def _together(found: list[list[str]], apart: set[tuple[str, str]]) -> list[list[str]]:
    """Return the groups of devices at one CPU: what nothing keeps apart is at the same, and each has a GPU."""
    joined: list[list[str]] = []
    for group in found:
        home = next((it for it in joined if not any((one, two) in apart for one in it for two in group)), None)
        if home is None:
            joined.append(list(group))
        else:
            home += group
    return [group for group in joined if any(_GPU.fullmatch(name) for name in group)]
