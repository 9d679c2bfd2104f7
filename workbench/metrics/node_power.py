"""How even power and temperature are over the modules of a node (spec 3, H3.14, H3.15; spec 6, section 7).

They are those of the engine `dispatch`: power is idle power and the energy of instructions over a window; each GPU is
one piece of silicon, over which heat spreads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from workbench.metrics.measure import Measure
from workbench.records.node import NodeRecord
from workbench.units import seconds, watts

PICO = 1e-12
_POWER = ("energy_joules", "power_mean_watts", "power_cv", "power_peak_over_mean")
_HEAT = ("temperature_spread_k", "temperature_peak_k")


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
