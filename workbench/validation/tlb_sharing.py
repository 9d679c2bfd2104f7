"""What two SMs pay for a TLB level that they share (gcoe-dresden/cuda-gpu-tlb, tlb-sharing).

A table has the latency of each SM while another SM chases pages of its own. Which SMs share is read from the table.
The entries of the level and the cost of its misses are those of the chase over the same level, which has a file of its
own. The judged figure is what sharing costs two SMs: two cores of the engine with one level, compared with one alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.errors import InputError
from workbench.validation.data_set import Curve, DataSet, Result, Source, Verdict, percent_error
from workbench.validation.tlb_chases import fit_rows, fitted_rows, level_of, read_chases
from workbench.validation.tlb_runs import Level, in_order, mean_cycles

LAW = "one level for each group"
RIVAL = "one level for all SMs"
BAR = "the mean error over the ordered pairs of a group is at most 5 %"
MOST_ERROR = 5.0
LEAST_COST = 3.0
"""Cycles that an SM must lose to itself, so that a table shows anything."""
LATENCY, CHASE = "latency", "chase"
_COLUMNS = ["table", "kind", "a", "b", "cycles"]
"""Of a latency, a and b are the SM that is timed and the other one; of a chase, stride in KiB and footprint in MiB."""
_KNOWN = {"k80_tlb_sharing": ("Tesla K80", 2048, 65)}
OTHER = "tlb_sharing_of_other_tables"
"""The data set of all other tables, which ships no facts."""


class Table(NamedTuple):
    """A file: the latencies of one card, and how the SMs chased."""

    path: Path
    card: str
    stride_kb: int
    pages: int
    """Pages of each chase."""
    cycles: np.ndarray
    """float64[SMs, SMs], of the SM of a row while the SM of a column chases."""

    @property
    def name(self) -> str:
        """Return the card and the chase in words."""
        return f"{self.card}, {self.pages} pages of {self.stride_kb} KB"


def read_table(path: Path) -> Table:
    """Return the latencies of a file; stride and pages are part of its name.

    Raises
    ------
    InputError
        The file is not of the format; the sentence names the line.
    """
    named = re.search(r"TLBsharing-(\d+)-(\d+)\.txt$", path.name)
    if named is None:
        raise InputError(f"{path}: must be called TLBsharing-STRIDE-PAGES.txt, with its stride in KB and its pages.")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or not lines[0].startswith("#") or ": cuda" not in lines[0]:
        raise InputError(f"{path}: line 1 must name the card, such as '#Tesla K80: cuda 3.7'.")
    start = next((at for at, line in enumerate(lines) if "absolute values" in line), None)
    if start is None or start + 1 >= len(lines):
        raise InputError(f"{path}: must have a line 'absolute values' and a table below it.")
    sms, rows = len(lines[start + 1].removeprefix("#").split()), list[list[int]]()
    for number, line in enumerate(lines[start + 2 : start + 2 + sms], start=start + 3):
        try:
            _, *row = (int(text) for text in line.split())
        except ValueError:
            raise InputError(f"{path}: line {number}: must be whole numbers. Got {line[:60]!r}.") from None
        if len(row) != sms:
            raise InputError(f"{path}: line {number}: must have a latency for each of {sms} SMs. Got {len(row)}.")
        rows.append(row)
    if len(rows) != sms or sms < 2:
        raise InputError(f"{path}: must have a row for each of {sms} SMs, two at least. Got {len(rows)}.")
    card = lines[0][1:].split(": cuda")[0].strip()
    return Table(path, card, int(named[1]), int(named[2]), np.array(rows, float))


def groups_of(cycles: np.ndarray) -> list[list[int]]:
    """Return the groups of SMs that share the level, each increasing; SMs that share with no other are left out.

    An SM disturbs itself, so the diagonal tells what sharing costs. Two SMs share if each loses more than half of that
    to the other, compared with the lower quartile of its row.

    >>> groups_of(np.array([[340.0, 285, 341], [286, 342, 285], [343, 284, 342]]))
    [[0, 2]]
    """
    above = cycles - np.quantile(cycles, 0.25, axis=1, keepdims=True, method="lower")
    cost = float(np.median(np.diag(above)))
    if cost <= LEAST_COST:
        return []
    disturbed = above > cost / 2
    shares = disturbed & disturbed.T
    groups: list[list[int]] = []
    for sm in range(len(cycles)):
        if not any(sm in group for group in groups):
            members = {sm}
            while more := {int(other) for one in members for other in np.flatnonzero(shares[one])} - members:
                members |= more
            groups.append(sorted(members))
    return [group for group in groups if len(group) > 1]


def _extract(name: str, files: Sequence[Path]) -> pd.DataFrame:
    chases = read_chases([path for path in files if path.suffix == ".csv"])
    tables, rows = [read_table(path) for path in files if path.suffix != ".csv"], list[tuple[Any, ...]]()
    for number, table in enumerate(tables):
        if table.name in [each.name for each in tables[:number]]:
            raise InputError(f"{table.path}: there are two tables of {table.name}. Remove one.")
        known = next(
            (each for each, what in _KNOWN.items() if what == (table.card, table.stride_kb, table.pages)), OTHER
        )
        if known != name:
            continue
        for (timed, other), cycles in np.ndenumerate(table.cycles):
            rows.append((table.name, LATENCY, timed, float(other), cycles))
        for chase in chases:
            if chase.card == table.card and chase.strides[chase.middle] == table.stride_kb:
                points = [(table.name, CHASE, *point) for point in fitted_rows(chase)]
                levers = fit_rows(_as_chase(pd.DataFrame(points, columns=_COLUMNS)))
                # two chases together must be more than the level holds, and one no more
                if levers and table.pages <= levers["entries"] < 2 * table.pages:
                    rows += points
    return pd.DataFrame(rows, columns=_COLUMNS)


def _as_chase(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.rename(columns={"a": "stride_kb", "b": "footprint_mb"})


def _latencies(rows: pd.DataFrame) -> np.ndarray:
    """Return the table of latencies of facts: float64[SMs, SMs]."""
    rows = rows[rows["kind"] == LATENCY]
    return np.asarray(rows.pivot(index="a", columns="b", values="cycles").to_numpy(float))


def _fit(name: str, facts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    fitted: dict[str, dict[str, Any]] = {}
    for table, rows in facts.groupby("table", sort=False):
        if groups := groups_of(_latencies(rows)):
            levers = fit_rows(_as_chase(rows[rows["kind"] == CHASE]))
            fitted[_law(name, str(table))] = {"groups": groups, **levers}
    return fitted


def _law(name: str, table: str) -> str:
    return f"{LAW}, {table}" if name == OTHER else LAW


def cost_of_sharing(level: Level, pages: int) -> float:
    """Return the cycles that an access of a core costs more while a second core chases as many pages of its own.

    The level is the shared TLB of two cores; the levels before are one entry, which every page misses. The first core
    chases, then the second one, then the first one again, which is timed.
    """
    machine = {
        "cores": 2,
        "page_bytes": level.page_bytes,
        "private_entries": 1,
        "private_cycles": 0,
        "shared_entries": level.entries,
        "shared_ways": level.ways,
        "shared_cycles": level.base_cycles,
        "walk_levels": 1,
        "level_cycles": level.extra_cycles,
    }
    gap, each = level.base_cycles + level.extra_cycles + 1, np.arange(pages)
    page, core = np.concatenate([each, each + pages, each]), np.repeat([0, 1, 0], pages)
    cycle = np.arange(page.size) * gap
    alone = core == 0
    two, one = (
        mean_cycles(in_order(cycle[of], core[of], page[of]), 2 * pages * gap, machine)[0]
        for of in (np.ones(page.size, bool), alone)
    )
    return float(two - one)


def _judge(name: str, facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    return [
        _result(_law(name, str(table)), str(table), rows, levers.get(_law(name, str(table)), {}))
        for table, rows in facts.groupby("table", sort=False)
    ]


def _result(law: str, table: str, rows: pd.DataFrame, levers: Mapping[str, Any]) -> Result:
    cycles, groups = _latencies(rows), levers.get("groups", [])
    pages = int(re.findall(r"(\d+) pages", table)[-1])
    pairs = [(one, other) for group in groups for one in group for other in group if one != other]
    measured = np.array([_cost(cycles, one, other, groups) for one, other in pairs])
    if "entries" in levers:
        level = level_of({lever: value for lever, value in levers.items() if lever != "groups"})
        predicted = np.full(len(pairs), cost_of_sharing(level, pages))
    else:
        predicted = np.full(len(pairs), np.nan)
    tested = bool(pairs) and "entries" in levers
    error = percent_error(measured, predicted) if tested else float("nan")
    verdict: Verdict = "not tested" if not tested else "confirmed" if error <= MOST_ERROR else "refuted"
    nothing = np.zeros(len(pairs))
    panel = ("pairs of SMs that share", "ordered pair", "cycles that sharing costs")
    every = np.ones(len(pairs), bool)
    return Result(
        law=law,
        fitted=levers,
        points=len(pairs) if tested else 0,
        error=error,
        unit="%",
        r2=float("nan"),
        rival=RIVAL,
        rival_error=percent_error(measured, nothing) if tested else float("nan"),
        verdict=verdict,
        bar=BAR,
        curves=[Curve(*panel, np.arange(len(pairs), dtype=float), measured, predicted, nothing, every, False)],
        note=_note(groups, tested, measured, predicted),
    )


def _cost(cycles: np.ndarray, one: int, other: int, groups: Sequence[Sequence[int]]) -> float:
    """Return the cycles that an SM loses to another: above the median of its row over SMs of other groups."""
    own = next(group for group in groups if one in group)
    others = [sm for sm in range(len(cycles)) if sm not in own]
    return float(cycles[one, other] - np.median(cycles[one, others])) if others else float("nan")


def _note(groups: Sequence[Sequence[int]], tested: bool, measured: np.ndarray, predicted: np.ndarray) -> str:
    if not groups:
        return "no pair of SMs stands out of the table"
    if not tested:
        return "no chase over this level lies beside the table"
    sizes = sorted({len(group) for group in groups})
    return (
        f"{len(groups)} groups of {' or '.join(map(str, sizes))} SMs; "
        f"predicted {predicted[0]:.1f}, measured {measured.mean():.1f} cycles"
    )


def _data_set(name: str, card: str, path: str) -> DataSet:
    return DataSet(
        name=name,
        engine="translation",
        card=card,
        measures="cycles that two SMs lose by sharing a TLB level",
        sources=(Source("gcoe-dresden/cuda-gpu-tlb", "6c9edc6f8065", path, "BSD-2-Clause"),),
        files=("*TLBsharing-*.txt", "*TLB-Test-*.csv"),
        extract=partial(_extract, name),
        fit=partial(_fit, name),
        judge=partial(_judge, name),
    )


SETS: tuple[DataSet, ...] = (
    _data_set("k80_tlb_sharing", "Tesla K80", "results/K80/TLBsharing-2048-65.txt and TLB-Test-48-300-1024-4096.csv"),
    _data_set(OTHER, "the card of each table", "TLBsharing-*.txt"),
)
