"""What dispatch does to each module: use and its evenness, places of waves on units, energy, power and temperature.

Use is over modules, over time and over the units of a module. Power is that of a module in a window of time: its idle
power and the energy of its instructions over the window (spec 3, H3.14 to H3.16).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.dispatch_rows import Rows, held, makespan, releases, rows, taken
from workbench.metrics.measure import Measure
from workbench.metrics.statistics import cv
from workbench.records.dispatch import DispatchRecord
from workbench.structures.execution_rates import CLASSES, RATE_UNIT, rates_of
from workbench.units import seconds, watts


@kernel
def spread(sent: np.ndarray, module: int) -> int:
    """Compute the difference between the most and the fewest waves that a unit of a module was given."""
    least = most = sent[module, 0]
    for unit in range(1, sent.shape[1]):
        least = min(least, sent[module, unit])
        most = max(most, sent[module, unit])
    return most - least


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
        cycles = rows.lasting[dispatch]
        for resource in range(rows.of_unit.size):
            totals.used[module, resource] += taken(rows, dispatch, resource) * cycles
        for unit in range(rows.sent.shape[1]):
            totals.sent[module, unit] += rows.sent[dispatch, unit]
        totals.spread[module] = max(totals.spread[module], spread(totals.sent, module))


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
    """Compute the utilization by resource and of the busiest one, its evenness over the modules, and the units' spread.

    Utilization is what groups asked for over all that there is, from cycle 0 to the last release.
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


WINDOW_CYCLES = 1024
"""The windows of power where heat is not simulated, whose steps are the windows else."""
PICO = 1e-12

POWER_MEASURES = (
    Measure("energy_joules", "J", "lower", "energy of all instructions and idle power of all modules"),
    Measure("power_mean_watts", "W", "neither", "power of a module, averaged over modules and time"),
    Measure(
        "power_cv",
        "",
        "lower",
        "power over the modules: root of the variance, averaged over windows of time, over the mean",
    ),
    Measure("power_peak_over_mean", "", "lower", "the highest power of a module in a window over the mean"),
)
TEMPERATURE_PEAK = Measure("temperature_peak_k", "K", "lower", "the highest temperature of a module above the ambient")
POWER = tuple(measure.name for measure in POWER_MEASURES)
HEAT = ("temperature_spread_k", "temperature_peak_k")


def power_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute energy, evenness of power, temperatures, foresight; NaN where power or heat is not simulated."""
    if not has_power(record) or not makespan(record):
        return dict.fromkeys((*POWER, *HEAT, "energy_prediction"), math.nan)
    along = execution_spans(record)
    return {
        "energy_joules": energy_joules(record, along),
        **evenness(power_windows(record, along), makespan(record)),
        **_heat(record, along),
        "energy_prediction": energy_prediction(record, along),
    }


def has_power(record: DispatchRecord) -> bool:
    """Return whether power was simulated."""
    return record.power is not None and record.power.simulated


def has_heat(record: DispatchRecord) -> bool:
    """Return whether heat was simulated, and power that makes it."""
    return has_power(record) and record.heat is not None and record.heat.simulated


def window_cycles(record: DispatchRecord) -> int:
    """Return the length of a window of power."""
    return record.heat.cycles() if record.heat is not None and has_heat(record) else WINDOW_CYCLES


def power_windows(
    record: DispatchRecord, along: ExecutionSpans | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the power of each module in each window, chunk by chunk.

    Yields
    ------
    lengths : float64[windows]
        Cycles of each; the last window ends with the last release.
    power : float64[windows, modules]
        Watts.
    """
    assert record.power is not None
    cycles, end, begin = window_cycles(record), makespan(record), 0
    for spent in windows(record, cycles, along):
        starts = begin + cycles * np.arange(len(spent))
        lengths = np.minimum(end - starts, cycles).astype(float)
        yield lengths, record.power.idle() + watts(spent / lengths[:, None], record.clock_mhz)
        begin = int(starts[-1]) + cycles


def evenness(windows_of: Iterable[tuple[np.ndarray, np.ndarray]], cycles: int) -> dict[str, float]:
    """Compute the mean of modules' power, its evenness and its peak from windows of time, as `power_windows` has them.

    Parameters
    ----------
    cycles : int
        Of all windows together.
    """
    whole = squares = peak = 0.0
    for lengths, power in windows_of:
        whole += float((lengths * power.mean(axis=1)).sum())
        squares += float((lengths * power.var(axis=1)).sum())
        peak = max(peak, float(power.max()))
    mean = whole / cycles
    return {
        "power_mean_watts": mean,
        "power_cv": math.sqrt(squares / cycles) / mean if mean else math.nan,
        "power_peak_over_mean": peak / mean if mean else math.nan,
    }


def module_power(record: DispatchRecord) -> np.ndarray:
    """Compute the power of each module, averaged over the run: float64[modules], watts."""
    whole = np.zeros(record.modules)
    for lengths, power in power_windows(record):
        whole += (lengths[:, None] * power).sum(axis=0)
    return whole / makespan(record)


def energy_joules(record: DispatchRecord, along: ExecutionSpans | None = None) -> float:
    """Compute what all modules spend from cycle 0 to the last release: idle power and all instructions."""
    assert record.power is not None
    idle = record.power.idle() * record.modules * seconds(makespan(record), record.clock_mhz)
    return idle + PICO * total_pj(record, execution_spans(record) if along is None else along)


def temperatures(record: DispatchRecord, along: ExecutionSpans | None = None) -> Iterator[np.ndarray]:
    """Yield each module's degrees above the ambient at the end of each step, chunk by chunk: float64[steps, modules].

    All modules start at the ambient; in the last step they are idle after the last release.
    """
    assert record.power is not None and record.heat is not None
    cycles = record.heat.cycles()
    keeps, gains = record.heat.matrices(record.modules, record.clock_mhz)
    heat, before = np.zeros(record.modules), np.zeros(record.modules)
    for spent in windows(record, cycles, along):
        power = record.power.idle() + watts(spent / cycles, record.clock_mhz)
        _warm(keeps, gains, heat, before, power)
        yield power


@kernel
def _warm(keeps: np.ndarray, gains: np.ndarray, heat: np.ndarray, before: np.ndarray, power: np.ndarray) -> None:
    """Step by step; each row of powers is replaced by the temperatures at its step's end."""
    for step in range(power.shape[0]):
        for module in range(heat.size):
            before[module] = heat[module]
        for module in range(heat.size):
            total = 0.0
            for other in range(heat.size):
                total += keeps[module, other] * before[other] + gains[module, other] * power[step, other]
            heat[module] = total
        for module in range(heat.size):
            power[step, module] = heat[module]


def _heat(record: DispatchRecord, along: ExecutionSpans) -> dict[str, float]:
    if not has_heat(record):
        return dict.fromkeys(HEAT, math.nan)
    steps, spread, peak = 0, 0.0, 0.0
    for heat in temperatures(record, along):
        steps += len(heat)
        spread += float(np.ptp(heat, axis=1).sum())
        peak = max(peak, float(heat.max()))
    return {"temperature_spread_k": spread / steps, "temperature_peak_k": peak}


def energy_prediction(record: DispatchRecord, along: ExecutionSpans | None = None) -> float:
    """Compute how well a module's energy in one window of the choice's history foretells that in the next (H3.16).

    It is the correlation over modules and pairs of whole windows that follow each other, of the instructions' energy
    less the mean of all modules in the same window: what a choice between modules can go by. NaN where the choice looks
    at no history, where there are no two whole windows, and where modules never differ.
    """
    if not record.history_cycles or record.modules < 2:
        return math.nan
    whole = makespan(record) // record.history_cycles
    last, sums = np.zeros((0, record.modules)), np.zeros(3)
    for spent in windows(record, record.history_cycles, along):
        joined = np.concatenate([last, _deviations(spent[:whole])])
        past, coming = joined[:-1], joined[1:]
        sums += [(past * coming).sum(), (past**2).sum(), (coming**2).sum()]
        last, whole = joined[-1:], whole - len(spent)
    shared, past_squares, coming_squares = sums.tolist()
    scale = math.sqrt(past_squares) * math.sqrt(coming_squares)
    return shared / scale if scale else math.nan


def _deviations(spent: np.ndarray) -> np.ndarray:
    """Return the distance of each module from the mean of all in the same window; a difference of rounding alone is
    0."""
    mean = spent.mean(axis=1, keepdims=True)
    off = spent - mean
    return np.where(np.abs(off) > 1e-12 * mean, off, 0.0)


AT_ONCE = 1 << 18
"""Numbers of a chunk of windows: 2 MB."""

_NEXT, _ENDED, _WINDOW = range(3)


class ExecutionSpans(NamedTuple):
    """What the modules execute when: everything that windows of any length are made of."""

    rates: np.ndarray
    """int64[spans, 6], 2^-20 instructions of each class that each executes in a cycle; a span is a dispatch, or the
    part of one between two changes of its rate."""
    module: np.ndarray
    begins: np.ndarray
    """int64[spans], cycles, not decreasing."""
    ends: np.ndarray
    """int64[spans], cycles, not decreasing."""
    order: np.ndarray
    """int64[spans], which span ends at each of these."""
    lasting: np.ndarray
    """int64[spans], cycles of each."""


class Flow(NamedTuple):
    """Where the pass stands."""

    rate: np.ndarray
    """int64[modules, 6], 2^-20 instructions of each class that a module executes in a cycle."""
    counts: np.ndarray
    """int64[modules, 6], those of the window less what a whole window at the present rate would have."""
    at: np.ndarray
    """int64[3]: the next dispatch, how many were released, the next window."""


def execution_spans(record: DispatchRecord) -> ExecutionSpans:
    """Return the rates of every dispatch, and when they begin and end.

    A dispatch executes its waves' share of its group's instructions, the same number of each class in every cycle.
    """
    group, sent = record.group, record.sent.sum(axis=1, dtype=np.int64)
    rates = rates_of(record.instructions[group], sent, record.waves[group], record.duration[group])
    module, begins, ends = record.module, record.cycle, releases(record)
    if record.between is not None:
        rates, module, begins, ends = _executed(record, rates, ends)
    order = np.argsort(ends, kind="stable")
    return ExecutionSpans(rates, module, begins, ends[order], order, ends - begins)


def _executed(record: DispatchRecord, rates: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return rates, modules, begins and ends of what is executed: from the passing of a barrier on, at shared rates."""
    assert record.between is not None
    begins, pace = record.between.begin, record.between.pace
    row = np.flatnonzero(begins >= 0)
    module, begins, ends = record.module[row], begins[row], ends[row]
    if len(pace):
        part = [np.flatnonzero((pace[:, 0] == m) & (pace[:, 1] < e) & (pace[:, 2] > b))
                for m, b, e in zip(module, begins, ends, strict=True)]  # fmt: skip
        times = np.array([len(some) for some in part])
        row, module, change = np.repeat(row, times), np.repeat(module, times), pace[np.concatenate(part)]
        begins = np.maximum(np.repeat(begins, times), change[:, 1])
        ends = np.minimum(np.repeat(ends, times), change[:, 2])
        rates = np.concatenate([rates, _paced(rates[row], change[:, 3])])
        row = np.arange(len(rates) - len(row), len(rates))
    order = np.argsort(begins, kind="stable")
    return rates[row[order]], module[order], begins[order], ends[order]


def _paced(rates: np.ndarray, pace: np.ndarray) -> np.ndarray:
    """Return rates times a pace in 2^-20, rounded down (spec 7, R25)."""
    whole, part = rates // RATE_UNIT, rates % RATE_UNIT
    return whole * pace[:, None] + part * pace[:, None] // RATE_UNIT


def windows(record: DispatchRecord, cycles: int, along: ExecutionSpans | None = None) -> Iterator[np.ndarray]:
    """Yield the energy that instructions cost each module in windows of so many cycles, from cycle 0 on.

    The last window is the one in which the last group is released; it may reach beyond that. Instructions of a group
    are spread evenly over the life of each of its dispatches, in fixed point: what is counted are whole 2^-20ths of
    instructions, so that nothing is lost or drifts however long a run is.

    Parameters
    ----------
    along : ExecutionSpans, optional
        That of the record, where it is at hand.

    Yields
    ------
    float64[windows, modules]
        Picojoules: a chunk of all windows, one after the other.
    """
    assert record.power is not None
    energies = record.power.energies_pj() / RATE_UNIT
    along = execution_spans(record) if along is None else along
    of_each = np.zeros((record.modules, CLASSES), np.int64)
    flow = Flow(of_each, of_each.copy(), np.zeros(3, np.int64))
    left = -(-makespan(record) // cycles)
    most = max(AT_ONCE // record.modules, 1)
    while left > 0:
        chunk = np.zeros((min(left, most), record.modules))
        _fill(along, flow, cycles, energies, chunk)
        yield chunk
        left -= len(chunk)


def total_pj(record: DispatchRecord, along: ExecutionSpans) -> float:
    """Compute the energy of all instructions of a run, picojoules."""
    assert record.power is not None
    counts = (along.rates * along.lasting[:, None]).sum(axis=0)
    return float((counts * (record.power.energies_pj() / RATE_UNIT)).sum())


@kernel
def _fill(along: ExecutionSpans, flow: Flow, cycles: int, energies: np.ndarray, chunk: np.ndarray) -> None:
    at = flow.at
    for window in range(chunk.shape[0]):
        beyond = (at[_WINDOW] + 1) * cycles
        while at[_NEXT] < along.begins.size and along.begins[at[_NEXT]] < beyond:
            _change(along, flow, at[_NEXT], beyond - along.begins[at[_NEXT]] - cycles, 1)
            at[_NEXT] += 1
        while at[_ENDED] < along.ends.size and along.ends[at[_ENDED]] < beyond:
            _change(along, flow, along.order[at[_ENDED]], beyond - along.ends[at[_ENDED]] - cycles, -1)
            at[_ENDED] += 1
        for module in range(flow.rate.shape[0]):
            chunk[window, module] = _spent(flow, module, cycles, energies)
        at[_WINDOW] += 1


@kernel
def _change(along: ExecutionSpans, flow: Flow, dispatch: int, late: int, sign: int) -> None:
    """Change a module's rate; `late` is how many cycles of the window have passed, as a negative number."""
    module = along.module[dispatch]
    for cls in range(CLASSES):
        rate = sign * along.rates[dispatch, cls]
        flow.rate[module, cls] += rate
        flow.counts[module, cls] += rate * late


@kernel
def _spent(flow: Flow, module: int, cycles: int, energies: np.ndarray) -> float:
    """Return the energy of a window that ends, after which counting starts at 0."""
    total = 0.0
    for cls in range(CLASSES):
        total += (flow.counts[module, cls] + flow.rate[module, cls] * cycles) * energies[cls]
        flow.counts[module, cls] = 0
    return total


class Lanes(NamedTuple):
    """Places that dispatches take on units, one a row; two that are taken at a time never share one."""

    dispatch: np.ndarray
    """int64[places], increasing."""
    unit: np.ndarray
    """int64[places], of the dispatch's module."""
    lane: np.ndarray
    """int64[places], from 0."""


def lanes(record: DispatchRecord, kept: np.ndarray, one_each: bool = False) -> Lanes:
    """Return the places of some dispatches on the units that they send waves to.

    Each wave takes the lowest place that is free, as wave slots are given.

    Parameters
    ----------
    kept : int64[some]
        Which dispatches, increasing; the others take no place.
    one_each : bool
        Whether a dispatch takes one place on a unit, however many waves run there, instead of one a wave.
    """
    wanted = record.sent[kept].astype(np.int64)
    if one_each:
        wanted = np.minimum(wanted, 1)
    request = Asked(kept.astype(np.int64), record.module[kept].astype(np.int64), wanted, record.cycle[kept])
    places = Lanes(*np.empty((3, int(wanted.sum())), np.int64))
    most = 1 + int(wanted.max(initial=0))
    while not _place(request, releases(record)[kept], np.zeros((record.modules, record.units, most), np.int64), places):
        most *= 2
    return places


class Asked(NamedTuple):
    """What looks for places, one row a dispatch, in the order of their cycles."""

    dispatch: np.ndarray
    """int64[some]."""
    module: np.ndarray
    """int64[some]."""
    places: np.ndarray
    """int64[some, units], how many each wants on each unit."""
    begin: np.ndarray
    """int64[some], the cycle from which it takes them."""


@kernel
def _place(request: Asked, end: np.ndarray, free_from: np.ndarray, places: Lanes) -> bool:
    """Give every dispatch its places; False where a unit has too few.

    `free_from` holds the cycle from which each place is free: int64[modules, units, places].
    """
    row = 0
    for k in range(request.dispatch.size):
        module = request.module[k]
        for unit in range(request.places.shape[1]):
            lane = 0
            for _ in range(request.places[k, unit]):
                while lane < free_from.shape[2] and free_from[module, unit, lane] > request.begin[k]:
                    lane += 1
                if lane == free_from.shape[2]:
                    return False
                free_from[module, unit, lane] = end[k]
                places.dispatch[row] = request.dispatch[k]
                places.unit[row] = unit
                places.lane[row] = lane
                row += 1
                lane += 1
    return True


def within(record: DispatchRecord, cycles: tuple[int, int] | None) -> np.ndarray:
    """Return the dispatches that run at least partly from one cycle to another, increasing: int64[some]; None = all."""
    if cycles is None:
        return np.arange(len(record.group))
    return np.flatnonzero((record.cycle < cycles[1]) & ((releases(record) > cycles[0]) | held(record)))
