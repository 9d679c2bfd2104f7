"""What CUDA's sample p2pBandwidthLatencyTest prints: matrices of measured bandwidths, one row a card.

A link between two cards carries what was measured with peer access on: in one direction where that matrix is there,
else half of what was measured in both. It is taken for NVLink where peer access is half as fast again as the way
through the host, else for PCI. The two triangles of a matrix measure the same links; their mean is taken. Links that
differ by no more than measurements do are of one kind, and have the mean of all of these: else the widest path between
two cards would lead over a third one that was measured a little better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.machine.topologies.topology import Node, Topology, Wire

FORMAT = "p2p_bandwidth_latency_text"
SAYS = "the output of p2pBandwidthLatencyTest"
_TITLE = re.compile(r"^\s*(.*\bMatrix\b.*?)\s*$")
_HEADER = re.compile(r"^\s*(?:D\\D|GPU|CPU)\s+\d")
_ONE_WAY, _BOTH_WAYS = "Unidirectional P2P=", "Bidirectional P2P="
_MOST_ASYMMETRY = 0.1
"""Two measurements of one link differ by a percent; a tenth is a damaged matrix, or no matrix of one machine."""
_MOST_NOISE = 0.05
_GAIN_OF_NVLINK = 1.5


class _Matrix(NamedTuple):
    title: str
    values: np.ndarray
    """float64[cards, cards]; the diagonal is the card's own memory."""


def recognises(text: bytes) -> bool:
    """Return whether a text is one of these."""
    lines = text.decode(errors="replace").splitlines()
    return any(_HEADER.match(line) for line in lines) and any(_TITLE.match(line) for line in lines)


def read(text: bytes, where: str) -> Topology:
    """Read the topology of an output.

    Raises
    ------
    InputError
        A matrix is not square or not symmetric, or a bandwidth is zero, or there is no matrix of bandwidths.
    """
    matrices = list(_matrices(text, where))
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
    reachable = _reachable(matrices, size)
    fast = best >= _GAIN_OF_NVLINK * (np.inf if staged is None else staged)
    return Topology(
        format=FORMAT,
        nodes=tuple(Node(f"gpu{k}", "gpu") for k in range(size)),
        wires=tuple(
            Wire((f"gpu{one}", f"gpu{other}"), "nvlink" if fast[one, other] else "pcie", float(best[one, other]))
            for one, other in combinations(range(size), 2)
        ),
        links=sum(bool(reachable[pair]) for pair in combinations(range(size), 2)),
        noted={"matrices": {it.title: _facts(it.values) for it in matrices}},
    )


def _matrices(text: bytes, where: str) -> Iterator[_Matrix]:
    lines = text.decode(errors="replace").splitlines()
    title = ""
    for k, line in enumerate(lines):
        named = _TITLE.match(line)
        title = _printable(named[1]) if named else title
        if _HEADER.match(line) and title:
            yield _Matrix(title, _rows(lines, k, title, where))


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


def _check(matrix: _Matrix, where: str) -> None:
    """Refuse bandwidths of zero, and pairs that were measured too differently to be the same links."""
    bandwidths = "GB/s" in matrix.title
    for one, other in combinations(range(len(matrix.values)), 2):
        there, back = (float(matrix.values[pair]) for pair in ((one, other), (other, one)))
        if bandwidths and not (there and back):
            raise InputError(f"{where}: {matrix.title}: the bandwidth between {one} and {other} must be above 0.")
        if "(us)" not in matrix.title and abs(there - back) > _MOST_ASYMMETRY * max(there, back):
            measured = f"{one} to {other} is {there:g}, {other} to {one} is {back:g}"
            raise InputError(f"{where}: {matrix.title}: is not symmetric: {measured}.")


def _one_way(matrices: list[_Matrix], which: str) -> np.ndarray | None:
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


def _reachable(matrices: list[_Matrix], size: int) -> np.ndarray:
    match = next((it.values for it in matrices if "Connectivity" in it.title), np.ones((size, size)))
    return match > 0


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
