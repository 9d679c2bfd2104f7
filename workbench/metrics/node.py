"""The measures of a whole node: groups, applications, memory, power and heat, translations (spec 6, section 7).

Means over time run from cycle 0 to the makespan. A measure that is not defined for a run (power that was not simulated,
slowdown without runs alone) is NaN. So are the times of a run in which an application was refused memory, which has
done less: of such a run the table holds what was done, and what was not.

The parts of a group's time are those of spec 6, R18. Applications are compared with runs of their own alone: slowdown,
and its fairness. Memory: how scattered what is free lies, and what is reserved for. Power and heat are those of the
engine `dispatch` (spec 3, H3.14, H3.15): idle power and the energy of instructions over a window; each GPU is one piece
of silicon, over which heat spreads. Who gives the translations of touches (spec 6, R15) is measured as in the engine
`translation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from workbench.metrics.dispatch_modules import HEAT, PICO, POWER, POWER_MEASURES, TEMPERATURE_PEAK, evenness
from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import mean, over
from workbench.records.node import NEVER, NodeRecord, time_of
from workbench.records.translation import SERVED_BY, WITHOUT_MIDDLE
from workbench.units import seconds, watts

REFUSED = "applications_refused"

TIME_WORDS = {
    "memory": "wait for memory, from the end of the step before the kernel",
    "channel": "wait in the channel",
    "compute": "compute",
    "issue": "wait for issue and for miss registers",
    "walkers": "wait for a walker",
    "translation": "other translation, and local data",
    "link": "bytes of walks and data over links",
    "malloc_lock": "wait for the lock of a device heap",
    "malloc_service": "service of a device heap",
    "heap_chunk": "wait for a chunk of a device heap",
    "shoot_down": "modules stalled by shoot-downs",
}
"""The parts of a group's time (spec 6, R18), in the order of `NodeRecord.times`."""
TIMES = tuple(TIME_WORDS)
RANKS = {50: "half of the groups", 99: "all but one in a hundred groups"}
"""The quantiles, and who is not slower than they say."""
_FROM = "from the end of the step before their kernel to their own"
SLOWEST = 5
"""Of a hundred groups, those whose parts are a mean over several and not those of the one group at a rank."""


def _of_parts(prefix: str, of: str) -> list[Measure]:
    """Return the measures of the parts of some groups' time."""
    return [
        Measure(f"{prefix}_{name}_cycles", "cycles", "neither" if name == "compute" else "lower", f"{of}: {words}")
        for name, words in TIME_WORDS.items()
    ]


_AGAINST = "time of an application over its time in a run of its own"
_OUTSIDE = "that lie outside the longest free run, mean over time"
_TIMES = (
    Measure("makespan_cycles", "cycles", "lower", "the last end of a step", compared_by="ratio"),
    Measure(
        "groups_per_mcycle", "groups / Mcycle", "higher", "groups that ended, over the makespan", compared_by="ratio"
    ),
    Measure(
        "groups_per_second",
        "groups / s",
        "higher",
        "groups that ended, over the makespan at the cards' clock",
        compared_by="ratio",
    ),
    Measure(
        "steps_per_second",
        "steps / s",
        "higher",
        "steps that ended, over the makespan at the cards' clock",
        compared_by="ratio",
    ),
    *(
        Measure(f"group_p{percent}_cycles", "cycles", "lower", f"{words}, {_FROM}", compared_by="ratio")
        for percent, words in RANKS.items()
    ),
    *_of_parts("group_p50", "of the group whose time group_p50_cycles is"),
    *_of_parts("group_p99", "of the group whose time group_p99_cycles is"),
    *_of_parts("group_slowest", f"mean over the slowest {SLOWEST} % of the groups"),
    Measure(
        "group_mean_cycles",
        "cycles",
        "lower",
        "mean over the groups, counted as the quantiles are",
        compared_by="ratio",
    ),
    *_of_parts("group_mean", "of it"),
    *(Measure(f"{name}_share", "", "neither", f"of all groups' time: {words}") for name, words in TIME_WORDS.items()),
    Measure(
        "slowdown_mean", "", "lower", f"{_AGAINST}, mean of those that end; needs options.alone", compared_by="ratio"
    ),
    Measure("slowdown_max", "", "lower", f"{_AGAINST}, the largest; needs options.alone", compared_by="ratio"),
)
MEASURES = declared(
    *(one._replace(refusals=REFUSED) for one in _TIMES),
    Measure("groups_ended", "groups", "higher", "groups that ended"),
    Measure("groups_cancelled", "groups", "lower", "groups of refused applications that were queued"),
    Measure("kernels_refused", "kernels", "lower", "kernels of refused applications that were never put forward"),
    Measure("groups_refused", "groups", "lower", "groups of these kernels: planned = put forward + refused"),
    Measure("applications_refused", "applications", "lower", "applications that were refused memory"),
    Measure(
        "fairness",
        "",
        "higher",
        "Jain's index of the applications' speeds, 1 / slowdown, 0 of who is refused; needs options.alone",
    ),
    Measure("fragmentation_shared", "", "lower", f"of a module's free shared memory, the segments {_OUTSIDE}"),
    Measure("fragmentation_registers", "", "lower", f"of a unit's free registers, the blocks {_OUTSIDE}"),
    Measure(
        "fragmentation_cards",
        "",
        "lower",
        f"of a GPU's free frames, those {_OUTSIDE}; NaN where pages are not made of frames",
    ),
    Measure(
        "reserved_over_live",
        "",
        "lower",
        "bytes got from the drivers over bytes that applications have, both as means over time",
        compared_by="ratio",
    ),
    Measure("live_mean_bytes", "bytes", "neither", "bytes that applications have, as asked for, mean over time"),
    Measure("reserved_mean_bytes", "bytes", "lower", "bytes got from the drivers, mean over time", compared_by="ratio"),
    Measure("private_hit_rate", "", "higher", "touches that their module's own TLB serves at once, of all"),
    Measure("near_hit_rate", "", "higher", "touches that their module's own TLB or a peer's serves, of all"),
    Measure("shared_per_kilo", "look-ups", "lower", "touches that the shared TLB or a walk serves, per 1,000"),
    Measure("walks_per_kilo", "walks", "lower", "touches that a walk serves, per 1,000"),
    Measure("remote_share", "", "lower", "simulated touches of pages on other cards, of all"),
    Measure("shoot_downs", "", "lower", "frees and moves whose pages modules are told of"),
    Measure("stalled_modules", "modules", "lower", "modules that shoot-downs went to, each once a shoot-down"),
    Measure("malloc_nulls", "requests", "lower", "requests to device heaps that got nothing"),
    Measure("heap_chunks", "chunks", "lower", "chunks that device heaps asked the pool for"),
    *POWER_MEASURES,
    Measure("temperature_spread_k", "K", "lower", "hottest less coolest module of a GPU, averaged over GPUs and time"),
    TEMPERATURE_PEAK,
)
"""Every measure by name."""


def measure(record: NodeRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    counts, times = record.counts, {**_pace(record), **time_measures(record), **slowdowns(record)}
    return {
        **(dict.fromkeys(times, math.nan) if record.refused.any() else times),
        **{
            name: float(counts[name])
            for name in ("groups_ended", "groups_cancelled", "kernels_refused", "groups_refused")
        },
        "applications_refused": float(record.refused.sum()),
        "fairness": jain(speeds_of(record)) if record.alone.size else math.nan,
        "fragmentation_shared": mean(record.shared_scattered),
        "fragmentation_registers": mean(record.registers_scattered),
        "fragmentation_cards": mean(record.frames_scattered),
        "reserved_over_live": over(record.reserved_bytes, record.live_bytes),
        "live_mean_bytes": record.live_bytes,
        "reserved_mean_bytes": record.reserved_bytes,
        **translation_measures(record),
        "remote_share": over(counts["remote_touches"], counts["touches"]),
        "shoot_downs": float(counts["shoot_downs"]),
        "stalled_modules": float(counts["stalled_modules"]),
        "malloc_nulls": float(counts["nulls"]),
        "heap_chunks": float(counts["chunks"]),
        **power_measures(record),
    }


def _pace(record: NodeRecord) -> dict[str, float]:
    counts, lasted = record.counts, seconds(record.makespan, record.clock_mhz)
    return {
        "makespan_cycles": float(record.makespan),
        "groups_per_mcycle": over(1e6 * counts["groups_ended"], record.makespan),
        "groups_per_second": over(counts["groups_ended"], lasted),
        "steps_per_second": over(counts["steps"], lasted),
    }


def time_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of the time of the groups that ended; NaN where none did."""
    values: dict[str, float] = {}
    for percent in RANKS:
        row = at_rank(record, percent)
        times = record.times[row] if row >= 0 else np.full(len(TIMES), math.nan)
        values |= {f"group_p{percent}_cycles": float(times.sum()), **_by_part(f"group_p{percent}", times)}
    order = ascending(record)
    slowest = order[len(order) - -(-SLOWEST * len(order) // 100) :]
    values |= _by_part("group_slowest", _means(record.times[slowest]))
    times = record.times[record.ended >= 0]
    total = int(times.sum())
    values |= {"group_mean_cycles": over(total, len(times)), **_by_part("group_mean", _means(times))}
    return values | {f"{name}_share": over(int(times[:, place].sum()), total) for place, name in enumerate(TIMES)}


def _by_part(prefix: str, cycles: Iterable[float]) -> dict[str, float]:
    return {f"{prefix}_{name}_cycles": float(spent) for name, spent in zip(TIMES, cycles, strict=True)}


def _means(times: np.ndarray) -> list[float]:
    """Return the mean of each part of the time of some groups; NaN of none."""
    return [over(spent, len(times)) for spent in times.sum(axis=0).tolist()]


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


def slowdowns(record: NodeRecord) -> dict[str, float]:
    """Compute how much slower applications are than in runs of their own, NaN where there are none."""
    speeds = speeds_of(record) if record.alone.size else np.zeros(0)
    each = 1 / speeds[speeds > 0]
    return {"slowdown_mean": mean(each), "slowdown_max": float(each.max()) if each.size else math.nan}


def speeds_of(record: NodeRecord) -> np.ndarray:
    """Return the speed of each application that ends when it is alone, as a share of that: float64[applications].

    An application that does not end, or is refused memory, has speed 0; one that takes no time has 1.
    """
    times = np.array([time_of(record, number) for number in range(record.alone.size)], np.int64)
    alone, shared = record.alone[record.alone != NEVER], times[record.alone != NEVER]
    return np.where(shared == NEVER, 0.0, np.where(shared == 0, 1.0, alone / np.maximum(shared, 1)))


def jain(speeds: np.ndarray) -> float:
    """Return (sum)^2 / (n x sum of squares): 1 where all are equal, 1 / n where one has everything; NaN of nothing.

    >>> jain(np.array([0.5, 0.5])), jain(np.array([1.0, 0.0])), jain(np.zeros(2))
    (1.0, 0.5, nan)
    """
    squares = float((speeds**2).sum())
    return float(speeds.sum()) ** 2 / (speeds.size * squares) if squares else math.nan


def power_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of power and heat; NaN where they are not simulated."""
    if record.spent is None or not record.makespan:
        return dict.fromkeys((*POWER, *HEAT), math.nan)
    spent = PICO * float(record.spent.sum())
    idle = record.power.idle() * record.spent.shape[1] * seconds(record.makespan, record.clock_mhz)
    return {"energy_joules": idle + spent, **evenness([power_windows(record)], record.makespan), **_heat(record)}


def power_windows(record: NodeRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return the cycles of each window, the last of which ends with the makespan, and the watts of each module in it.

    Returns
    -------
    lengths : float64[windows]
    power : float64[windows, modules]
    """
    assert record.spent is not None
    starts = record.window_cycles * np.arange(len(record.spent))
    lengths = np.minimum(record.makespan - starts, record.window_cycles).astype(float)
    return lengths, record.power.idle() + watts(record.spent / lengths[:, None], record.clock_mhz)


def temperatures(record: NodeRecord) -> Iterator[np.ndarray]:
    """Yield each module's degrees above the ambient at the end of each step of the thermal model: float64[modules].

    A window that is longer than a step has the same power in each of its steps. All modules start at the ambient; in
    the last step they are idle after the makespan.
    """
    assert record.spent is not None
    step = record.heat.cycles()
    keeps, gains = record.heat.matrices(record.modules, record.clock_mhz)
    heat = np.zeros((record.spent.shape[1] // record.modules, record.modules))
    for spent in record.spent.reshape(len(record.spent), *heat.shape):
        power = record.power.idle() + watts(spent / record.window_cycles, record.clock_mhz)
        for _ in range(record.window_cycles // step):
            heat = heat @ keeps.T + power @ gains.T
            yield heat


def _heat(record: NodeRecord) -> dict[str, float]:
    if not record.heat.simulated:
        return dict.fromkeys(HEAT, math.nan)
    steps, spread, peak = 0, 0.0, 0.0
    for heat in temperatures(record):
        steps += 1
        spread += float(np.ptp(heat, axis=1).mean())
        peak = max(peak, float(heat.max()))
    return {"temperature_spread_k": spread / steps, "temperature_peak_k": peak}


def translation_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of translations; NaN of a run without a touch that was answered."""
    counts = dict(zip(SERVED_BY[:WITHOUT_MIDDLE], record.served.tolist(), strict=True))
    total = sum(counts.values())
    near = counts["private"] + counts["peer"]
    return {
        "private_hit_rate": over(counts["private"], total),
        "near_hit_rate": over(near, total),
        "shared_per_kilo": over(1000 * (counts["shared"] + counts["walk"]), total),
        "walks_per_kilo": over(1000 * counts["walk"], total),
    }
