"""Peer bandwidth of every two cards of a machine, compared with the path metrics of the pool.

A machine is a file of matrices as p2pBandwidthLatencyTest prints them. A topology file in the same folder
(`nvidia-smi topo -m`, NCCL's XML) tells which cards are linked, and how often. Without one the matrix of peer access
and the row of GPU 0 tell it. Nothing is read off the other rows. The width of a link is fitted on the row of GPU 0, on
the pairs that are nearest to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.machine import Board, Card, Link
from workbench.machine.link_widths import TYPES_OF_CARD, WIDTHS
from workbench.machine.topologies import Topology, is_topology, read_topology
from workbench.machine.topologies.nvidia import is_p2p, p2p_matrices
from workbench.machine.topologies.pci import generation_named
from workbench.structures.flow_sharing import Flows, finishing_times
from workbench.validation.data_set import MOST_GBPS, Curve, DataSet, Result, Source, percent_error, r_squared

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("machine", "card", "ways", "source", "target", "near", "links", "gbps")
_WAYS = {"one": "Unidirectional P2P=Enabled", "both": "Bidirectional P2P=Enabled"}
_LINKED, _SWITCH, _HOST, _SOCKET, _FAR = "link", "switch", "host", "socket", "far"
"""How near two cards are: a link of their own, one PCI switch, one CPU, another CPU; far where others must pass on."""
_HOPS = {_LINKED: 1, _SWITCH: 1, _HOST: 2, _SOCKET: 3}
_LINKS_OF = {"nvlink1": 4, "nvlink2": 6, "nvlink3": 12, "nvlink4": 18, "nvlink5": 18}
_ALIKE = 1.25
"""Pairs of GPU 0 that differ by less are joined alike."""


def extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return one row for every ordered pair and each kind of matrix: its bandwidth, and what joins the pair.

    Raises
    ------
    InputError
        A matrix is broken, has less than two cards, or a topology next to it is of another number of cards.
    """
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for path in files:
        text = path.read_bytes()
        if is_p2p(text):
            rows += _rows(path, text)
    return pd.DataFrame(rows, columns=[*COLUMNS])


def _rows(path: Path, text: bytes) -> Iterator[tuple[Any, ...]]:
    matrices = {matrix.title: matrix.values for matrix in p2p_matrices(text, str(path))}
    by_ways = {ways: _titled(matrices, title) for ways, title in _WAYS.items()}
    one = by_ways["one"]
    if one is None or len(one) < 2:
        raise InputError(f"{path}: must hold a matrix `{_WAYS['one']} ... (GB/s)` of two cards or more.")
    if any(values.shape != one.shape for values in matrices.values()):
        raise InputError(f"{path}: its matrices must be of the same cards.")
    for ways, values in by_ways.items():
        if values is not None and not ((values > 0) & (values < MOST_GBPS)).all():
            raise InputError(f"{path}: {_WAYS[ways]}: every bandwidth must be above 0 and below {MOST_GBPS:,.0f} GB/s.")
    named = generation_named(text.decode(errors="replace"))
    joins = _joins(path, matrices, one, named[0] if named else "")
    for ways, values in by_ways.items():
        if values is None:
            continue
        for (source, target), (near, links) in joins.items():
            gbps = float(values[source, target])
            yield path.stem, named[0] if named else "", ways, source, target, near, links, gbps


def _titled(matrices: Mapping[str, np.ndarray], start: str) -> np.ndarray | None:
    return next((values for title, values in matrices.items() if title.startswith(start) and "GB/s" in title), None)


_Joins = dict[tuple[int, int], tuple[str, int]]
"""What joins every ordered pair: how near, and how many links."""


def _joins(path: Path, matrices: Mapping[str, np.ndarray], one: np.ndarray, card: str) -> _Joins:
    beside = next((it for it in sorted(path.parent.iterdir()) if it != path and _is_plain_topology(it)), None)
    if beside is not None:
        return _of_topology(read_topology(beside), len(one), str(beside))
    access = next((values > 0 for title, values in matrices.items() if "Connectivity" in title), None)
    apart = ~np.eye(len(one), dtype=bool)
    if access is not None and access[apart].any() and not access[apart].all():
        return _of_access(access, card)
    return _all_alike(one, card, access is None or bool(access[apart].any()))


def _is_plain_topology(path: Path) -> bool:
    """Return whether a file tells links, and is no output with matrices itself."""
    return path.is_file() and is_topology(path) and not is_p2p(path.read_bytes())


def _of_topology(topology: Topology, count: int, where: str) -> _Joins:
    gpus = [node.id for node in topology.nodes if node.kind == "gpu"]
    if len(gpus) != count:
        raise InputError(f"{where}: has {len(gpus)} GPUs where the matrix next to it has {count}.")
    wires = Counter[tuple[str, frozenset[str]]]()
    for wire in topology.wires:
        wires[wire.kind, frozenset(wire.ends)] += wire.links
    cpu = {
        end: other for wire in topology.wires for end, other in (wire.ends, wire.ends[::-1]) if other.startswith("cpu")
    }

    def join(one: str, other: str) -> tuple[str, int]:
        pair = frozenset((one, other))
        links = wires.get(("nvlink", pair), 0) + wires.get(("xgmi", pair), 0)
        if links:
            return _LINKED, links
        if ("pcie", pair) in wires:
            return _SWITCH, 1
        return (_HOST if cpu.get(one) == cpu.get(other) else _SOCKET), 0

    return {(i, j): join(gpus[i], gpus[j]) for i in range(count) for j in range(count) if i != j}


def _of_access(access: np.ndarray, card: str) -> _Joins:
    """Return links where there is peer access; those of V100 that stand as in a DGX-1V have its numbers of links."""
    pairs = [(i, j) for i in range(len(access)) for j in range(len(access)) if i != j]
    known = Board.read("dgx_1v")
    gpus = [k for k, node in enumerate(known.cards) if node.kind == "gpu"]
    direct = known.direct_gbps()[np.ix_(gpus, gpus)]
    counts = access.astype(int)
    if card == "V100" and access.shape == direct.shape and all((direct[p] > 0) == access[p] for p in pairs):
        counts = (direct / direct[direct > 0].min()).astype(int)
    return {pair: (_LINKED, int(counts[pair])) if access[pair] else (_FAR, 0) for pair in pairs}


def _all_alike(one: np.ndarray, card: str, peers: bool) -> _Joins:
    """Return the same links for every pair where GPU 0 reaches all others over links, else one CPU for all."""
    pairs = [(i, j) for i in range(len(one)) for j in range(len(one)) if i != j]
    links = _links_of_row(one[0, 1:], card) if peers and one[0, 1:].max() <= _ALIKE * one[0, 1:].min() else 0
    return dict.fromkeys(pairs, (_LINKED, links) if links else (_HOST, 0))


def _links_of_row(row: np.ndarray, card: str) -> int:
    """Return the number of links of the pairs of GPU 0: all of its card, or an equal share; 0 where they are slower."""
    if not card:
        return 1
    name = TYPES_OF_CARD[card][0]
    paper, most = WIDTHS[name].paper_gbps, _LINKS_OF.get(name, 1)
    measured = float(np.median(row))
    likely = sorted({most, max(most // len(row), 1)}, key=lambda count: abs(np.log(count * paper / measured)))
    return likely[0] if measured > paper * likely[0] / 2 else 0


METRICS = ("bottleneck", "hop_penalised")
_ON_PAPER, _FITTED = "paper widths", "link fitted"
_TWICE, _DUPLEX = "both ways carry twice one way", "both ways carry duplex times one way"
BAR = "within 5 % a pair on average, and no worse than one figure for all pairs"
_BAR_PERCENT = 5.0
_FLOWS = "The metric chooses cards and paths; simulated data flow as fast as the narrowest link of a path."
_NOTHING = "No pair can be judged: the card or the matrix that the law needs is not in the file."


class _Widths(NamedTuple):
    """What one link carries, and one PCI connection, in GB/s; 0 = not known."""

    link: float
    pci: float


def _board(facts: pd.DataFrame, widths: _Widths, duplex: float = 2.0) -> Board:
    """Return the board of a machine: its links where they join all cards, else PCI and CPUs too."""
    pairs = facts.drop_duplicates(["source", "target"])
    count = int(pairs.source.max()) + 1
    columns = (pairs[name].tolist() for name in ("source", "target", "near", "links"))
    near = {(i, j): (how, links) for i, j, how, links in zip(*columns, strict=True) if i < j}
    cards = [Card(id=f"gpu{k}") for k in range(count)]
    direct = [
        Link(between=f"gpu{i} gpu{j}", gbps=widths.link, count=links, kind="nvlink", duplex=duplex)
        for (i, j), (how, links) in near.items()
        if how == _LINKED
    ]
    if _joined_by_links(facts):
        return Board(cards=tuple(cards), links=tuple(direct))
    home = _homes(count, [pair for pair, (how, _) in near.items() if how in (_SWITCH, _HOST)])
    hosts = [Card(id=f"cpu{k}", kind="cpu") for k in range(max(home) + 1)]
    ends = [f"gpu{i} gpu{j}" for (i, j), (how, _) in near.items() if how == _SWITCH]
    ends += [f"cpu{home[k]} gpu{k}" for k in range(count)]
    ends += [f"{one.id} {other.id}" for one, other in combinations(hosts, 2)]
    pci = [Link(between=it, gbps=widths.pci, kind="pcie", duplex=duplex) for it in ends]
    return Board(cards=(*cards, *hosts), links=(*direct, *pci))


def _joined_by_links(facts: pd.DataFrame) -> bool:
    linked = facts[facts.near == _LINKED]
    pairs = list(zip(linked.source.tolist(), linked.target.tolist(), strict=True))
    return max(_homes(int(facts.source.max()) + 1, pairs)) == 0


def _homes(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the group of each card, of which pairs join some."""
    group = [*range(count)]
    for one, other in pairs:
        joined = (group[one], group[other])
        group = [min(joined) if it in joined else it for it in group]
    names = sorted(set(group))
    return [names.index(it) for it in group]


def _machines(facts: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, of_machine in facts.groupby("machine", sort=False):
        yield str(name), of_machine


def _of_row(facts: pd.DataFrame, ways: str) -> pd.DataFrame:
    return facts[(facts.ways == ways) & (facts.source == 0)]


def _fitted_widths(facts: pd.DataFrame, factor: float) -> _Widths:
    """Return the widths that give the nearest pairs of GPU 0's row what was measured, at the median."""
    row = _of_row(facts, "one")
    link = row[row.near == _LINKED]
    of_pci = [] if _joined_by_links(facts) else [_SWITCH, _HOST, _SOCKET]
    pci = row[row.near.isin(of_pci)]
    hops = pci.near.map(_HOPS)
    nearest = pci[hops == hops.min()]
    return _Widths(
        float((link.gbps / link.links).median()) if len(link) else 0.0,
        float(nearest.gbps.median()) / factor ** (int(hops.min()) - 1) if len(nearest) else 0.0,
    )


def _paper_widths(facts: pd.DataFrame) -> _Widths | None:
    card = str(facts.card.iloc[0])
    if card not in TYPES_OF_CARD:
        return None
    return _Widths(*(WIDTHS[name].paper_gbps for name in TYPES_OF_CARD[card]))


def fit(facts: pd.DataFrame) -> Mapping[str, Mapping[str, Any]]:
    """Return the widths of one link, and the duplex, from the row of GPU 0 alone."""
    levers: dict[str, dict[str, Any]] = {law: {} for law in _laws()}
    several = facts.machine.nunique() > 1
    for name, of_machine in _machines(facts):

        def note(law: str, lever: str, value: float, name: str = name) -> None:
            levers[law][f"{lever} of {name}" if several else lever] = round(value, 4)

        for metric in METRICS:
            widths = _fitted_widths(of_machine, 0.5 if metric == "hop_penalised" else 1.0)
            for lever, value in (("link_gbps", widths.link), ("pcie_gbps", widths.pci)):
                for law in _laws():
                    if value and (law == f"{metric}, {_FITTED}" or (metric == "hop_penalised" and law in _BOTH)):
                        note(law, lever, value)
        row = _of_row(of_machine, "both").set_index("target").gbps
        alone = _of_row(of_machine, "one").set_index("target")
        nearest = alone.near.map(_HOPS) == alone.near.map(_HOPS).min()
        if len(row):
            note(_DUPLEX, "duplex", min(max(float((row / alone.gbps)[nearest].median()), 1.0), 2.0))
    return levers


_BOTH = (_TWICE, _DUPLEX)


def _laws() -> list[str]:
    return [*(f"{metric}, {widths}" for metric in METRICS for widths in (_ON_PAPER, _FITTED)), *_BOTH]


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return one result a law: the pairs of all rows but GPU 0's."""
    return [_result(law, facts, levers.get(law, {})) for law in _laws()]


def _result(law: str, facts: pd.DataFrame, fitted: Mapping[str, Any]) -> Result:
    ways = "both" if law in _BOTH else "one"
    curves = []
    for name, of_machine in _machines(facts):
        pairs = of_machine[of_machine.ways == ways]
        predicted = _told(law, of_machine, fitted, name) if len(pairs) else None
        if predicted is not None:
            source, target = (pairs[column].to_numpy(int) for column in ("source", "target"))
            one_figure = float(pairs.gbps[source == 0].mean())
            curves.append(
                Curve(
                    f"{name}, {'one way' if ways == 'one' else 'both ways at once'}",
                    "ordered pair of cards",
                    "bandwidth, GB/s",
                    np.arange(len(pairs), dtype=np.float64),
                    pairs.gbps.to_numpy(np.float64),
                    predicted[source, target],
                    np.full(len(pairs), one_figure),
                    source != 0,
                    joined=False,
                )
            )
    measured, predicted, rival = (
        np.concatenate([getattr(curve, part)[curve.judged] for curve in curves]) if curves else np.zeros(0)
        for part in ("measured", "predicted", "rival")
    )
    error, rival_error = (percent_error(measured, it) if len(measured) else float("nan") for it in (predicted, rival))
    met = error <= _BAR_PERCENT and error <= rival_error
    return Result(
        law=law,
        fitted=fitted,
        points=len(measured),
        error=error,
        unit="%",
        r2=r_squared(measured, predicted) if len(measured) else float("nan"),
        rival="one figure for all pairs, the mean of GPU 0's row",
        rival_error=rival_error,
        verdict="not tested" if not len(measured) else "confirmed" if met else "refuted",
        bar=BAR,
        curves=tuple(curves),
        note=_FLOWS if curves else _NOTHING,
    )


def _told(law: str, facts: pd.DataFrame, fitted: Mapping[str, Any], name: str) -> np.ndarray | None:
    """Return the engine's bandwidth of every ordered pair: float64[cards, cards], GB/s; None where it cannot tell."""

    def lever(which: str, otherwise: float) -> float:
        return float(fitted.get(f"{which} of {name}", fitted.get(which, otherwise)))

    metric = "hop_penalised" if law in _BOTH else law.partition(",")[0]
    widths = _paper_widths(facts) if law.endswith(_ON_PAPER) else _Widths(lever("link_gbps", 0), lever("pcie_gbps", 0))
    if widths is None:
        return None
    board = _board(facts, widths, lever("duplex", 2.0))
    gpus = sum(card.kind == "gpu" for card in board.cards)
    predicted = board.paths(metric).gbps[:gpus, :gpus].copy()
    np.fill_diagonal(predicted, 0.0)
    return predicted * both_over_one(board, metric, gpus) if law in _BOTH else predicted


def both_over_one(board: Board, metric: str, gpus: int) -> np.ndarray:
    """Return the ratio of the bytes of two opposite flows together to those of one alone."""
    paths = board.paths(metric)
    network, count = board.network(paths), len(board.cards)
    ratio = np.ones((gpus, gpus))
    for one, other in combinations(range(gpus), 2):
        there, back = one * count + other, other * count + one
        times = [
            finishing_times(Flows(np.zeros(len(way)), np.ones(len(way)), np.array(way), *network)).max()
            for way in ([there], [there, back])
        ]
        ratio[one, other] = ratio[other, one] = 2 * times[0] / times[1]
    return ratio


SETS = (
    DataSet(
        name="peer_bandwidth",
        engine="pool",
        card="DGX-1 with P100",
        measures="bandwidth of every ordered pair of cards, one way and both ways at once",
        sources=[
            Source("uuudown/Tartan", "e3166abc3b1e", "microbenchmark/scale_up_p2p_test/dgx1_ascending.txt", "none"),
        ],
        files=("*.txt", "*.log", "*.out"),
        extract=extract,
        fit=fit,
        judge=judge,
    ),
)
