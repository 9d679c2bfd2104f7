"""The scene of a choice in plain Python: rows of modules as arrays, and how several scores are summed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.policies.arguments import MOST, listed, reals, table, whole, wholes
from workbench.policies.dispatch.choice.view import INSTRUCTIONS

USUAL = ("vgpr", "sgpr", "waves", "shared", "workgroups")
"""The resources of a machine that declares no others, in their order."""
_FIELDS = ("free", "longest", "recent", "heat", "demand", "totals", "names", "modules", "cycle", "pages")

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
    pages: np.ndarray = np.zeros(0, np.int64)

    def columns(self) -> _Columns:
        """Return the arrays in the order of the question, from `modules` to `heat`."""
        return self.modules, self.demand, self.free, self.longest, self.totals, self.recent, self.heat


def scene(rows: Any, rows_are: str, classes: int = INSTRUCTIONS, **seen: Any) -> Scene:
    """Fill in what was not given; `Choice.choose` says with what."""
    for name in seen:
        if name not in _FIELDS:
            raise unknown_name("", "thing that a choice is shown", name, _FIELDS)
    given = {rows_are: rows, **seen}
    count = len(listed("rows", rows, "must be one row a module"))
    sizes = listed("totals", given.get("totals", given.get("demand", ())), "must be a list of numbers")
    free = _table(given.get("free"), count, len(sizes), "free")
    width = free.shape[1]
    return Scene(
        cycle=whole("cycle", given.get("cycle", 0)),
        modules=np.array(_candidates(given.get("modules", [*range(count)]), count), np.int64),
        demand=np.array(wholes("demand", given.get("demand", [0] * width), count=width), np.int64),
        free=free.reshape(-1).astype(np.int64),
        longest=_table(given.get("longest", free), count, width, "longest").reshape(-1).astype(np.int64),
        totals=np.array(wholes("totals", given.get("totals", [0] * width), count=width), np.int64),
        recent=_table(given.get("recent"), count, classes, "recent", {INSTRUCTIONS, classes}).reshape(-1),
        heat=np.array(reals("heat", given.get("heat", [0.0] * count), count)),
        names=_names(given.get("names"), width),
        pages=np.array(wholes("pages", listed("pages", given.get("pages", ())) or [0] * count, count=count), np.int64),
    )


def _candidates(modules: Any, count: int) -> list[int]:
    """Return the modules that may take the group, at least one of those that are shown."""
    candidates = wholes("modules", modules, 0, count - 1)
    if not candidates:
        raise InputError("choose needs at least one candidate. Got modules without any.")
    return candidates


def _names(names: Any, width: int) -> tuple[str, ...]:
    """Return the names of the resources: as given, as usual where there are five, else by their numbers."""
    if names is None:
        return USUAL if width == len(USUAL) else tuple(f"resource {k + 1}" for k in range(width))
    labels = listed("names", names, "must be a list of names of resources")
    if len(labels) != width or not all(isinstance(name, str) for name in labels):
        raise wrong_value("", "names", f"must be a list of {width} names of resources", names)
    return tuple(labels)


def _table(rows: Any, count: int, width: int, what: str, classes: Collection[int] = ()) -> np.ndarray:
    """Return the rows as float64[count, width]; zeros where there are none, and for classes that are not counted."""
    if count == 0:
        raise InputError("choose needs at least one module. Got no rows.")
    if rows is None:
        return np.zeros((count, width))
    rows = table(what, rows)
    widths = sorted({len(row) for row in rows})
    if len(rows) != count or len(widths) != 1 or (classes and widths[0] not in classes):
        of = f" of {' or '.join(map(str, sorted(classes)))} classes" if classes else ""
        raise InputError(f"{what} must have one row{of} a module, all of one length. Got rows of {widths}.")
    result = np.array(rows, np.float64)
    if not (np.abs(result) <= MOST).all():
        raise wrong_value("", what, f"must hold numbers up to {MOST}", float(result.flat[np.abs(result).argmax()]))
    return np.pad(result, ((0, 0), (0, width - widths[0]))) if classes else result


def summed(scored: Sequence[tuple[np.ndarray, float]]) -> list[float]:
    """Return one score as it is; several normalized over the candidates, weighted and added in their order (spec 3,
    E20).

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
    """Normalize scores over the candidates to 0..1: (score - least) / (most - least), 0 where all are equal."""
    least, most = scores.min(), scores.max()
    return np.zeros(len(scores)) if least == most else (scores - least) / (most - least)
