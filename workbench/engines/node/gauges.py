"""Means over time of what is free and what is used: of each module, of each card's frames, of all memory (spec 6,
section 7).

A gauge holds a value until it is set again. Means run from cycle 0 to the makespan, which is known at the end alone:
a gauge keeps its integral up to its last change, and that up to the last end of a step before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit import numbered
from workbench.engines.kit.shares import ONE
from workbench.engines.node.planning import part_of_dispatch, part_of_pool, present
from workbench.engines.node.pool_jobs import LIVE, RESERVED, SCATTERED
from workbench.engines.node.state import COUNT, Run


class GaugeFields(NamedTuple):
    """A row of `State.gauge`."""

    value: int
    since: int
    """When it was set last."""
    total: int
    """Its integral up to then."""
    whole: int
    """Its integral up to the makespan, as long as that comes before `since`."""


GAUGE = numbered(GaugeFields)
OF_MODULE = 2
"""Gauges of a module: of its units' files of registers, and of its own memory."""
UNITS, OWN = range(OF_MODULE)


class Means(NamedTuple):
    """The means of all gauges."""

    registers: np.ndarray
    """float64[modules], card by card: share of the free blocks outside the longest free run, over the maps of units."""
    shared: np.ndarray
    """float64[modules], the same of the module's own memory."""
    frames: np.ndarray
    """float64[places of the board], the same of a card's frames."""
    live: float
    """Bytes in use, as asked for."""
    reserved: float
    """Bytes got from the drivers."""


def gauges_of(modules: int, places: int) -> int:
    """Return how many gauges there are, for so many modules and places of the board."""
    return OF_MODULE * modules + places + 2


@noinline
def note_module(run: Run, card: int, module: int) -> None:
    """Set the gauges of a module, of which something was taken or given back."""
    part, first = part_of_dispatch(run, card), (card * run.rules.modules + module) * OF_MODULE
    for which in range(OF_MODULE):
        scattered = call(run.ports.scattered_of[part], run.ports.lent[part], (module, which))
        _set(run, first + which, scattered / ONE)


@noinline
def note_pool(run: Run) -> None:
    """Set the gauges of memory, with which the pool may have done something."""
    ports, part = run.ports, part_of_pool(run)
    first, places = OF_MODULE * run.rules.cards * run.rules.modules, run.rules.places
    for card in range(places):
        _set(run, first + card, call(ports.memory_of[part], ports.lent[part], (SCATTERED, card)) / ONE)
    for which in (LIVE, RESERVED):
        _set(run, first + places + which, float(call(ports.memory_of[part], ports.lent[part], (which, 0))))


@noinline
def _set(run: Run, number: int, value: float) -> None:
    """Let a gauge hold another value from now on."""
    row, now, until = run.state.gauge[number], present(run), run.state.counters[COUNT.makespan]
    if row[GAUGE.since] <= until:
        row[GAUGE.whole] = row[GAUGE.total] + row[GAUGE.value] * (until - row[GAUGE.since])
    row[GAUGE.total] += row[GAUGE.value] * (now - row[GAUGE.since])
    row[GAUGE.value], row[GAUGE.since] = value, now


def means(gauge: np.ndarray, modules: int, makespan: int) -> Means:
    """Return the means of gauges from cycle 0 to a makespan; NaN where that is 0."""
    rest = makespan - gauge[:, GAUGE.since]
    whole = np.where(rest >= 0, gauge[:, GAUGE.total] + gauge[:, GAUGE.value] * rest, gauge[:, GAUGE.whole])
    mean = whole / makespan if makespan else np.full(whole.size, np.nan)
    of_modules, frames = mean[: OF_MODULE * modules].reshape(-1, OF_MODULE), mean[OF_MODULE * modules : -2]
    return Means(of_modules[:, UNITS], of_modules[:, OWN], frames, float(mean[-2]), float(mean[-1]))
