"""Columns of a dispatcher's record, what each dispatch takes, how long groups wait, and what runs over time.

Waiting is that of all groups, and of those at the head of their channel (spec 3, H3.1, H3.5, H3.7, H3.18). What is over
time is an exact step function of the cycle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.statistics import Steps, added_up, mean, quantile
from workbench.records.dispatch import DispatchRecord


class Rows(NamedTuple):
    """Columns of a record; those of groups are as long as there are groups, the others as there are dispatches."""

    arrival: np.ndarray
    channel: np.ndarray
    waves: np.ndarray
    demand: np.ndarray
    of_unit: np.ndarray
    """bool[resources]."""
    group: np.ndarray
    cycle: np.ndarray
    module: np.ndarray
    sent: np.ndarray
    level: np.ndarray
    shared_out: np.ndarray
    lasting: np.ndarray
    """int64[dispatches], cycles from each dispatch to its release."""
    barriers: int
    """The resource of which dispatches of one wave take none, -1 = there is no such resource."""


def by_start(record: DispatchRecord) -> DispatchRecord:
    """Return the record with the dispatches that started alone, in the order of their starts, as if dispatched then.

    It is the record itself where every dispatch takes its resources at once.
    """
    between = record.between
    if between is None:
        return record
    order = np.argsort(between.start, kind="stable")
    order = order[between.start[order] >= 0]
    columns = {name: getattr(record, name)[order] for name in ("group", "module", "sent", "level", "shared_out")}
    times = {name: getattr(between, name)[order] for name in ("start", "begin", "end")}
    return record._replace(cycle=times["start"], between=between._replace(**times), **columns)


def rows(record: DispatchRecord) -> Rows:
    """Return the columns of a record."""
    columns = {name: getattr(record, name) for name in Rows._fields[:-2]}
    barriers = record.resources.index("barriers") if "barriers" in record.resources else -1
    return Rows(**columns, lasting=releases(record) - record.cycle, barriers=barriers)


def releases(record: DispatchRecord) -> np.ndarray:
    """Return the cycle at which each dispatch gives back what it took: int64[dispatches].

    In a run that hangs, a dispatch that is `held` has the cycle after the last at which anything happens.
    """
    if record.between is None:
        return record.cycle + record.duration[record.group]
    end = record.between.end
    return np.where(end >= 0, end, record.between.hung_at_cycle + 1)


def held(record: DispatchRecord) -> np.ndarray:
    """Return the dispatches that never give back what they took, because the run hangs: bool[dispatches]."""
    if record.between is None:
        return np.zeros(len(record.group), bool)
    return record.between.end < 0


def makespan(record: DispatchRecord) -> int:
    """Return the cycle of the last release, 0 without groups."""
    return int(releases(record).max(initial=0))


def amounts(record: DispatchRecord) -> np.ndarray:
    """Return the blocks of each resource that each dispatch asked for: int64[dispatches, resources]."""
    blocks = np.zeros((len(record.group), len(record.resources)), np.int64)
    _set_amounts(rows(record), blocks)
    return blocks


@kernel
def _set_amounts(rows: Rows, blocks: np.ndarray) -> None:
    for dispatch in range(blocks.shape[0]):
        for resource in range(blocks.shape[1]):
            blocks[dispatch, resource] = taken(rows, dispatch, resource)


@kernel
def waves_of(rows: Rows, dispatch: int) -> int:
    """Return the waves of a dispatch."""
    total = 0
    for unit in range(rows.sent.shape[1]):
        total += rows.sent[dispatch, unit]
    return total


@kernel
def taken(rows: Rows, dispatch: int, resource: int) -> int:
    """Return the blocks of a resource that a dispatch asked for, in all units of its module.

    A placement that rounds up takes more: the added blocks hold no data, and are not counted as use.
    """
    group = rows.group[dispatch]
    need = rows.demand[group, resource]
    if rows.of_unit[resource]:
        return need * waves_of(rows, dispatch)
    if resource == rows.barriers:
        return min(need, waves_of(rows, dispatch) - 1)
    if rows.shared_out[dispatch]:
        return -(-need * waves_of(rows, dispatch) // rows.waves[group])
    return need


LARGE = 0.75
"""A group is large where its share of a module is not below this quantile of all groups'."""


def waits(record: DispatchRecord) -> np.ndarray:
    """Return the cycles from each group's arrival to the dispatch of its last part: int64[groups]."""
    return last_dispatch(record) - record.arrival


def last_dispatch(record: DispatchRecord) -> np.ndarray:
    """Return the cycle at which the last part of each group is dispatched: int64[groups]."""
    last = np.zeros(len(record.arrival), np.int64)
    np.maximum.at(last, record.group, record.cycle)
    return last


def wait_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute the mean, 99th percentile and maximum over all groups, over each priority, and the mean of those left
    whole."""
    wait = waits(record)
    summary = _summary(wait, "")
    for level in range(1, record.levels + 1):
        summary |= _summary(wait[record.priority == level], f"[{level}]")
    whole = np.bincount(record.group, minlength=len(wait)) == 1
    return {**summary, "wait_unsplit_mean_cycles": mean(wait[whole])}


def _summary(wait: np.ndarray, part: str) -> dict[str, float]:
    return {
        f"wait_mean_cycles{part}": mean(wait),
        f"wait_p99_cycles{part}": quantile(wait, 0.99),
        f"wait_max_cycles{part}": float(wait.max()) if len(wait) else math.nan,
    }


def large(record: DispatchRecord) -> np.ndarray:
    """Return the mask of large groups: bool[groups], a quarter of them or, where some are as large as the smallest,
    more.

    A group's share is that of an empty module which it asks for, of the resource of which that is most.
    """
    room = record.blocks * np.where(record.of_unit, record.units, 1)
    requested = record.demand * np.where(record.of_unit, record.waves[:, None], 1)
    share = (requested / room).max(axis=1, initial=0.0)
    return share >= quantile(share, LARGE)


def refusal_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute how often heads are refused, and how long large groups stand at the head of their channel (H3.18).

    A rate is refusals over refusals and dispatches. A refusal is a round in which a group, at its channel's head, fits
    no module; a dispatch is that of a group, or of each part of a split one.
    """
    big = large(record)
    stood = head_waits(record)
    return {
        "refused_rate": _refused(record, np.ones(len(big), bool)),
        "large_refused_rate": _refused(record, big),
        "large_head_wait_mean_cycles": mean(stood[big]),
    }


def _refused(record: DispatchRecord, groups: np.ndarray) -> float:
    refused, served = int(record.refused[groups].sum()), int(groups[record.group].sum())
    return refused / (refused + served) if served else math.nan


def head_waits(record: DispatchRecord) -> np.ndarray:
    """Compute the cycles that each group, or what is left of it, stands at its channel's head until its last part is
    dispatched: int64[groups], 0 for one that is dispatched before it comes to stand there."""
    stood = np.zeros(len(record.arrival), np.int64)
    free = np.zeros(record.channels, np.int64)
    _stand(record.channel, record.arrival, last_dispatch(record), free, stood)
    return stood


@kernel
def _stand(channel: np.ndarray, arrival: np.ndarray, last: np.ndarray, free: np.ndarray, stood: np.ndarray) -> None:
    for group in range(channel.size):
        behind = channel[group]
        stood[group] = max(last[group] - max(arrival[group], free[behind]), 0)
        free[behind] = max(free[behind], last[group])


def starting(record: DispatchRecord) -> np.ndarray:
    """Return the mask of groups that are dispatched with all their waves: bool[groups]. The others wait until the run
    is over."""
    return np.bincount(record.group, record.sent.sum(axis=1), len(record.arrival)) >= record.waves


def waiting_over_time(record: DispatchRecord) -> Steps:
    """Return the number of groups that have joined their channels and are not, or not in all their parts, dispatched
    yet."""
    one, starts = np.ones(len(record.arrival), np.int64), starting(record)
    return added_up(0, (record.arrival, one), (last_dispatch(record)[starts], -one[starts]))


def running_over_time(record: DispatchRecord) -> Steps:
    """Return the number of waves that run, over all modules."""
    waves, ends = record.sent.sum(axis=1, dtype=np.int64), ~held(record)
    return added_up(0, (record.cycle, waves), (releases(record)[ends], -waves[ends]))
