"""What `rocm-smi --showtopo` and `amd-smi topology` print, as topologies of xGMI links and PCI.

`rocm-smi --showtopo` prints tables of weights, hops and link types between GPUs, and their NUMA nodes; the JSON of
`--showtopo --json` says the same, a sentence a pair.

`amd-smi topology` prints tables of links between GPUs, which are named by their PCI addresses, or JSON of two forms:
until ROCm 6.2 a mapping a table (`link_type: {gpu_1: XGMI}`), then a list of links. A bandwidth is that of one link and
of all links of the pair, in MB/s: `50000-100000` is two links of 50 GB/s.

Two GPUs have a direct link if it is xGMI of one hop; what is further away is reached over others. Without xGMI a GPU
reaches others over PCI and its CPU. Which CPU that is, NUMA nodes tell, else the hops: GPUs two hops apart over PCI are
at one CPU, those three hops apart at two. How fast a link is, amd-smi tells as the bandwidths of one link and of all
together; where nothing does, `pci` has what RCCL plans with for the oldest cards, and a fact says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from workbench.errors import InputError, shown
from workbench.machine.topologies.pci import (
    PCIE3_X16_GBPS,
    Node,
    Topology,
    WayUp,
    Wire,
    groups,
    pci_wires,
    socket_gbps,
    xgmi_gbps,
)

_ROCM_TITLE = re.compile(r"=+ ([A-Za-z ]{1,40} between two GPUs) =+$")
_GPU = re.compile(r"GPU\d{1,4}", re.ASCII)
_NUMA = re.compile(r"GPU ?\[?(\d{1,4})\]?\s*: \(Topology\) Numa Node: (-?\d{1,4})$", re.ASCII)
_SENTENCE = re.compile(
    r"\(Topology\) (Weight|Hops|Link type) between DRM devices (\d{1,4}) and (\d{1,4})", re.ASCII | re.I
)
_CARD = re.compile(r"card(\d{1,4})", re.ASCII)
_WEIGHT, _HOPS, _KIND = "weight between two gpus", "hops between two gpus", "link type between two gpus"


def is_rocm_smi(text: bytes) -> bool:
    """Return whether a text is one of these."""
    return b"between two GPUs =" in text or (text.lstrip()[:1] == b"{" and b"between DRM devices" in text)


def read_rocm_smi(text: bytes, where: str) -> Topology:
    """Return the topology of an output.

    Raises
    ------
    InputError
        It has no link types, or is cut off or contradicts itself.
    """
    gpus, reply, numa = _rocm_json(text, where) if text.lstrip()[:1] == b"{" else _rocm_text(text, where)
    return amd_topology(gpus, pairs_of(gpus, reply, where), numa)


def _rocm_text(text: bytes, where: str) -> tuple[list[int], dict[tuple[int, int], Pair], dict[int, int]]:
    lines, found, names = lines_of(text), dict[str, Table](), list[str]()
    for title, columns, cells in tables(lines, _ROCM_TITLE, _GPU, where):
        found[title.lower()], names = cells, columns
    if _KIND not in found:
        raise InputError(f"{where}: has no table `Link Type between two GPUs`; take all of `rocm-smi --showtopo`.")
    gpus = [int(name.removeprefix("GPU")) for name in names]
    kinds, hops, weights = (found.get(title, {}) for title in (_KIND, _HOPS, _WEIGHT))
    settings = {
        (int(row.removeprefix("GPU")), int(column.removeprefix("GPU"))): Pair(
            kind.upper(), whole(hops.get((row, column), "")), whole(weights.get((row, column), ""))
        )
        for (row, column), kind in kinds.items()
        if row != column
    }
    nodes = (match for line in lines if (match := _NUMA.match(line)))
    return gpus, settings, {int(match[1]): int(match[2]) for match in nodes}


def _rocm_json(text: bytes, where: str) -> tuple[list[int], dict[tuple[int, int], Pair], dict[int, int]]:
    document = _json(text, where)
    said: dict[tuple[int, int], dict[str, str]] = {}
    for sentence, value in _mapping(document.get("system")).items():
        if match := _SENTENCE.fullmatch(sentence):
            said.setdefault((int(match[2]), int(match[3])), {})[match[1].lower()] = str(value)
    if not any("link type" in told for told in said.values()):
        raise InputError(f"{where}: tells no link types; take all of `rocm-smi --showtopo --json`.")
    told = {
        way: Pair(parts.get("link type", "N/A").upper(), whole(parts.get("hops", "")), whole(parts.get("weight", "")))
        for ends, parts in said.items()
        for way in (ends, ends[::-1])
        if way == ends or way not in said
    }
    return sorted({gpu for way in said for gpu in way}), told, _numa(document)


def _json(text: bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{where}: is no whole JSON ({problem}).") from None


def _numa(document: Mapping[str, Any]) -> dict[int, int]:
    """Return the NUMA node of each card."""
    cards = ((_CARD.fullmatch(name), _mapping(told)) for name, told in document.items())
    nodes = ((match, whole(str(told.get("(Topology) Numa Node", "")))) for match, told in cards if match)
    return {int(match[1]): node for match, node in nodes if node is not None}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


_AMD_TITLE = re.compile(r"\s*([A-Z][A-Z -]* TABLE):?$")
_BUS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|GPU\d{1,4}", re.ASCII | re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_KEY = re.compile(r"gpu_(\d{1,4})", re.ASCII)
_TABLES = (b"LINK TYPE TABLE", b"ACCESS TABLE", b"WEIGHT TABLE", b"HOPS TABLE", b"NUMA BW TABLE")
_OLD = {"kind": "link_type", "hops": "hops", "weight": "weight", "bandwidth": "numa_bandwidth"}
_NEW = {"kind": "link_type", "hops": "num_hops", "weight": "weight", "bandwidth": "bandwidth"}

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
        """Return the number of links that join the two."""
        if not self.link_mbps or not self.all_mbps:
            return 1
        return min(max(self.all_mbps // self.link_mbps, 1), _MOST_LINKS)


Told = dict[tuple[int, int], Pair]


def is_amd_smi(text: bytes) -> bool:
    """Return whether a text is one of these."""
    if any(title in text for title in _TABLES):
        return True
    if text.lstrip()[:1] not in (b"[", b"{") or b'"traceEvents"' in text:
        return False
    return b'"gpu"' in text and b'"link_type"' in text


def read_amd_smi(text: bytes, where: str) -> Topology:
    """Return the topology of an output.

    Raises
    ------
    InputError
        It has no link types, or is cut off or contradicts itself.
    """
    gpus, reply = _amd_json(text, where) if text.lstrip()[:1] in (b"[", b"{") else _amd_text(text, where)
    return amd_topology(gpus, pairs_of(gpus, reply, where), {})


def _amd_text(text: bytes, where: str) -> tuple[list[int], Told]:
    found, names = dict[str, Table](), list[str]()
    for title, columns, cells in tables(lines_of(text), _AMD_TITLE, _BUS, where):
        found[title], names = cells, columns
    kinds = found.get("LINK TYPE TABLE")
    if kinds is None:
        raise InputError(f"{where}: has no LINK TYPE TABLE; take all of `amd-smi topology`.")
    numbers = {name: k for k, name in enumerate(names)}
    others = [found.get(title, {}) for title in ("HOPS TABLE", "WEIGHT TABLE", "NUMA BW TABLE")]
    settings = {
        (numbers[row], numbers[column]): _pair(kind, *(table.get((row, column), "") for table in others))
        for (row, column), kind in kinds.items()
        if row != column and row in numbers and column in numbers
    }
    return list(numbers.values()), settings


def _pair(kind: str, hops: str, weight: str, bandwidth: str) -> Pair:
    speeds = _RANGE.fullmatch(bandwidth)
    one, every = (int(speeds[1]), int(speeds[2])) if speeds else (None, None)
    return Pair(kind.upper(), whole(hops), whole(weight), one, every)


def _amd_json(text: bytes, where: str) -> tuple[list[int], Told]:
    document = _json(text, where)
    gpus, state = list[int](), Told()
    for entry in _entries(document):
        number = entry.get("gpu")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0 or number in gpus:
            raise InputError(f"{where}: every entry must have a `gpu`, a number of its own. Got {str(number)[:40]}.")
        gpus.append(number)
        state.update({(number, other): pair for other, pair in _links(entry) if other != number})
    if not state and len(gpus) > 1:
        raise InputError(f"{where}: tells no link types; take all of `amd-smi topology --json`.")
    return sorted(gpus), state


def _entries(document: Any) -> list[dict[str, Any]]:
    """Return the entries of GPUs: a list, which newer versions may wrap into a mapping."""
    if isinstance(document, dict):
        document = next((value for value in document.values() if isinstance(value, list)), [document])
    return [entry for entry in document if isinstance(entry, dict)]


def _links(entry: Mapping[str, Any]) -> Iterator[tuple[int, Pair]]:
    """Yield the other GPU of each link, and what is told of the two."""
    links = entry.get("links")
    if isinstance(links, list):
        for link in (link for link in links if isinstance(link, dict)):
            if isinstance(other := link.get("gpu"), int) and "link_type" in link:
                yield other, _pair(*(str(link.get(key, "")) for key in _NEW.values()))
        return
    parts = {what: entry.get(key) for what, key in _OLD.items()}
    columns = {what: part if isinstance(part, dict) else {} for what, part in parts.items()}
    for name in columns["kind"]:
        if match := _KEY.fullmatch(str(name)):
            yield int(match[1]), _pair(*(str(columns[what].get(name, "")) for what in _OLD))


Pairs = Mapping[tuple[int, int], Pair]
"""What is told of every two GPUs, the lower number first."""


def pair_of(told: Mapping[tuple[int, int], Pair], one: int, other: int, where: str) -> Pair:
    """Return the links that both directions of a pair state alike.

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
    """Return the statement on every two GPUs; errors as of `pair_of`, and for too many GPUs."""
    if not 0 < len(gpus) <= MOST_GPUS:
        raise InputError(f"{where}: must tell of 1 to {MOST_GPUS} GPUs. Got {len(gpus)}.")
    return {(one, other): pair_of(told, one, other, where) for one, other in combinations(gpus, 2)}


def amd_topology(gpus: list[int], pairs: Pairs, numa: Mapping[int, int]) -> Topology:
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
        Wire(
            (f"gpu{one}", f"gpu{other}"),
            "xgmi",
            (pair.link_mbps or 0) / 1000 or xgmi_gbps(""),
            pair.links,
            type="printed" if pair.link_mbps else "assumed",
        )
        for (one, other), pair in direct
    ]
    linked = {frozenset(wire.ends) for wire in wires}
    homes = _homes(gpus, pairs, numa)
    cpus = [f"cpu{k}" for k in range(max(homes.values()) + 1)]
    ways = [WayUp(f"gpu{gpu}", cpus[homes[gpu]], (), (PCIE3_X16_GBPS,)) for gpu in gpus]
    between_cpus = socket_gbps("x86_64", "AuthenticAMD", 0)  # their makers are not told: AMD's are taken
    sockets = [Wire(pair, "qpi", between_cpus) for pair in combinations(cpus, 2)]
    alone = {gpu for gpu in gpus if not any(f"gpu{gpu}" in ends for ends in linked)}
    nodes = [Node(f"gpu{gpu}", "gpu", PCIE3_X16_GBPS if gpu in alone else 0.0) for gpu in gpus]
    return Topology(
        nodes=(*(Node(name, "cpu") for name in cpus), *nodes),
        wires=(*wires, *pci_wires(ways, linked, "assumed_pcie"), *sockets),
        links=sum(pair.links for _, pair in direct),
        noted=_facts(gpus, pairs, numa) | ({"xgmi_gbps": "assumed"} if assumed else {}),
    )


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
    """Return the lines of a text, without colors and blanks behind them."""
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
