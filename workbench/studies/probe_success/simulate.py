"""The same chances by drawing states at random and asking the probe's compiled answer about each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from workbench.policies.probes.question import Probe
from workbench.policies.probes.reports import reports
from workbench.streams import Streams
from workbench.structures.bitmaps import WORD
from workbench.studies.probe_success.chain import Setting, check_count, check_demand
from workbench.studies.statistics import Interval, proportion_interval

_BLOCKS_AT_ONCE = 4_000_000
"""How many blocks of all states are in memory at a time (32 MB of random numbers)."""


class Simulated(NamedTuple):
    """The shares of refusals, each with its exact binomial interval."""

    unit: Interval
    module: Interval
    machine: Interval


def simulated(
    probe: Probe,
    demands: Sequence[int],
    setting: Setting = Setting(),  # noqa: B008
    *,
    machines: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> list[Simulated]:
    """Return how often a demand was refused by a unit, by a module, by all modules of a machine: one entry a demand.

    Every probe with the same setting and seed meets the same states, those of the named stream `free_blocks`.

    Parameters
    ----------
    probe : Probe
        Any probe, whether its rule is known or not.
    demands : sequence of int
        Blocks that each unit must have in a row.
    setting : Setting
        The machine, and how full it is.
    machines : int
        How many machines are drawn, each with all its units.
    seed, level
        Of the streams; of the intervals.

    Raises
    ------
    InputError
        There is no such machine, the probe cannot be built for the resource, a demand is not from 1 to its blocks, or
        fewer than one machine is asked for.

    References
    ----------
    spec 3, section 4 (probability chain).

    Examples
    --------
    >>> from workbench.policies.probes import GroupedRun
    >>> found, = simulated(GroupedRun(groups=32), [4], machines=20, seed=1)
    >>> found.unit.n, found.module.n, found.machine.n, found.unit.low < 0.126789 < found.unit.high
    (1280, 320, 20, True)
    """
    setting = setting.checked()
    probe.check_blocks(setting.blocks)
    check_count("machines", machines)
    for demand in demands:
        check_demand(demand, setting.blocks)
    drawn = [reports(probe, states, setting.blocks) for states in _states(setting, machines, seed)]
    result = np.concatenate(drawn).reshape(machines, setting.modules, setting.units)
    return [_shares(result < demand, level) for demand in demands]


def _states(setting: Setting, machines: int, seed: int) -> Iterator[np.ndarray]:
    """Draw the free maps of all units, a batch at a time: uint64[states, words]."""
    draw, left = Streams(seed)["free_blocks"], machines * setting.modules * setting.units
    while left:
        batch = min(left, max(_BLOCKS_AT_ONCE // setting.blocks, 1))
        yield packed_rows(draw.random((batch, setting.blocks)) < setting.free)
        left -= batch


def packed_rows(bits: np.ndarray) -> np.ndarray:
    """Return states as rows of words: uint64[states, words] from bool[states, blocks].

    >>> packed_rows(np.array([[True, False, True], [False, True, False]])).tolist()
    [[5], [2]]
    """
    wide = np.zeros((len(bits), -(-bits.shape[1] // WORD) * WORD), np.uint8)
    wide[:, : bits.shape[1]] = bits
    return np.packbits(wide, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _shares(refused: np.ndarray, level: float) -> Simulated:
    """Compute the shares from bool[machines, modules, units]."""
    module = np.any(refused, axis=2)
    machine = np.all(module, axis=1)
    levels = (refused, module, machine)
    return Simulated(*(proportion_interval(int(one.sum()), one.size, level=level) for one in levels))
