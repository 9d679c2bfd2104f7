"""What `amd-smi topology` prints: tables of links between GPUs, which are named by their PCI addresses, or JSON.

JSON has two forms: until ROCm 6.2 a mapping a table (`link_type: {gpu_1: XGMI}`), then a list of links. A bandwidth is
that of one link and of all links of the pair, in MB/s: `50000-100000` is two links of 50 GB/s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import InputError
from workbench.machine.topologies.amd_links import Pair, Table, amd_topology, lines_of, pairs_of, tables, whole
from workbench.machine.topologies.topology import Topology

FORMAT = "amd_smi_topology"
SAYS = "the output of amd-smi topology"
_TITLE = re.compile(r"\s*([A-Z][A-Z -]* TABLE):?$")
_BUS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|GPU\d{1,4}", re.ASCII | re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_KEY = re.compile(r"gpu_(\d{1,4})", re.ASCII)
_TABLES = (b"LINK TYPE TABLE", b"ACCESS TABLE", b"WEIGHT TABLE", b"HOPS TABLE", b"NUMA BW TABLE")
_OLD = {"kind": "link_type", "hops": "hops", "weight": "weight", "bandwidth": "numa_bandwidth"}
_NEW = {"kind": "link_type", "hops": "num_hops", "weight": "weight", "bandwidth": "bandwidth"}
Told = dict[tuple[int, int], Pair]


def recognises(text: bytes) -> bool:
    """Return whether a text is one of these."""
    if any(title in text for title in _TABLES):
        return True
    if text.lstrip()[:1] not in (b"[", b"{") or b'"traceEvents"' in text:
        return False
    return b'"gpu"' in text and b'"link_type"' in text


def read(text: bytes, where: str) -> Topology:
    """Return the topology of an output.

    Raises
    ------
    InputError
        It has no link types, or is cut off or contradicts itself.
    """
    gpus, reply = _of_json(text, where) if text.lstrip()[:1] in (b"[", b"{") else _of_text(text, where)
    return amd_topology(FORMAT, gpus, pairs_of(gpus, reply, where), {})


def _of_text(text: bytes, where: str) -> tuple[list[int], Told]:
    found, names = dict[str, Table](), list[str]()
    for title, columns, cells in tables(lines_of(text), _TITLE, _BUS, where):
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


def _of_json(text: bytes, where: str) -> tuple[list[int], Told]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{where}: is no whole JSON ({problem}).") from None
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
