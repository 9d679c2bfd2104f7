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
from collections.abc import Iterator

import numpy as np

from workbench.metrics.measure import Measure, declared
from workbench.metrics.statistics import mean, over
from workbench.records.node import NEVER, NodeRecord, time_of
from workbench.records.translation import SERVED_BY
from workbench.units import seconds, watts

REFUSED = "applications_refused"

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


_AGAINST = "time of an application over its time in a run of its own"


def slowdown_declarations() -> list[Measure]:
    """Return the measures of how much slower applications are than alone."""
    return [
        Measure("slowdown_mean", "", "lower", f"{_AGAINST}, mean of those that end; needs options.alone"),
        Measure("slowdown_max", "", "lower", f"{_AGAINST}, the largest; needs options.alone"),
    ]


_TIMES = (
    Measure("makespan_cycles", "cycles", "lower", "the last end of a step"),
    Measure("groups_per_mcycle", "groups / Mcycle", "higher", "groups that ended, over the makespan"),
    Measure("groups_per_second", "groups / s", "higher", "groups that ended, over the makespan at the cards' clock"),
    Measure("steps_per_second", "steps / s", "higher", "steps that ended, over the makespan at the cards' clock"),
    *time_declarations(),
    *slowdown_declarations(),
)


def application_declarations() -> list[Measure]:
    """Return the measures of applications."""
    return [
        Measure("applications_refused", "applications", "lower", "applications that were refused memory"),
        Measure(
            "fairness",
            "",
            "higher",
            "Jain's index of the applications' speeds, 1 / slowdown, 0 of who is refused; needs options.alone",
        ),
    ]


_OUTSIDE = "that lie outside the longest free run, mean over time"


def memory_declarations() -> list[Measure]:
    """Return the measures of memory."""
    return [
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
        ),
        Measure("live_mean_bytes", "bytes", "neither", "bytes that applications have, as asked for, mean over time"),
        Measure("reserved_mean_bytes", "bytes", "lower", "bytes got from the drivers, mean over time"),
    ]


def power_declarations() -> list[Measure]:
    """Return the measures of power and heat."""
    return [
        Measure("energy_joules", "J", "lower", "energy of all instructions and idle power of all modules"),
        Measure("power_mean_watts", "W", "neither", "power of a module, averaged over modules and time"),
        Measure(
            "power_cv",
            "",
            "lower",
            "power over the modules: root of the variance, averaged over windows of time, over the mean",
        ),
        Measure("power_peak_over_mean", "", "lower", "the highest power of a module in a window over the mean"),
        Measure(
            "temperature_spread_k", "K", "lower", "hottest less coolest module of a GPU, averaged over GPUs and time"
        ),
        Measure("temperature_peak_k", "K", "lower", "the highest temperature of a module above the ambient"),
    ]


def translation_declarations() -> list[Measure]:
    """Return the measures of translations."""
    return [
        Measure("private_hit_rate", "", "higher", "touches that their module's own TLB serves at once, of all"),
        Measure("near_hit_rate", "", "higher", "touches that their module's own TLB or a peer's serves, of all"),
        Measure("shared_per_kilo", "look-ups", "lower", "touches that the shared TLB or a walk serves, per 1,000"),
        Measure("walks_per_kilo", "walks", "lower", "touches that a walk serves, per 1,000"),
    ]


MEASURES = declared(
    *(one._replace(refusals=REFUSED) for one in _TIMES),
    Measure("groups_ended", "groups", "higher", "groups that ended"),
    Measure("groups_cancelled", "groups", "lower", "groups of refused applications that were queued"),
    Measure("kernels_refused", "kernels", "lower", "kernels of refused applications that were never put forward"),
    Measure("groups_refused", "groups", "lower", "groups of these kernels: planned = put forward + refused"),
    *application_declarations(),
    *memory_declarations(),
    *translation_declarations(),
    Measure("remote_share", "", "lower", "simulated touches of pages on other cards, of all"),
    Measure("shoot_downs", "", "lower", "frees and moves whose pages modules are told of"),
    Measure("stalled_modules", "modules", "lower", "modules that shoot-downs went to, each once a shoot-down"),
    Measure("malloc_nulls", "requests", "lower", "requests to device heaps that got nothing"),
    Measure("heap_chunks", "chunks", "lower", "chunks that device heaps asked the pool for"),
    *power_declarations(),
)
"""Every measure by name."""


def measure(record: NodeRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    counts, times = record.counts, {**_pace(record), **time_measures(record), **slowdowns(record)}
    return {
        **(dict.fromkeys(times, math.nan) if record.refused.any() else times),
        "groups_ended": float(counts["groups_ended"]),
        "groups_cancelled": float(counts["groups_cancelled"]),
        "kernels_refused": float(counts["kernels_refused"]),
        "groups_refused": float(counts["groups_refused"]),
        **application_measures(record),
        **memory_measures(record),
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


def application_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of applications; fairness is NaN where they have no runs of their own."""
    fairness = jain(speeds_of(record)) if record.alone.size else math.nan
    return {"applications_refused": float(record.refused.sum()), "fairness": fairness}


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


def memory_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of memory; NaN of a run of no cycles."""
    return {
        "fragmentation_shared": mean(record.shared_scattered),
        "fragmentation_registers": mean(record.registers_scattered),
        "fragmentation_cards": mean(record.frames_scattered),
        "reserved_over_live": over(record.reserved_bytes, record.live_bytes),
        "live_mean_bytes": record.live_bytes,
        "reserved_mean_bytes": record.reserved_bytes,
    }


PICO = 1e-12
_POWER = ("energy_joules", "power_mean_watts", "power_cv", "power_peak_over_mean")
_HEAT = ("temperature_spread_k", "temperature_peak_k")


def power_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of power and heat; NaN where they are not simulated."""
    if record.spent is None or not record.makespan:
        return dict.fromkeys((*_POWER, *_HEAT), math.nan)
    return {**_power(record), **_heat(record)}


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


def _power(record: NodeRecord) -> dict[str, float]:
    assert record.spent is not None
    lengths, power = power_windows(record)
    mean = float((lengths * power.mean(axis=1)).sum()) / record.makespan
    variance = float((lengths * power.var(axis=1)).sum()) / record.makespan
    idle = record.power.idle() * power.shape[1] * seconds(record.makespan, record.clock_mhz)
    return {
        "energy_joules": idle + PICO * float(record.spent.sum()),
        "power_mean_watts": mean,
        "power_cv": math.sqrt(variance) / mean if mean else math.nan,
        "power_peak_over_mean": float(power.max()) / mean if mean else math.nan,
    }


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
        return dict.fromkeys(_HEAT, math.nan)
    steps, spread, peak = 0, 0.0, 0.0
    for heat in temperatures(record):
        steps += 1
        spread += float(np.ptp(heat, axis=1).mean())
        peak = max(peak, float(heat.max()))
    return {"temperature_spread_k": spread / steps, "temperature_peak_k": peak}


def translation_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of translations; NaN of a run without a touch that was answered."""
    counts = dict(zip(SERVED_BY, record.served.tolist(), strict=True))
    total = sum(counts.values())
    near = counts["private"] + counts["peer"]
    return {
        "private_hit_rate": over(counts["private"], total),
        "near_hit_rate": over(near, total),
        "shared_per_kilo": over(1000 * (counts["shared"] + counts["walk"]), total),
        "walks_per_kilo": over(1000 * counts["walk"], total),
    }
