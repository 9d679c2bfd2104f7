"""Asking a choice in plain Python: what it is shown, and how the scores of several terms are summed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name

USUAL = ("vgpr", "sgpr", "waves", "shared", "workgroups")
"""The resources of a machine that declares no others, in their order."""
INSTRUCTIONS = 6
_SHOWN = ("free", "longest", "recent", "heat", "demand", "totals", "names", "modules", "cycle")

_Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Scene(NamedTuple):
    """What a choice is shown, as arrays; rows of all modules lie one behind another."""

    cycle: int
    modules: np.ndarray
    demand: np.ndarray
    free: np.ndarray
    longest: np.ndarray
    totals: np.ndarray
    recent: np.ndarray
    heat: np.ndarray
    names: tuple[str, ...]

    def columns(self) -> _Columns:
        """The arrays in the order of the question, from `modules` to `heat`."""
        return self.modules, self.demand, self.free, self.longest, self.totals, self.recent, self.heat


def scene(rows: Any, rows_are: str, **seen: Any) -> Scene:
    """Fill in what was not given; `Choice.choose` says with what."""
    for name in seen:
        if name not in _SHOWN:
            raise unknown_name("", "thing that a choice is shown", name, _SHOWN)
    given = {rows_are: rows, **seen}
    count = len(rows)
    free = _table(given.get("free"), count, len(given.get("totals", given.get("demand", ()))), "free")
    width = free.shape[1]
    names = given.get("names") or (USUAL if width == len(USUAL) else [f"resource {k + 1}" for k in range(width)])
    return Scene(
        cycle=given.get("cycle", 0),
        modules=np.asarray(given.get("modules", range(count)), np.int64),
        demand=np.asarray(given.get("demand", [0] * width), np.int64),
        free=free.reshape(-1).astype(np.int64),
        longest=_table(given.get("longest", free), count, width, "longest").reshape(-1).astype(np.int64),
        totals=np.asarray(given.get("totals", [0] * width), np.int64),
        recent=_table(given.get("recent"), count, INSTRUCTIONS, "recent").reshape(-1),
        heat=np.asarray(given.get("heat", [0.0] * count), np.float64),
        names=tuple(names),
    )


def _table(rows: Any, count: int, width: int, what: str) -> np.ndarray:
    """The rows as float64[count, width]; zeros where there are none."""
    if count == 0:
        raise InputError("choose needs at least one module. Got no rows.")
    if rows is None:
        return np.zeros((count, width))
    widths = sorted({len(row) for row in rows})
    if len(rows) != count or len(widths) != 1 or (what == "recent" and widths != [width]):
        of = f" of {width} classes" if what == "recent" else ""
        raise InputError(f"{what} must have one row{of} a module, all of one length. Got rows of {widths}.")
    return np.asarray(rows, np.float64)


def summed(scored: Sequence[tuple[np.ndarray, float]]) -> list[float]:
    """One score as it is; several normalised over the candidates, weighted and added in their order (spec 3, E20).

    >>> summed([(np.array([5.0, 7.0]), 1.0)]), summed([(np.array([5.0, 7.0]), 0.5), (np.array([-4.0, -4.0]), 0.5)])
    ([5.0, 7.0], [0.0, 0.5])
    """
    if len(scored) == 1:
        return [float(score) for score in scored[0][0]]
    total = np.zeros(len(scored[0][0]))
    for scores, weight in scored:
        total = total + weight * normalised(scores)
    return [float(score) for score in total]


def normalised(scores: np.ndarray) -> np.ndarray:
    """Min-max over the candidates, to 0..1: (score - least) / (most - least), 0 where all are equal."""
    least, most = scores.min(), scores.max()
    return np.zeros(len(scores)) if least == most else (scores - least) / (most - least)
