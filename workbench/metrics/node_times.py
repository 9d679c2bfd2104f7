"""How long groups take, and where their time goes (spec 6, R18)."""

from __future__ import annotations

import math

import numpy as np

from workbench.metrics.measure import Measure
from workbench.metrics.statistics import over
from workbench.records.node import NodeRecord

TIMES = (
    *("memory", "channel", "compute", "issue", "walkers", "translation", "link"),
    *("malloc_lock", "malloc_service", "heap_chunk", "shoot_down"),
)
"""The parts of a group's time (spec 6, R18), in the order of `NodeRecord.times`."""
TIME_WORDS = (
    "wait for memory, from the end of the step before the kernel",
    "wait in the channel",
    "compute",
    "wait for issue and for miss registers",
    "wait for a walker",
    "other translation, and local data",
    "bytes of walks and data over links",
    "wait for the lock of a device heap",
    "service of a device heap",
    "wait for a chunk of a device heap",
    "modules stalled by shoot-downs",
)
RANKS = {50: "half of the groups", 99: "all but one in a hundred groups"}
"""The quantiles, and who is not slower than they say."""
SLOWEST = 5
"""Of a hundred groups, those whose parts are a mean over several and not those of the one group at a rank."""


def time_declarations() -> list[Measure]:
    """Return the measures of the time of groups: its quantiles, their parts, and the share of each part in all."""
    quantiles = [
        Measure(
            f"group_p{percent}_cycles",
            "cycles",
            "lower",
            f"{words}, from the end of the step before their kernel to their own",
        )
        for percent, words in RANKS.items()
    ]
    parts = [
        Measure(
            f"group_p{percent}_{name}_cycles",
            "cycles",
            "neither" if name == "compute" else "lower",
            f"of the group whose time group_p{percent}_cycles is: {words}",
        )
        for percent in RANKS
        for name, words in zip(TIMES, TIME_WORDS)
    ]
    shares = [
        Measure(f"{name}_share", "", "neither", f"of all groups' time: {words}")
        for name, words in zip(TIMES, TIME_WORDS)
    ]
    slowest = [
        Measure(
            f"group_slowest_{name}_cycles",
            "cycles",
            "neither" if name == "compute" else "lower",
            f"mean over the slowest {SLOWEST} % of the groups: {words}",
        )
        for name, words in zip(TIMES, TIME_WORDS)
    ]
    return [*quantiles, *parts, *slowest, *_mean_declarations(), *shares]


def _mean_declarations() -> list[Measure]:
    whole = Measure("group_mean_cycles", "cycles", "lower", "mean over the groups, counted as the quantiles are")
    parts = [
        Measure(f"group_mean_{name}_cycles", "cycles", "neither" if name == "compute" else "lower", f"of it: {words}")
        for name, words in zip(TIMES, TIME_WORDS)
    ]
    return [whole, *parts]


def time_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of the time of the groups that ended; NaN where none did."""
    times = record.times[record.ended >= 0]
    total = int(times.sum())
    shares = {f"{name}_share": over(int(times[:, place].sum()), total) for place, name in enumerate(TIMES)}
    means = {
        f"group_mean_{name}_cycles": over(int(times[:, place].sum()), len(times)) for place, name in enumerate(TIMES)
    }
    return {**_quantiles(record), **_slowest(record), "group_mean_cycles": over(total, len(times)), **means, **shares}


def _quantiles(record: NodeRecord) -> dict[str, float]:
    values: dict[str, float] = {}
    for percent in RANKS:
        row = at_rank(record, percent)
        times = record.times[row] if row >= 0 else np.full(len(TIMES), math.nan)
        values[f"group_p{percent}_cycles"] = float(times.sum())
        values |= {f"group_p{percent}_{name}_cycles": float(times[place]) for place, name in enumerate(TIMES)}
    return values


def _slowest(record: NodeRecord) -> dict[str, float]:
    """Return the parts of the time of the slowest groups, the mean over them; one group at least."""
    order = ascending(record)
    rows = record.times[order[len(order) - -(-SLOWEST * len(order) // 100) :]]
    return {
        f"group_slowest_{name}_cycles": over(int(rows[:, place].sum()), len(rows)) for place, name in enumerate(TIMES)
    }


def at_rank(record: NodeRecord, percent: int) -> int:
    """Return the group at rank ceil(n percent / 100) of the n that ended (N57); -1 if none did.

    They are ordered by their time, equal ones by card, then application, stream, kernel and number.
    """
    order = ascending(record)
    return int(order[-(-percent * len(order) // 100) - 1]) if len(order) else -1


def ascending(record: NodeRecord) -> np.ndarray:
    """Return the groups that ended in the order of their time; equal ones by card, application, stream, kernel and
    number: int64[ended]."""
    ended = np.flatnonzero(record.ended >= 0)
    return ended[np.lexsort((ended, record.card[ended], record.times[ended].sum(axis=1)))]
