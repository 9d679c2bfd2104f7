"""The measures of a dispatcher: pace, waiting, rounds, work, balance, power, heat (spec 3, section 6).

Averages over time run from cycle 0 to the last release. Waiting times are also given by static priority,
`wait_p99_cycles[4]`, and utilization by resource, `utilisation[vgpr]`. A measure that is not defined for a run (the
waiting of a priority that has no groups, power that was not simulated) is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.dispatch_modules import POWER_MEASURES, TEMPERATURE_PEAK, balance_measures, power_measures
from workbench.metrics.dispatch_rows import Rows, by_start, makespan, refusal_measures, rows, wait_measures
from workbench.metrics.measure import Family, Measure, Measures, declared
from workbench.metrics.statistics import over
from workbench.records.dispatch import WHY, Between, DispatchRecord

NEVER_STARTED = "groups_never_started"
"""The measure that says that a run hangs: where it is above 0, whatever took time is missing."""
_HANG = (
    Measure(NEVER_STARTED, "groups", "lower", "groups that never start, because the run hangs; 0 in a run that ends"),
    Measure(
        "groups_of_kernels_that_lack",
        "groups",
        "neither",
        "groups of the kernels of which some never start; 0 in a run that ends",
    ),
    Measure("groups_at_barrier", "groups", "neither", "groups that have started and wait at a start barrier for ever"),
    Measure("hung_at_cycle", "cycles", "neither", "the last cycle at which anything happens in a run that hangs"),
)
_ARRIVAL = "from a group's arrival to the dispatch of its last part"

_OF_A_RUN = (
    Measure("makespan_cycles", "cycles", "lower", "from cycle 0 until everything is given back", compared_by="ratio"),
    Measure(
        "groups_per_kilocycle",
        "groups",
        "higher",
        "groups over the makespan in thousands of cycles",
        compared_by="ratio",
    ),
    Measure("wait_mean_cycles", "cycles", "lower", f"{_ARRIVAL}, averaged"),
    Measure("wait_p99_cycles", "cycles", "lower", f"{_ARRIVAL}, 99th percentile"),
    Measure("wait_max_cycles", "cycles", "lower", f"{_ARRIVAL}, the longest"),
    Measure("wait_unsplit_mean_cycles", "cycles", "lower", f"{_ARRIVAL}, averaged over those that were not split"),
    Measure("failed_rounds", "rounds", "lower", "rounds in which a group waited and nothing was dispatched"),
    Measure("failed_round_rate", "", "lower", "rounds without a dispatch, as a share of those in which a group waited"),
    Measure("splits", "groups", "neither", "how often a group was split"),
    Measure(
        "refused_by_fragmentation",
        "heads",
        "lower",
        "heads, summed over rounds, that fit no module although some module had enough free blocks in total",
    ),
    Measure("over_promised", "dispatches", "lower", "dispatches that a report promised and that failed at allocation"),
    Measure(
        "refused_rate",
        "",
        "lower",
        "refusals (rounds in which a group at its channel's head finds no module with room) over refusals and "
        "dispatches; each part of a split group is a dispatch",
    ),
    Measure(
        "large_refused_rate",
        "",
        "lower",
        "refusals over refusals and dispatches of large groups: those whose share of a module is not below the "
        "upper quartile of all groups'",
    ),
    Measure(
        "large_head_wait_mean_cycles",
        "cycles",
        "lower",
        "from when a large group comes to the head of its channel to the dispatch of its last part, averaged",
    ),
    Measure(
        "service_variance",
        "",
        "lower",
        "variance, over the channels that compete at a priority, "
        "of dispatches less the equal share that was due, averaged",
    ),
    Measure(
        "service_gap_max",
        "dispatches",
        "lower",
        "most dispatches at a priority from one of a waiting channel to its next",
    ),
    Measure("probe_operations", "reports", "lower", "reports made: one a module and round"),
    Measure(
        "probe_operations_each_head",
        "reports",
        "lower",
        "reports that matching head by head would need: one a module, round and waiting channel",
    ),
    Measure("probe_operations_per_dispatch", "reports", "lower", "reports made over dispatches"),
    Measure(
        "probe_operations_each_head_per_dispatch",
        "reports",
        "lower",
        "reports that matching head by head would need over dispatches",
    ),
    Measure("placement_searches_per_dispatch", "searches", "lower", "questions to placement policies over dispatches"),
    Measure("pieces_per_dispatch", "pieces", "lower", "separate ranges given over dispatches"),
    Measure("utilisation", "", "higher", "blocks asked for over all blocks, of the resource of which that is most"),
    Measure("utilisation_cv", "", "lower", "utilisation of that resource by module: standard deviation over mean"),
    Measure(
        "utilisation_cv_over_time",
        "",
        "lower",
        "utilisation of the resource asked for most, by module at every cycle: root of the mean variance over mean "
        "(a proxy for `power_cv` where no power is simulated)",
    ),
    Measure(
        "unit_spread",
        "waves",
        "lower",
        "waves that a module's units were given, most less fewest, averaged over the modules",
    ),
    Measure(
        "unit_spread_max",
        "waves",
        "lower",
        "waves that a module's units were given, most less fewest: the largest of any module at any time",
    ),
    *POWER_MEASURES,
    Measure("temperature_spread_k", "K", "lower", "hottest less coolest module, averaged over time"),
    TEMPERATURE_PEAK,
    Measure(
        "energy_prediction",
        "",
        "higher",
        "correlation of a module's energy in a window as long as the choice's "
        "history with that in the next, each less the mean of all modules",
    ),
)
"""The measures of a run that ends."""

_COUNTED = (
    "failed_rounds",
    "failed_round_rate",
    "splits",
    "refused_by_fragmentation",
    "over_promised",
    "probe_operations",
    "probe_operations_each_head",
    "probe_operations_per_dispatch",
    "probe_operations_each_head_per_dispatch",
    "placement_searches_per_dispatch",
    "pieces_per_dispatch",
)
"""What is counted of a run that hangs, too."""

MEASURES = Measures(
    declared(
        *(one if one.name in _COUNTED else one._replace(refusals=NEVER_STARTED) for one in _OF_A_RUN),
        *_HANG,
    ),
    Family("[1-8]", "priority {}", ("wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles")),
    Family(r"[^\[\]]+", "{}", ("utilisation",)),
)
"""Every measure by name."""


def measure(record: DispatchRecord) -> dict[str, float]:
    """Compute every measure of a run, those of its priorities and resources included."""
    run = by_start(record)
    if record.between is not None and record.between.hung:
        missing = dict.fromkeys((one.name for one in _OF_A_RUN), math.nan)  # whatever took time (spec 7, R18)
        return {**missing, **_rounds(run), **_work(run), **_hang(record)}
    cycles = makespan(run)
    return {
        "makespan_cycles": float(cycles),
        "groups_per_kilocycle": over(1000 * _ending(run), cycles),
        **wait_measures(run),
        **_rounds(run),
        **refusal_measures(run),
        **service_measures(record),
        **_work(run),
        **balance_measures(run),
        **power_measures(run),
        **_hang(record),
    }


def _ending(record: DispatchRecord) -> int:
    """Return the number of groups that end by themselves: endless ones are left out of throughput (spec 7, E4)."""
    return len(record.arrival) - (0 if record.between is None else int(record.between.endless.sum()))


def _hang(record: DispatchRecord) -> dict[str, float]:
    """Count what never starts in a run that hangs, and the groups of the kernels that lack some."""
    between = record.between
    if between is None or not between.hung:
        never = {NEVER_STARTED: 0.0, "groups_of_kernels_that_lack": 0.0, "groups_at_barrier": 0.0}
        return {**never, "hung_at_cycle": math.nan}
    return {
        NEVER_STARTED: float(len(between.never_started)),
        "groups_of_kernels_that_lack": float(_of_kernels_that_lack(between)),
        "groups_at_barrier": float(len(between.at_barrier)),
        "hung_at_cycle": float(between.hung_at_cycle),
    }


def _of_kernels_that_lack(between: Between) -> int:
    return int(np.isin(between.kernel, between.kernel[between.never_started]).sum())


_RESOURCES = {
    "workgroups": "workgroup slots",
    "waves": "wave slots",
    "vgpr": "vector registers",
    "sgpr": "scalar registers",
    "shared": "shared memory",
}


_BEHIND = "behind others or in a cluster that does not fit"


def hang_sentence(record: DispatchRecord) -> str:
    """Return the cycle at which a run hangs, the number of groups that never start, and what they lack; nothing of a
    run that ends.

    Groups are counted as in tables: those that never start, of the groups of the kernels of which some never do.
    """
    between = record.between
    if between is None or not between.hung:
        return ""
    never, waits = len(between.never_started), len(between.at_barrier)
    starts = f"{never:,} of {_of_kernels_that_lack(between):,} groups never {'starts' if never == 1 else 'start'}"
    at_barrier = f", {waits:,} {'waits' if waits == 1 else 'wait'} at a barrier" if waits else ""
    words = "; ".join([f"{starts}{at_barrier}", *lacking_words(between, record.resources)])
    return f"hangs at cycle {between.hung_at_cycle:,}: {words}"


def lacking_words(between: Between, resources: Sequence[str]) -> list[str]:
    """Return the reasons for which groups never start: the number for each reason, and the first of them (spec 7,
    R18)."""
    rows = list(zip(*(column.tolist() for column in between.lacking), strict=True))
    reasons: dict[tuple[int, int, int], list[tuple[int, ...]]] = {}
    for row in rows:
        _, why, _, resource, _, die = row
        reasons.setdefault((why, resource, die), []).append(row)
    return [
        _reason(WHY[why], _RESOURCES.get(name := resources[resource], name), die, members)
        for (why, resource, die), members in reasons.items()
    ]


def _reason(why: str, resource: str, die: int, members: list[tuple[int, ...]]) -> str:
    group, _, module, _, amount, _ = members[0]
    groups = len({member for member, *_ in members})  # sub-groups of one group are rows of their own
    one, count = groups == 1, f"{groups:,}"
    if why == "lacks":
        return f"{count} {'lacks' if one else 'lack'} {resource} (group {group}: {amount:,} more on module {module})"
    if why == "told_to_wait" and die >= 0:
        return f"{count} {'waits' if one else 'wait'} for die {die} (group {group})"
    words = {
        "not_admitted": ("is admitted by no module", "are admitted by no module"),
        "told_to_wait": ("is told to wait", "are told to wait"),
        "behind": (f"stands {_BEHIND}", f"stand {_BEHIND}"),
    }
    return f"{count} {words[why][not one]} (group {group})"


def _rounds(record: DispatchRecord) -> dict[str, float]:
    return {
        "failed_rounds": float(record.failed_rounds),
        "failed_round_rate": over(record.failed_rounds, record.rounds),
        "splits": float(len(record.splits)),
        "refused_by_fragmentation": float(record.refused_by_fragmentation),
        "over_promised": float(record.over_promised),
    }


def _work(record: DispatchRecord) -> dict[str, float]:
    """Compute the modeled work of the hardware (spec 3, H3.2, H3.4)."""
    once, each, dispatches = record.modules * record.rounds, record.modules * record.head_rounds, len(record.group)
    return {
        "probe_operations": float(once),
        "probe_operations_each_head": float(each),
        "probe_operations_per_dispatch": over(once, dispatches),
        "probe_operations_each_head_per_dispatch": over(each, dispatches),
        "placement_searches_per_dispatch": over(record.placement_searches, dispatches),
        "pieces_per_dispatch": over(record.pieces, dispatches),
    }


CONTESTED, GAP = range(2)
NOBODY = -1


class Service(NamedTuple):
    """What the pass remembers and adds up."""

    following: np.ndarray
    """int64[dispatches], the next dispatch of the same channel, -1 = none."""
    head: np.ndarray
    """int64[channels], the next dispatch of each."""
    lag: np.ndarray
    """float64[channels, levels], dispatches that each got at each priority, less what it was owed."""
    picks: np.ndarray
    """int64[levels], dispatches at each priority so far."""
    since: np.ndarray
    """int64[channels], the pick after which each has waited at that priority all the time, -1 = it has not."""
    whole: np.ndarray
    """int64[2]: contested dispatches, the largest gap."""
    real: np.ndarray
    """float64[1]: the sum of the variances of the lags after contested dispatches."""


def service_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute how evenly channels are served that compete at one priority (spec 3, H3.3).

    They are the variance of services over competing channels, averaged over the dispatches that two or more compete
    for, and the largest gap: dispatches at a priority from one of a waiting channel to its next, that one counted. At a
    dispatch the channels compete whose next group had arrived and is dispatched under the same priority in the end.
    Each is owed an equal share of the dispatch; what a channel got less what it was owed is its lag. While all compete
    all the time, lags differ between channels as their counts of services do.
    """
    levels = int(record.level.max(initial=0)) + 1
    service = Service(
        np.full(len(record.group), NOBODY),
        np.full(record.channels, NOBODY),
        np.zeros((record.channels, levels)),
        np.zeros(levels, np.int64),
        np.full(record.channels, NOBODY),
        np.zeros(2, np.int64),
        np.zeros(1),
    )
    _pass(rows(record), service)
    contested = int(service.whole[CONTESTED])
    return {
        "service_variance": over(service.real[0], contested),
        "service_gap_max": float(service.whole[GAP]) if service.whole[GAP] else math.nan,
    }


@kernel
def _pass(rows: Rows, service: Service) -> None:
    for dispatch in range(rows.group.size - 1, -1, -1):
        channel = rows.channel[rows.group[dispatch]]
        service.following[dispatch] = service.head[channel]
        service.head[channel] = dispatch
    for dispatch in range(rows.group.size):
        channel, level = rows.channel[rows.group[dispatch]], rows.level[dispatch]
        service.picks[level] += 1
        if service.since[channel] != NOBODY:
            service.whole[GAP] = max(service.whole[GAP], service.picks[level] - service.since[channel])
        _share_out(rows, service, dispatch, channel, level)
        following = service.following[dispatch]
        service.head[channel] = following
        waits = following != NOBODY and _competes(rows, following, rows.cycle[dispatch], level)
        service.since[channel] = service.picks[level] if waits else NOBODY


@kernel
def _competes(rows: Rows, dispatch: int, cycle: int, level: int) -> bool:
    return rows.level[dispatch] == level and rows.arrival[rows.group[dispatch]] <= cycle


@kernel
def _share_out(rows: Rows, service: Service, dispatch: int, served: int, level: int) -> None:
    cycle, competing = rows.cycle[dispatch], 0
    for channel in range(service.head.size):
        head = service.head[channel]
        competing += head != NOBODY and _competes(rows, head, cycle, level)
    if competing < 2:
        return
    service.lag[served, level] += 1.0
    whole = squares = 0.0
    for channel in range(service.head.size):
        head = service.head[channel]
        if head != NOBODY and _competes(rows, head, cycle, level):
            service.lag[channel, level] -= 1.0 / competing
            whole += service.lag[channel, level]
            squares += service.lag[channel, level] ** 2
    service.whole[CONTESTED] += 1
    service.real[0] += squares / competing - (whole / competing) ** 2
