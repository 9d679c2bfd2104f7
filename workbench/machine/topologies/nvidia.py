"""What `nvidia-smi topo -m` and CUDA's sample p2pBandwidthLatencyTest print, as topologies.

`nvidia-smi topo -m` prints how every two cards are connected, in tabs or in runs of blanks. NVn is n bonded links;
where a card would have more of them than cards have ports, they lead to NVSwitches. The PCI tree follows from the other
labels, those of network cards too, for NVn hides what lies beneath. PIX and PXB join what is behind one switch; PHB and
NODE and equal CPU affinities what is at one CPU; SYS keeps CPUs apart. C2C is a CPU on the module of the GPU. The table
does not tell how fast anything is. NVLinks and PCI are of the generation of the card that the text around it names
(`nvidia-smi -L`). Without a name NVLinks are of sm_70 and sm_80, and PCI is of gen 3. A sweep can replace both. A table
of some of the cards (GPU4 and GPU5 alone) is one too.

The sample prints matrices of measured bandwidths, one row a card. A link between two cards carries what was measured
with peer access on: in one direction where that matrix is there, else half of what was measured in both. It is taken
for NVLink where peer access is half as fast again as the way through the host, else for PCI. The two triangles of a
matrix measure the same links; their mean is taken. Links that differ by no more than measurements do are of one kind,
and have the mean of all of these: else the widest path between two cards would lead over a third one that was measured
a little better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.machine.topologies.amd import is_amd_smi, is_rocm_smi, lines_of
from workbench.machine.topologies.pci import (
    C2C_GBPS,
    MOST_LINKS_A_GPU,
    NVLINK_GBPS,
    PCIE3_X16_GBPS,
    QPI_GBPS,
    Node,
    Topology,
    WayUp,
    Wire,
    generation_named,
    groups,
    pci_wires,
    switched,
)

_HEADINGS = re.compile(r"GPU NUMA ID|CPU Affinity|NUMA Affinity|\S+")
_GPU = re.compile(r"GPU[0-9]{1,4}")
_BEHIND_ONE_SWITCH, _AT_ONE_CPU, _APART = ("PIX", "PXB"), ("PHB", "NODE", "C2C"), ("SYS", "SOC")
_LABEL = re.compile(r"X|NV[0-9]{1,3}|PIX|PXB|PHB|NODE|SYS|SOC|C2C")
_AFFINITY = "CPU Affinity"


class _Table(NamedTuple):
    """The printed table: labels between devices, and the columns next to them."""

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


def is_nvidia_smi(text: bytes) -> bool:
    """Return whether a text is one of these."""
    return not (is_rocm_smi(text) or is_amd_smi(text)) and any(map(_is_header, lines_of(text)))


def _is_header(line: str) -> bool:
    """Return whether a line names columns: a card first, and behind it no label, as in a card's row."""
    names = _headings(line)
    return bool(names) and _GPU.fullmatch(names[0]) is not None and not (names[1:] and _LABEL.fullmatch(names[1]))


def read_nvidia_smi(text: bytes, where: str) -> Topology:
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
    wires = [Wire(pair, "nvlink", NVLINK_GBPS, count, type="assumed") for pair, count in bonded.items()]
    if max(own.values()) > MOST_LINKS_A_GPU:
        own = {name: max((count for pair, count in bonded.items() if name in pair), default=0) for name in own}
        ports, wires = switched(own, NVLINK_GBPS, "assumed")
    cpus, ways = _ways_up(table, names)
    sockets = [Wire(pair, "qpi", QPI_GBPS) for pair in combinations(cpus, 2)]
    alone = {name: PCIE3_X16_GBPS for name, links in own.items() if not links}
    nodes = [Node(name, "gpu", ports.get(name) or alone.get(name, 0.0)) for name in names.values()]
    topology = Topology(
        nodes=(*(Node(name, "cpu") for name in cpus), *nodes),
        wires=(*wires, *pci_wires(ways, {*map(frozenset, bonded)}, "assumed_pcie"), *sockets),
        links=sum(own.values()) if ports else sum(bonded.values()),
        noted={
            "gpus": len(table.gpus),
            "gpu_pair_labels": dict(sorted(Counter(table.labels[p] for p in combinations(table.gpus, 2)).items())),
            "symmetric": True,
            "nvlinks_per_gpu": list(own.values()),
            "other_columns": table.others,
            **({"nvlinks_of": named[0]} if named and bonded else {}),
        },
        nvlink_assumed_gbps=NVLINK_GBPS if bonded else 0.0,
    )
    return topology.of_card(named[0]) if named else topology


def _table(text: bytes, where: str) -> _Table:
    lines = lines_of(text)
    start = next(k for k, line in enumerate(lines) if _is_header(line))
    columns = _headings(lines[start])
    gpus = [name for name in columns if _GPU.fullmatch(name)]
    found: dict[str, list[str]] = {}
    for line in lines[start + 1 :]:
        if not line.strip() or line.startswith("Legend"):
            break
        name, *cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
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


_TITLE = re.compile(r"^\s*(.*\bMatrix\b.*?)\s*$")
_HEADER = re.compile(r"^\s*(?:D\\D|GPU|CPU)\s+\d")
_ONE_WAY, _BOTH_WAYS = "Unidirectional P2P=", "Bidirectional P2P="
_MOST_ASYMMETRY = 0.1
"""Two measurements of one link differ by a percent; a tenth is a damaged matrix, or no matrix of one machine."""
_MOST_NOISE = 0.05
_GAIN_OF_NVLINK = 1.5


class Matrix(NamedTuple):
    """A printed matrix, one row a card."""

    title: str
    values: np.ndarray
    """float64[cards, cards]; the diagonal is the card's own memory."""


def is_p2p(text: bytes) -> bool:
    """Return whether a text is one of these."""
    lines = text.decode(errors="replace").splitlines()
    return any(_HEADER.match(line) for line in lines) and any(_TITLE.match(line) for line in lines)


def read_p2p(text: bytes, where: str) -> Topology:
    """Read the topology of an output.

    Raises
    ------
    InputError
        A matrix is not square or not symmetric, or a bandwidth is zero, or there is no matrix of bandwidths.
    """
    matrices = list(p2p_matrices(text, where))
    if not matrices:
        raise InputError(f"{where}: holds no matrix below its title; the first matrix stands before any title.")
    size = len(matrices[0].values)
    for it in matrices:
        if len(it.values) != size:
            raise InputError(f"{where}: {it.title} has {len(it.values)} rows where another matrix has {size}.")
        _check(it, where)
    direct, staged = (_one_way(matrices, which) for which in ("Enabled", "Disabled"))
    measured = direct if direct is not None else staged
    if measured is None:
        raise InputError(f"{where}: holds no matrix of bandwidths (a title with P2P= and GB/s).")
    best = _of_one_kind(measured)
    reachable = next((it.values > 0 for it in matrices if "Connectivity" in it.title), np.ones((size, size), bool))
    fast = best >= _GAIN_OF_NVLINK * (np.inf if staged is None else staged)
    return Topology(
        nodes=tuple(Node(f"gpu{k}", "gpu") for k in range(size)),
        wires=tuple(
            Wire((f"gpu{one}", f"gpu{other}"), "nvlink" if fast[one, other] else "pcie", float(best[one, other]))
            for one, other in combinations(range(size), 2)
        ),
        links=sum(bool(reachable[pair]) for pair in combinations(range(size), 2)),
        noted={"matrices": {it.title: _facts(it.values) for it in matrices}},
    )


def p2p_matrices(text: bytes, where: str) -> Iterator[Matrix]:
    """Yield the matrices of an output, in their order.

    Raises
    ------
    InputError
        A matrix is not square, or holds what is no number.
    """
    lines = text.decode(errors="replace").splitlines()
    title = ""
    for k, line in enumerate(lines):
        named = _TITLE.match(line)
        title = _printable(named[1]) if named else title
        if _HEADER.match(line) and title:
            yield Matrix(title, _rows(lines, k, title, where))


def _printable(title: str) -> str:
    """Return a title without what would disturb the sentence that names it."""
    return "".join(letter if letter.isprintable() else "?" for letter in title)


def _rows(lines: list[str], header: int, title: str, where: str) -> np.ndarray:
    size = len(lines[header].split()) - 1
    rows = []
    for number, line in enumerate(lines[header + 1 : header + 1 + size]):
        cells = line.split()
        if len(cells) != size + 1 or cells[0] != str(number):
            raise InputError(
                f"{where}: {title}: row {number} must have its number and {size} values. Got {shown(line.strip())}."
            )
        rows.append([_number(cell, title, where) for cell in cells[1:]])
    if len(rows) < size:
        raise InputError(f"{where}: {title}: must have {size} rows. Got {len(rows)}; the output is cut off.")
    return np.array(rows)


def _number(cell: str, title: str, where: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = -1.0
    if not 0 <= number < np.inf:
        raise InputError(f"{where}: {title}: must hold numbers of at least 0. Got {shown(cell)}.")
    return number


def _check(matrix: Matrix, where: str) -> None:
    """Refuse bandwidths of zero, and pairs that were measured too differently to be the same links."""
    bandwidths = "GB/s" in matrix.title
    for one, other in combinations(range(len(matrix.values)), 2):
        there, back = (float(matrix.values[pair]) for pair in ((one, other), (other, one)))
        if bandwidths and not (there and back):
            raise InputError(f"{where}: {matrix.title}: the bandwidth between {one} and {other} must be above 0.")
        if "(us)" not in matrix.title and abs(there - back) > _MOST_ASYMMETRY * max(there, back):
            measured = f"{one} to {other} is {there:g}, {other} to {one} is {back:g}"
            raise InputError(f"{where}: {matrix.title}: is not symmetric: {measured}.")


def _one_way(matrices: list[Matrix], which: str) -> np.ndarray | None:
    """Return the GB/s per direction with peer access enabled or disabled; None where it was not measured."""
    for start, factor in ((_ONE_WAY, 1.0), (_BOTH_WAYS, 0.5)):
        for it in matrices:
            if it.title.startswith(start + which) and "GB/s" in it.title:
                return (it.values + it.values.T) * factor / 2
    return None


def _of_one_kind(measured: np.ndarray) -> np.ndarray:
    """Return the bandwidths with those that are close to each other made equal.

    >>> table = np.array([[0, 48.4, 24.1], [48.4, 0, 48.5], [24.1, 48.5, 0]])
    >>> _of_one_kind(table)[0].tolist(), _of_one_kind(table)[2].tolist()
    ([0.0, 48.45, 24.1], [24.1, 48.45, 0.0])
    """
    pairs = sorted(combinations(range(len(measured)), 2), key=lambda pair: float(measured[pair]))
    levelled = np.zeros_like(measured)
    kinds: list[list[tuple[int, int]]] = []
    for pair in pairs:
        if kinds and measured[pair] <= measured[kinds[-1][0]] * (1 + _MOST_NOISE):
            kinds[-1].append(pair)
        else:
            kinds.append([pair])
    for kind in kinds:
        mean = round(float(np.mean([measured[pair] for pair in kind])), 6)
        for one, other in kind:
            levelled[one, other] = levelled[other, one] = mean
    return levelled


def _facts(values: np.ndarray) -> dict[str, Any]:
    size = len(values)
    off = values[~np.eye(size, dtype=bool)]
    return {
        "size": size,
        "diagonal_mean": round(float(np.diag(values).mean()), 6),
        "off_min": float(off.min(initial=np.inf)) if size > 1 else 0.0,
        "off_max": float(off.max(initial=0.0)),
        "off_sum": round(float(off.sum()), 6),
        "first_row": values[0].tolist(),
        "max_asymmetry": round(float(np.abs(values - values.T).max()), 6),
    }
