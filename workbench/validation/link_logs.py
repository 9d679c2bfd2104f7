"""Bandwidths of single links from published logs, compared with the widths that the links of boards have.

A row is one kind of link on one card: what was measured over so many links, one way or both ways at once. Of each kind
one figure may be fitted (`part` fitted), the rest is judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.machine import Board, Card, Link
from workbench.machine.link_widths import WIDTHS
from workbench.validation.data_set import MOST_GBPS, Curve, DataSet, Result, Source, percent_error
from workbench.validation.links import both_over_one

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("type", "card", "pair", "ways", "links", "gbps", "part", "source")
"""`type` is a name of `WIDTHS`; `pair` tells measurements of one pair of cards apart from others."""
_ON_PAPER, _FITTED, _TWICE = "paper widths", "measured widths, one figure a type", "both ways carry twice one way"
BAR = "within 5 % on average, and no worse than one share of the paper width for all types"
_BAR_PERCENT = 5.0


def extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return the rows of tables of measured links.

    Raises
    ------
    InputError
        A table has other columns, an unknown type, or figures that are none.
    """
    import pandas as pd

    tables = [_table(path) for path in files]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*COLUMNS])


def _table(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        table = pd.read_csv(path, comment="#", dtype={name: str for name in COLUMNS if name not in ("links", "gbps")})
    except (ValueError, UnicodeDecodeError) as problem:
        in_one_line = " ".join(str(problem).split())
        raise InputError(f"{path}: is no table of comma-separated values ({in_one_line}).") from None
    if tuple(table.columns) != COLUMNS:
        raise InputError(
            f"{path}: must have the columns {', '.join(COLUMNS)}. Got {', '.join(map(str, table.columns))}."
        )
    for name, known in (("type", WIDTHS), ("ways", ("one", "both")), ("part", ("fitted", "judged"))):
        for value in table[name]:
            if value not in known:
                raise unknown_name(str(path), name, value, known)
    numbers = table[["links", "gbps"]].apply(pd.to_numeric, errors="coerce")
    if not ((numbers > 0) & (numbers < MOST_GBPS)).all(axis=None):
        raise InputError(f"{path}: links and gbps must be numbers above 0 and below {MOST_GBPS:,.0f}.")
    return table


def fit(facts: pd.DataFrame) -> Mapping[str, Mapping[str, Any]]:
    """Return one width a type of links, from the rows that may be fitted."""
    widths = {f"gbps of {name}": round(gbps, 4) for name, gbps in _widths(facts).items()}
    return {_ON_PAPER: {}, _FITTED: widths, _TWICE: {}}


def _widths(facts: pd.DataFrame) -> dict[str, float]:
    rows = facts[(facts.part == "fitted") & (facts.ways == "one")]
    return {
        str(name): float((of_type.gbps / of_type.links).median()) for name, of_type in rows.groupby("type", sort=False)
    }


def judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    """Return the laws: paper widths on every row one way; fitted widths on the others; twice one way on both ways."""
    one, both = facts[facts.ways == "one"], facts[facts.ways == "both"]
    rest, widths = one[one.part == "judged"], levers.get(_FITTED, {})
    rest = rest[np.array([f"gbps of {name}" in widths for name in rest.type], bool)]
    alone = one.drop_duplicates(["type", "card", "pair"]).set_index(["type", "card", "pair"]).gbps
    both = both[np.array([key in alone.index for key in zip(both.type, both.card, both.pair, strict=True)], bool)]
    known = np.array([alone[key] for key in zip(both.type, both.card, both.pair, strict=True)], np.float64)
    share = _share(facts)
    paper_of_both = np.array([WIDTHS[name].paper_gbps for name in both.type]) * both.links.to_numpy(np.float64)
    return [
        _result(_ON_PAPER, {}, one, [WIDTHS[name].paper_gbps for name in one.type], share),
        _result(_FITTED, widths, rest, [widths[f"gbps of {name}"] for name in rest.type], share),
        _made(_TWICE, {}, both, _both_ways(known), 2 * share * paper_of_both),
    ]


def _share(facts: pd.DataFrame) -> float:
    """Return the mean share of the paper width of the fitted rows."""
    return float(np.mean([gbps / WIDTHS[name].paper_gbps for name, gbps in _widths(facts).items()] or [np.nan]))


def _both_ways(known: np.ndarray) -> np.ndarray:
    """Return the predicted bandwidth both ways at once of links that carry this one way, by default."""
    cards = (Card(id="a"), Card(id="b"))
    boards = [Board(cards=cards, links=(Link(between="a b", gbps=gbps),)) for gbps in known.tolist()]
    return np.array(
        [gbps * both_over_one(board, "bottleneck", 2)[0, 1] for board, gbps in zip(boards, known, strict=True)]
    )


def _result(law: str, fitted: Mapping[str, Any], rows: pd.DataFrame, widths: Sequence[float], share: float) -> Result:
    paper = np.array([WIDTHS[name].paper_gbps for name in rows.type]) * rows.links.to_numpy(np.float64)
    return _made(law, fitted, rows, _one_way(rows, widths), share * paper)


def _one_way(rows: pd.DataFrame, widths: Sequence[float]) -> np.ndarray:
    """Return the bandwidth one way of a board of two cards with these links."""
    cards = (Card(id="a"), Card(id="b"))
    links = [Link(between="a b", gbps=gbps, count=int(count)) for gbps, count in zip(widths, rows.links, strict=True)]
    return np.array([Board(cards=cards, links=(link,)).paths().gbps[0, 1] for link in links])


def _made(law: str, fitted: Mapping[str, Any], rows: pd.DataFrame, predicted: np.ndarray, rival: np.ndarray) -> Result:
    measured, points = rows.gbps.to_numpy(np.float64), len(rows)
    error, rival_error = (percent_error(measured, it) if points else float("nan") for it in (predicted, rival))
    met = error <= _BAR_PERCENT and error <= rival_error
    curve = Curve(
        law,
        "card and pair",
        "bandwidth, GB/s",
        np.arange(points, dtype=np.float64),
        measured,
        predicted,
        rival,
        np.ones(points, bool),
        joined=False,
        names=(rows.card + ", " + rows.pair).tolist(),
    )
    return Result(
        law=law,
        fitted=fitted,
        points=points,
        error=error,
        unit="%",
        r2=float("nan"),
        rival="one share of the paper width for all types",
        rival_error=rival_error,
        verdict="not tested" if not points else "confirmed" if met else "refuted",
        bar=BAR,
        curves=(curve,) if points else (),
        note="" if points else "No row is left to be judged.",
    )


SETS = (
    DataSet(
        name="link_logs",
        engine="pool",
        card="A100, H100, MI300X and A100 PCIe",
        measures="bandwidth of one pair of cards, one way and both ways at once",
        sources=[
            Source("NVIDIA/nccl", "issues 841 and 1264", "p2pBandwidthLatencyTest in the threads", "none"),
            Source("NVIDIA/nccl-tests", "issues 100 and 331", "figures in the threads", "none"),
        ],
        files=("*link_logs*.csv",),
        extract=extract,
        fit=fit,
        judge=judge,
    ),
)
