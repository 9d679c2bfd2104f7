"""Ratios in processor time of two or more sides that take turns.

    ours = clocked(20_000, lambda: engine(20_000))
    rows = compared("dispatch", "16 modules", "groups", ours, {"SimPy": clocked(200, lambda: simpy_model(200))})

A side does one short run at each turn, of about 0.05 to 0.3 s of processor time. Every round has a run of each side, and
every second round goes through the sides backward: a load that comes and goes meets all of them. A round gives one
ratio: processor time an item of the reference over that of the workbench, so above 1 the workbench is faster. A row has
the median of these ratios with their quartiles. Wall clocks have no part in it: they count what other processes did.
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
    name: str, variant: str, unit: str, ours: Side, references: Mapping[str, Side | None], rounds: int = ROUNDS
) -> list[dict[str, Any]]:
    """Return a row a reference, by its name; one that is None is not installed here, and its row has no ratio."""
    here = {reference: side for reference, side in references.items() if side is not None}
    taken = turns([ours, *here.values()], rounds) if here else []
    ratios = {reference: ratio(their, taken[0]) for reference, their in zip(here, taken[1:], strict=True)}
    return [row(name, variant, reference, ours.items, unit, ratios.get(reference), rounds) for reference in references]


def turns(sides: Sequence[Side], rounds: int) -> list[list[float]]:
    """Return of each side its processor time an item, a number a round; one round before them all is not counted."""
    for side in sides:
        side.run()
    taken: list[list[float]] = [[] for _ in sides]
    for turn in range(rounds):
        for side, seconds in [*zip(sides, taken, strict=True)][:: -1 if turn % 2 else 1]:
            seconds.append(side.run() / side.items)
    return taken


def ratio(reference: Sequence[float], ours: Sequence[float]) -> Ratio:
    """Return the median and the quartiles of the ratios of the rounds."""
    each = np.array(reference) / np.array(ours)
    low, middle, high = np.quantile(each, [0.25, 0.5, 0.75]).tolist()
    return Ratio(middle, low, high)


def row(
    name: str, variant: str, reference: str, items: int, unit: str, found: Ratio | None, rounds: int
) -> dict[str, Any]:
    """Return a row of `workbench bench`; without a ratio the reference is not installed."""
    figures = {key: digits(value) for key, value in found._asdict().items()} if found else dict.fromkeys(Ratio._fields)
    named = reference if found else f"{reference} (not installed)"
    return {
        "name": name,
        "variant": variant,
        "reference": named,
        "items": items,
        "unit": unit,
        **figures,
        "rounds": rounds if found else 0,
    }


def digits(value: float) -> float:
    """Round to three significant digits: more of them are not the same in the next run."""
    return float(f"{value:.3g}")


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime
