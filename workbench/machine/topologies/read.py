"""How does a topology file become a topology? By its contents, whatever it is called."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.errors import InputError
from workbench.machine.topologies import amd_smi_topo, nccl_xml, nvidia_smi_topo, p2p_matrices, rocm_smi_topo
from workbench.machine.topologies.topology import Topology, check_connected
from workbench.text_encoding import as_utf8

MOST_BYTES = 1 << 22
"""The largest files of the formats, of machines with 72 cards, have a few hundred kilobytes."""
_FORMATS = (nccl_xml, p2p_matrices, rocm_smi_topo, amd_smi_topo, nvidia_smi_topo)


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
    Wire(ends=('gpu0', 'gpu1'), kind='nvlink', gbps=20.0, links=2, channel='')
    """
    where, text = str(path), _text(path)
    for it in _FORMATS:
        if it.recognises(text):
            return check_connected(it.read(text, where), where)
    known = "; ".join(f"{it.FORMAT} ({it.SAYS})" for it in _FORMATS)
    raise InputError(f"{where}: is no topology that is read here; there are {known}.")


def _text(path: Path | str) -> bytes:
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder; name one topology file in it.")
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file.") from None
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read ({getattr(problem, 'strerror', None) or problem}).") from None
    if len(text) > MOST_BYTES:
        raise InputError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no topology is.")
    return b"".join(as_utf8([text]))
