"""How even are power and temperature over the modules, and how well does the recent past foretell what follows?

Power is that of a module in a window of time: its idle power and the energy of its instructions over the window.
(spec 3, H3.14 to H3.16)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.dispatch_energy import Course, course, total_pj, windows
from workbench.metrics.dispatch_rows import makespan
from workbench.records.dispatch import DispatchRecord
from workbench.units import seconds, watts

WINDOW_CYCLES = 1024
"""The windows of power where heat is not simulated, whose steps are the windows else."""
PICO = 1e-12

_POWER = ("energy_joules", "power_mean_watts", "power_cv", "power_peak_over_mean")
_HEAT = ("temperature_spread_k", "temperature_peak_k")


def power_measures(record: DispatchRecord) -> dict[str, float]:
    """Compute energy, evenness of power, temperatures, foresight; NaN where power or heat is not simulated."""
    if not has_power(record) or not makespan(record):
        return dict.fromkeys((*_POWER, *_HEAT, "energy_prediction"), math.nan)
    along = course(record)
    foresight = energy_prediction(record, along)
    return {**_power(record, along), **_heat(record, along), "energy_prediction": foresight}


def has_power(record: DispatchRecord) -> bool:
    """Return whether power was simulated."""
    return record.power is not None and record.power.simulated


def has_heat(record: DispatchRecord) -> bool:
    """Return whether heat was simulated, and power that makes it."""
    return has_power(record) and record.heat is not None and record.heat.simulated


def window_cycles(record: DispatchRecord) -> int:
    """Return the length of a window of power."""
    return record.heat.cycles() if record.heat is not None and has_heat(record) else WINDOW_CYCLES


def power_windows(record: DispatchRecord, along: Course | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
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


def _power(record: DispatchRecord, along: Course) -> dict[str, float]:
    whole = squares = peak = 0.0
    for lengths, power in power_windows(record, along):
        whole += float((lengths * power.mean(axis=1)).sum())
        squares += float((lengths * power.var(axis=1)).sum())
        peak = max(peak, float(power.max()))
    cycles = makespan(record)
    mean = whole / cycles
    return {
        "energy_joules": energy_joules(record, along),
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


def energy_joules(record: DispatchRecord, along: Course | None = None) -> float:
    """Compute what all modules spend from cycle 0 to the last release: idle power and all instructions."""
    assert record.power is not None
    idle = record.power.idle() * record.modules * seconds(makespan(record), record.clock_mhz)
    return idle + PICO * total_pj(record, course(record) if along is None else along)


def temperatures(record: DispatchRecord, along: Course | None = None) -> Iterator[np.ndarray]:
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


def _heat(record: DispatchRecord, along: Course) -> dict[str, float]:
    if not has_heat(record):
        return dict.fromkeys(_HEAT, math.nan)
    steps, spread, peak = 0, 0.0, 0.0
    for heat in temperatures(record, along):
        steps += len(heat)
        spread += float(np.ptp(heat, axis=1).sum())
        peak = max(peak, float(heat.max()))
    return {"temperature_spread_k": spread / steps, "temperature_peak_k": peak}


def energy_prediction(record: DispatchRecord, along: Course | None = None) -> float:
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
        joined = np.concatenate([last, _apart(spent[:whole])])
        past, coming = joined[:-1], joined[1:]
        sums += [(past * coming).sum(), (past**2).sum(), (coming**2).sum()]
        last, whole = joined[-1:], whole - len(spent)
    shared, past_squares, coming_squares = sums.tolist()
    scale = math.sqrt(past_squares) * math.sqrt(coming_squares)
    return shared / scale if scale else math.nan


def _apart(spent: np.ndarray) -> np.ndarray:
    """Return how far each module is from the mean of all in the same window; what is rounding alone is nothing."""
    mean = spent.mean(axis=1, keepdims=True)
    off = spent - mean
    return np.where(np.abs(off) > 1e-12 * mean, off, 0.0)
