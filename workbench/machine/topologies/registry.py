"""The topology of a file, known by its contents, and the boards that a sweep describes by a file or by a rule.

A sweep says `machine: {topology: FILE, ...}` of a board whose links a file describes, and `machine: {arrangement: ring,
gpus: 8, ...}` of one whose links follow a rule.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workbench.errors import InputError, at, no_file, unknown_name, wrong_value
from workbench.files import as_utf8
from workbench.levers import Spec, lever
from workbench.machine.link_widths import WIDTHS_LEVER
from workbench.machine.topologies.amd import is_amd_smi, is_rocm_smi, read_amd_smi, read_rocm_smi
from workbench.machine.topologies.nccl import is_nccl, read_nccl
from workbench.machine.topologies.nvidia import is_nvidia_smi, is_p2p, read_nvidia_smi, read_p2p
from workbench.machine.topologies.pci import (
    Node,
    Topology,
    Wire,
    card_named,
    card_names,
    check_connected,
)
from workbench.machine.topologies.regular import RegularBoard

MOST_BYTES = 1 << 22
"""The largest files of the formats, of machines with 72 cards, have a few hundred kilobytes."""


class _Format(NamedTuple):
    """A format of topology files, and its reader."""

    name: str
    description: str
    """What writes such files."""
    recognises: Callable[[bytes], bool]
    read: Callable[[bytes, str], Topology]


_FORMATS = (
    _Format("nccl_topology_xml", "an XML topology of NCCL or RCCL", is_nccl, read_nccl),
    _Format("p2p_bandwidth_latency_text", "the output of p2pBandwidthLatencyTest", is_p2p, read_p2p),
    _Format("rocm_smi_topo", "the output of rocm-smi --showtopo", is_rocm_smi, read_rocm_smi),
    _Format("amd_smi_topology", "the output of amd-smi topology", is_amd_smi, read_amd_smi),
    _Format("nvidia_smi_topo", "the table of nvidia-smi topo -m", is_nvidia_smi, read_nvidia_smi),
)


def is_topology(path: Path | str) -> bool:
    """Return whether a file is a topology of a format that is read here; False for what is no file."""
    try:
        text = _text(path)
    except InputError:
        return False
    return any(it.recognises(text) for it in _FORMATS)


def read_topology(path: Path | str) -> Topology:
    """Read the topology in a file: NCCL's or RCCL's XML, `nvidia-smi topo -m`, `rocm-smi --showtopo`, `amd-smi
    topology`, or p2pBandwidthLatencyTest's matrices.

    Raises
    ------
    InputError
        There is no such file, it is of no format that is read here, or it contradicts itself: one sentence that names
        the file and what is wrong.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> table = "\\tGPU0\\tGPU1\\nGPU0\\t X \\tNV2\\nGPU1\\tNV2\\t X \\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "topo.txt"
    ...     _ = path.write_text(table)
    ...     read_topology(path).wires[0]
    Wire(ends=('gpu0', 'gpu1'), kind='nvlink', gbps=20.0, links=2, channel='', type='assumed')
    """
    where, text = str(path), _text(path)
    for it in _FORMATS:
        if it.recognises(text):
            return check_connected(it.read(text, where), where)._replace(format=it.name)
    known = "; ".join(f"{it.name} ({it.description})" for it in _FORMATS)
    raise InputError(f"{where}: is no topology that is read here; there are {known}.")


def _text(path: Path | str) -> bytes:
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder; name one topology file in it.")
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise no_file(path) from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read ({getattr(problem, 'strerror', None) or problem}).") from None
    if len(text) > MOST_BYTES:
        raise InputError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no topology is.")
    return b"".join(as_utf8([text]))


GIB = 1 << 30


class TopologyFile(Spec):
    """A board from a topology file; what a file cannot tell, above all how much memory a card has, is a lever.

    References
    ----------
    `workbench.machine.link_widths`: 25 GB/s on paper is 22.75 measured of an A100, 20.6 of an H100; field.md 2.4: NCCL
    plans with 20 of a link of no known generation.
    """

    topology: str = lever(
        description="an NCCL or RCCL XML, `nvidia-smi topo -m`, `rocm-smi --showtopo`, `amd-smi topology`, p2p matrices"
    )
    card_bytes: int = lever(16 * GIB, least=1, most=1 << 50, unit="bytes", description="memory of every GPU")
    cpu_bytes: int = lever(64 * GIB, least=0, most=1 << 50, unit="bytes", description="memory that every CPU lends")
    link_gbps: float = lever(
        0.0, least=0, most=1e6, unit="GB/s", description="an NVLink or xGMI link per direction; 0 = as the file is read"
    )
    pcie_gbps: float = lever(
        0.0, least=0, most=1e6, unit="GB/s", description="a PCI connection per direction; 0 = as the file is read"
    )
    socket_gbps: float = lever(
        0.0, least=0, most=1e6, unit="GB/s", description="between two CPUs per direction; 0 = as the file is read"
    )
    card: str = lever(
        "",
        description="the GPUs by name (h100, mi300x, ...), whose generation says what links between GPUs and PCI carry "
        "where the file does not; empty = as the file is read",
    )
    widths: Literal["measured", "paper"] = lever(
        "measured",
        description=WIDTHS_LEVER.description,
    )
    port_gbps: float = lever(
        0.0,
        least=0,
        most=1e6,
        unit="GB/s",
        description="what all links of a GPU carry together per direction; 0 = as the file is read",
    )

    def board(self) -> dict[str, Any]:
        """Return the levers of the board."""
        read = self._of_card(read_topology(self.topology)).at(self.widths)
        return {"cards": [self._card(node) for node in read.nodes], "links": [self._link(w) for w in read.wires]}

    def _of_card(self, found: Topology) -> Topology:
        """Return the topology with the links of the named card."""
        if not self.card:
            return found
        named = card_named(self.card)
        if named is None:
            raise unknown_name("", "card", self.card, card_names())
        if not any(wire.type in ("assumed", "assumed_pcie", "printed") for wire in found.wires):
            expected = "must be left out, as the file tells how fast its links are"
            raise wrong_value("", "card", expected, self.card)
        return found.of_card(named)

    def _card(self, node: Node) -> dict[str, Any]:
        memory, port = (
            (self.card_bytes, self.port_gbps or node.port_gbps) if node.kind == "gpu" else (self.cpu_bytes, 0)
        )
        return {"id": node.id, "kind": node.kind, "memory_bytes": memory, "port_gbps": port}

    def _link(self, wire: Wire) -> dict[str, Any]:
        replaced = {"nvlink": self.link_gbps, "xgmi": self.link_gbps, "pcie": self.pcie_gbps, "qpi": self.socket_gbps}
        config = {"between": " ".join(wire.ends), "kind": wire.kind, "count": wire.links, "channel": wire.channel}
        duplex = wire.duplex if self.widths == "measured" and not replaced[wire.kind] else 2.0
        return {**config, "gbps": replaced[wire.kind] or wire.gbps, "duplex": duplex}


def levers_of_topology(given: object, path: str, where: str) -> object:
    """Return the given settings with the topology file or the arrangement that they name written out as cards and
    links; else as they are.

    Raises
    ------
    InputError
        The file cannot be used, or it comes with a key that `TopologyFile` or `RegularBoard` does not have.
    """
    if not isinstance(given, Mapping):
        return given
    if "arrangement" in given:
        return RegularBoard.read(given, path, where).board()
    if "topology" not in given:
        return given
    message = TopologyFile.read(given, path, where)
    try:
        return message.board()
    except InputError as wrong:
        raise InputError(at(where, f"{path}.topology: {wrong}")) from None
