"""Ratios in processor time of two or more sides that take turns.

    ours = clocked(20_000, lambda: engine(20_000))
    rows = compared("dispatch", "16 modules", "groups", ours, {"SimPy": clocked(200, lambda: simpy_model(200))})

A side does one short run at each turn, of about 0.05 to 0.3 s of processor time. Each round has one run of each side.
Every second round reverses the order, so that a load that comes and goes meets all sides. Each round gives one ratio:
processor time an item of the reference over that of the workbench. Above 1 the workbench is faster. A row has the
median of these ratios and their quartiles. No wall clock is read, because it counts what other processes did.
"""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable, Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np

ROUNDS = 11
"""Of a row, unless the benchmark says otherwise."""
COLUMNS = ("name", "variant", "reference", "items", "unit", "ratio", "low", "high", "rounds")
"""Of a row."""


class Side(NamedTuple):
    """One side of a comparison."""

    items: int
    """Number of items that one run does."""
    run: Callable[[], float]
    """Do one run and return its processor time in seconds. What it leaves out of them is not measured."""


class Ratio(NamedTuple):
    """How many times as fast one side is as another: the median of the rounds and its quartiles."""

    ratio: float
    low: float
    high: float


def clocked(items: int, call: Callable[[], object]) -> Side:
    """Return a side whose whole call counts, with the processes that it starts and waits for."""
    return Side(items, lambda: spent(call))


def spent(call: Callable[[], object]) -> float:
    """Return the processor time of a call in seconds: of this process and of the children that it waited for."""
    gc.collect()
    began = _processor_time()
    call()
    return _processor_time() - began


def compared(
    name: str, variant: str, unit: str, ours: Side, references: Mapping[str, Side | None], rounds: int | None = None
) -> list[dict[str, Any]]:
    """Return a row a reference, by its name; one that is None is not installed here, and its row has no ratio."""
    rounds = rounds or ROUNDS
    here = {reference: side for reference, side in references.items() if side is not None}
    taken = turns([ours, *here.values()], rounds) if here else []
    ratios = {reference: ratio(their, taken[0]) for reference, their in zip(here, taken[1:], strict=True)}
    return [row(name, variant, reference, ours.items, unit, ratios.get(reference), rounds) for reference in references]


def turns(sides: Sequence[Side], rounds: int) -> list[list[float]]:
    """Return of each side its processor time an item, a number a round; one round before them all is not counted."""
    taken: list[list[float]] = [[] for _ in sides]
    for side in sides:
        side.run()
    gc.collect()
    gc.freeze()  # what is there already is not looked through before each run
    try:
        for turn in range(rounds):
            for side, seconds in [*zip(sides, taken, strict=True)][:: -1 if turn % 2 else 1]:
                seconds.append(side.run() / side.items)
    finally:
        gc.unfreeze()
    return taken


def ratio(reference: Sequence[float], ours: Sequence[float]) -> Ratio:
    """Return the median and the quartiles of the ratios of the rounds."""
    each = np.array(reference) / np.array(ours)
    low, middle, high = np.quantile(each, [0.25, 0.5, 0.75]).tolist()
    return Ratio(middle, low, high)


def row(
    name: str, variant: str, reference: str, items: int, unit: str, result: Ratio | None, rounds: int
) -> dict[str, Any]:
    """Return a row of `workbench bench`; without a ratio the reference is not installed."""
    figures = [digits(value) for value in result] if result else [None] * len(Ratio._fields)
    named, counted = (reference, rounds) if result else (f"{reference} (not installed)", 0)
    return dict(zip(COLUMNS, (name, variant, named, items, unit, *figures, counted), strict=True))


def digits(value: float) -> float:
    """Round to three significant digits; a whole number has no decimal point."""
    rounded = float(f"{value:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime
