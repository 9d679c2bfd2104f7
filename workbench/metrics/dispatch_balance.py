"""How fully are the modules used, and how evenly: over modules, over time, over the units of a module?"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.dispatch_rows import Rows, makespan, releases, rows, taken
from workbench.metrics.statistics import cv
from workbench.records.dispatch import DispatchRecord


class Balance(NamedTuple):
    """What the passes add up."""

    used: np.ndarray
    """int64[modules, resources], blocks times cycles that dispatches held of each resource."""
    sent: np.ndarray
    """int64[modules, units], waves that each unit was given."""
    spread: np.ndarray
    """int64[modules], the largest difference between two units' waves at any time of the run."""


def balance(record: DispatchRecord) -> Balance:
    """Add up one run."""
    shape = record.modules, len(record.resources)
    totals = Balance(
        np.zeros(shape, np.int64),
        np.zeros((record.modules, record.units), np.int64),
        np.zeros(record.modules, np.int64),
    )
    _add_up(rows(record), totals)
    return totals


@kernel
def _add_up(rows: Rows, totals: Balance) -> None:
    for dispatch in range(rows.group.size):
        module = rows.module[dispatch]
        cycles = rows.duration[rows.group[dispatch]]
        for resource in range(rows.of_unit.size):
            totals.used[module, resource] += taken(rows, dispatch, resource) * cycles
        for unit in range(rows.sent.shape[1]):
            totals.sent[module, unit] += rows.sent[dispatch, unit]
        totals.spread[module] = max(totals.spread[module], spread(totals.sent, module))


@kernel
def spread(sent: np.ndarray, module: int) -> int:
    """Compute the difference between the most and the fewest waves that a unit of a module was given."""
    least = most = sent[module, 0]
    for unit in range(1, sent.shape[1]):
        least = min(least, sent[module, unit])
        most = max(most, sent[module, unit])
    return most - least


def spread_after(record: DispatchRecord) -> np.ndarray:
    """Compute the units' spread after a module's 1st, 2nd, 3rd ... dispatch, averaged over the modules:
    float64[rounds].

    It ends where the module with the fewest dispatches does (spec 3, H3.13).
    """
    fewest = int(np.bincount(record.module, minlength=record.modules).min())
    sums = np.zeros(fewest, np.int64)
    counts = np.zeros(record.modules, np.int64)
    _follow(rows(record), np.zeros((record.modules, record.units), np.int64), counts, sums)
    return sums / record.modules


@kernel
def _follow(rows: Rows, sent: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> None:
    for dispatch in range(rows.group.size):
        module = rows.module[dispatch]
        for unit in range(sent.shape[1]):
            sent[module, unit] += rows.sent[dispatch, unit]
        if counts[module] < sums.size:
            sums[counts[module]] += spread(sent, module)
        counts[module] += 1


def balance_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute the utilisation by resource and of the busiest one, its evenness over the modules, and the units' spread.

    Utilisation is what groups asked for over all that there is, from cycle 0 to the last release.
    """
    totals, cycles = balance(record), makespan(record)
    blocks = record.blocks * np.where(record.of_unit, record.units, 1)
    shares = totals.used / (blocks * float(cycles)) if cycles else np.full(totals.used.shape, math.nan)
    whole = shares.mean(axis=0)
    busiest = _busiest(totals.used.sum(axis=0).tolist(), blocks.tolist())
    share = shares[:, busiest]
    return {
        "utilisation": float(whole[busiest]),
        **{f"utilisation[{name}]": float(one) for name, one in zip(record.resources, whole, strict=True)},
        "utilisation_cv": cv(share),
        "utilisation_cv_over_time": _cv_over_time(record, busiest, int(totals.used[:, busiest].sum()), cycles),
        "unit_spread": float(np.ptp(totals.sent, axis=1).mean()),
        "unit_spread_max": float(totals.spread.max()),
    }


def _busiest(used: list[int], blocks: list[int]) -> int:
    """Return the resource of the largest exact share, the first of equal ones: roundings of one share are no
    difference."""
    shares = [Fraction(taken, room) for taken, room in zip(used, blocks, strict=True)]
    return shares.index(max(shares))


def _cv_over_time(record: DispatchRecord, resource: int, used: int, cycles: int) -> float:
    """Compute the root of the variance over the modules, averaged over time, over the mean of modules and time."""
    if not used:
        return math.nan
    ends = releases(record)
    held = np.zeros(record.modules, np.int64)
    squares = _variance(rows(record), ends, np.argsort(ends, kind="stable"), resource, held)
    return math.sqrt(squares / cycles) * record.modules * cycles / used


@kernel
def _variance(rows: Rows, ends: np.ndarray, order: np.ndarray, resource: int, held: np.ndarray) -> float:
    """Compute the sum over all cycles of the variance over the modules of the blocks that are held."""
    begun = ended = now = 0
    whole = squares = 0
    total = 0.0
    while ended < order.size:
        following = ends[order[ended]]
        if begun < order.size and rows.cycle[begun] < following:
            following = rows.cycle[begun]
        total += (following - now) * float(held.size * squares - whole * whole)
        now = following
        if ends[order[ended]] == now:
            dispatch, sign = order[ended], -1
            ended += 1
        else:
            dispatch, sign = begun, 1
            begun += 1
        module, change = rows.module[dispatch], sign * taken(rows, dispatch, resource)
        squares += change * (2 * held[module] + change)
        whole += change
        held[module] += change
    return total / (float(held.size) * held.size)
