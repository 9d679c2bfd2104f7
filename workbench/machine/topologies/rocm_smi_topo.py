"""What `rocm-smi --showtopo` prints: tables of weights, hops and link types between GPUs, and their NUMA nodes.

The JSON of `--showtopo --json` says the same, a sentence a pair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from workbench.errors import InputError
from workbench.machine.topologies.amd_links import Pair, Table, amd_topology, lines_of, pairs_of, tables, whole
from workbench.machine.topologies.topology import Topology

FORMAT = "rocm_smi_topo"
SAYS = "the output of rocm-smi --showtopo"
_TITLE = re.compile(r"=+ ([A-Za-z ]{1,40} between two GPUs) =+$")
_GPU = re.compile(r"GPU\d{1,4}", re.ASCII)
_NUMA = re.compile(r"GPU ?\[?(\d{1,4})\]?\s*: \(Topology\) Numa Node: (-?\d{1,4})$", re.ASCII)
_SENTENCE = re.compile(
    r"\(Topology\) (Weight|Hops|Link type) between DRM devices (\d{1,4}) and (\d{1,4})", re.ASCII | re.I
)
_CARD = re.compile(r"card(\d{1,4})", re.ASCII)
_WEIGHT, _HOPS, _KIND = "weight between two gpus", "hops between two gpus", "link type between two gpus"


def recognises(text: bytes) -> bool:
    """Return whether a text is one of these."""
    return b"between two GPUs =" in text or (text.lstrip()[:1] == b"{" and b"between DRM devices" in text)


def read(text: bytes, where: str) -> Topology:
    """Return the topology of an output.

    Raises
    ------
    InputError
        It has no link types, or is cut off or contradicts itself.
    """
    gpus, reply, numa = _of_json(text, where) if text.lstrip()[:1] == b"{" else _of_text(text, where)
    return amd_topology(FORMAT, gpus, pairs_of(gpus, reply, where), numa)


def _of_text(text: bytes, where: str) -> tuple[list[int], dict[tuple[int, int], Pair], dict[int, int]]:
    lines, found, names = lines_of(text), dict[str, Table](), list[str]()
    for title, columns, cells in tables(lines, _TITLE, _GPU, where):
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


def _of_json(text: bytes, where: str) -> tuple[list[int], dict[tuple[int, int], Pair], dict[int, int]]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{where}: is no whole JSON ({problem}).") from None
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


def _numa(document: Mapping[str, Any]) -> dict[int, int]:
    """Return the NUMA node of each card."""
    cards = ((_CARD.fullmatch(name), _mapping(told)) for name, told in document.items())
    nodes = ((match, whole(str(told.get("(Topology) Numa Node", "")))) for match, told in cards if match)
    return {int(match[1]): node for match, node in nodes if node is not None}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
