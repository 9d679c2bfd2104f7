"""How often a probe refuses a demand: the chain from a unit to the machine, exactly and by drawing (spec 3).

>>> from workbench.policies.probes import GroupedRun
>>> [f"{failure(GroupedRun(groups=32), demand).machine.failure:.1e}" for demand in (4, 5)]
['8.9e-07', '1.0e+00']

`table` is the document's probability chain and the table around it (spec 3, section 4; ¶151-154). A chance is kept as
the logarithms of failing and of succeeding, so that neither loses its digits. Of a failure of 1e-63 the success is 1 to
every digit that a float has, and of a success of 1e-63 the failure. Logarithms also hold what is below the least float,
as 1e-606. A run of so many free cells in a row of them is counted by an exact dynamic program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.explain.chance import Chance, chance_of_no_run
from workbench.policies.probes import reports
from workbench.policies.probes.question import Probe
from workbench.policies.probes.shift_probe import GroupedRun, GroupedSampledRun, SampledRun
from workbench.statistics import Interval, proportion_interval
from workbench.streams import Streams
from workbench.structures.bitmaps import WORD

if TYPE_CHECKING:
    import pandas as pd


LEVELS = ("unit", "module", "machine")


class Setting(NamedTuple):
    """Where the demand is made: every block free by itself with the same probability."""

    blocks: int = 128
    """Of the resource, in each unit."""
    free: float = 0.5
    """The probability that a block is free, 1 - occupancy."""
    units: int = 4
    """Of a module; each of them gets the demand."""
    modules: int = 16
    """Of the machine; one of them is enough."""

    def checked(self) -> Setting:
        """Return the same, after refusing what is no such machine.

        >>> Setting(free=1.5).checked()
        Traceback (most recent call last):
        workbench.errors.InputError: free must be a probability above 0 and below 1. Got 1.5.
        """
        if not 0 < self.free < 1:
            raise wrong_value("", "free", "must be a probability above 0 and below 1", self.free)
        for name in ("blocks", "units", "modules"):
            check_count(name, getattr(self, name))
        return self


def check_count(name: str, value: object) -> None:
    """Refuse what is no number of things.

    >>> check_count("units", 0)
    Traceback (most recent call last):
    workbench.errors.InputError: units must be a whole number of at least 1. Got 0. Nearest: 1.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < 1:
        raise wrong_value("", name, "must be a whole number of at least 1", value, 1)


def table(
    probes: Sequence[Probe],
    demands: Sequence[int] = (1, 2, 3, 4, 5, 6, 8),
    setting: Setting = Setting(),  # noqa: B008
    *,
    machines: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the chance that a demand is refused by a unit, by a module, by the whole machine: one row a probe and
    demand.

    Parameters
    ----------
    probes : sequence of Probe
        What is compared.
    demands : sequence of int
        Blocks that each unit must have in a row.
    setting : Setting
        The machine, and how full it is.
    machines : int
        With at least 1, so many machines are drawn as well, and each chance comes with its simulated share and the 95 %
        interval of that.
    seed : int
        Of the drawn machines.

    References
    ----------
    spec 3, section 4 (probability chain).

    Examples
    --------
    >>> from workbench.policies.probes import ExactRun, GroupedRun
    >>> result = table([GroupedRun(groups=32), ExactRun()], [4, 5])
    >>> [f"{chance:.2g}" for chance in result.machine_failure]
    ['8.9e-07', '1', '2.1e-23', '3.3e-07']
    """
    import pandas as pd

    rows = [row for probe in probes for row in _rows(probe, demands, setting, machines, seed)]
    return pd.DataFrame(rows)


def _rows(probe: Probe, demands: Sequence[int], setting: Setting, machines: int, seed: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for demand in demands:
        chances = failure(probe, demand, setting)
        row = {f"{level}_failure": chance.failure for level, chance in zip(LEVELS, chances, strict=True)}
        rows.append({"probe": probe.short(), "demand": demand, "free": setting.free, **row})
        rows[-1]["log10_machine_failure"] = chances.machine.log10_failure
    for row, drawn in zip(rows, simulated(probe, demands, setting, machines=machines, seed=seed) if machines else []):
        for level, share in zip(LEVELS, drawn, strict=True):
            row |= {f"{level}_drawn": share.mean, f"{level}_low": share.low, f"{level}_high": share.high}
    return rows


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
    """Return the number of refusals of a demand by a unit, by a module, by all modules of a machine: one entry a
    demand.

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
    >>> result, = simulated(GroupedRun(groups=32), [4], machines=20, seed=1)
    >>> result.unit.n, result.module.n, result.machine.n, result.unit.low < 0.126789 < result.unit.high
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


def check_demand(demand: object, blocks: int) -> None:
    """Refuse a demand that no state of the resource could serve.

    >>> check_demand(0, 128)
    Traceback (most recent call last):
    workbench.errors.InputError: demand must be a whole number from 1 to 128. Got 0.
    """
    whole = hasattr(demand, "__index__") and not isinstance(demand, bool)
    if not whole or not 1 <= demand.__index__() <= blocks:  # type: ignore[attr-defined]
        raise wrong_value("", "demand", f"must be a whole number from 1 to {blocks}", demand)


def failure(probe: Probe, demand: int, setting: Setting = Setting()) -> Failure:  # noqa: B008
    """Compute the exact chance that a demand on each unit of a module is refused by a unit, by a module, by all
    modules.

    Parameters
    ----------
    probe : Probe
        What reports the free blocks of each unit.
    demand : int
        Blocks that each unit must have in a row.
    setting : Setting
        The machine, and how full it is.

    Raises
    ------
    InputError
        The probe's rule is not known, it cannot be built for the resource, there is no such machine, or the demand is
        not from 1 to its blocks.

    References
    ----------
    spec 3, section 4 (probability chain).

    Examples
    --------
    >>> from workbench.policies.probes import ExactRun, GroupedRun
    >>> result = failure(GroupedRun(groups=32), 4)
    >>> round(result.unit.failure, 6), round(result.module.failure, 6), f"{result.machine.failure:.3e}"
    (0.126789, 0.418597, '8.887e-07')
    >>> round(failure(ExactRun(), 1).machine.log10_failure)           # far below the least float
    -607
    """
    blocks, free, units, modules = setting.checked()
    check_demand(demand, blocks)
    cell_blocks, run = cell_run(probe, demand, blocks)
    unit = (
        chance_of_no_run(blocks // cell_blocks, run, cell_blocks * math.log(free))
        if run is not None
        else Chance.of(1.0)
    )
    module = unit.every(units)
    return Failure(unit, module, module.any(modules))


class CellRun(NamedTuple):
    """A run of wholly free cells, each cell so many blocks in a row, cut from block 0 on."""

    cell_blocks: int
    """1 where a run may start at any block; the size of a group where only whole groups count."""
    run: int | None
    """Cells that must be free in a row; None where no state is enough."""


def cell_run(probe: Probe, demand: int, blocks: int) -> CellRun:
    """Return the run of cells with which a probe reports at least the demand, and without which it reports less.

    Raises
    ------
    InputError
        The probe cannot be built for the resource, or its rule is not known here.

    References
    ----------
    spec 3, R42 (groups), R46 (samples), R50 (both).

    Examples
    --------
    >>> cell_run(GroupedRun(groups=32), 5, 128), cell_run(SampledRun(run_lengths=(1, 2, 4, 8)), 5, 128)
    (CellRun(cell_blocks=4, run=2), CellRun(cell_blocks=1, run=8))
    """
    probe.check_blocks(blocks)
    if not probe.built_in:
        raise _unknown(probe)
    if isinstance(probe, GroupedSampledRun):
        size = blocks // probe.groups
        return CellRun(size, _least(probe.lengths(probe.groups), -(-demand // size)))
    if isinstance(probe, GroupedRun):
        size = blocks // probe.groups
        return CellRun(size, -(-demand // size))
    if isinstance(probe, SampledRun):
        return CellRun(1, _least(probe.lengths(blocks), demand))
    if probe.exact(blocks) and probe.never_more():
        return CellRun(1, demand)
    raise _unknown(probe)


def _unknown(probe: Probe) -> InputError:
    return InputError(f"the rule of {probe.short()} is not known here; simulated() asks it about random states.")


def _least(lengths: Sequence[int], wanted: int) -> int | None:
    """Return the least length that is enough."""
    return min((length for length in lengths if length >= wanted), default=None)


class Failure(NamedTuple):
    """The chance of being refused, at each level."""

    unit: Chance
    """The probe reports less than the demand."""
    module: Chance
    """Some unit of the module does."""
    machine: Chance
    """Some unit of every module does: the group waits."""


def mean_report(probe: Probe, setting: Setting = Setting()) -> float:  # noqa: B008
    """Compute the expected report of a unit, in blocks: the sum over all demands of the chance that the report reaches
    them.

    >>> from workbench.policies.probes import ExactRun
    >>> round(mean_report(ExactRun(), Setting(blocks=3)), 12)           # runs 0, 1 x 4, 2 x 2, 3 of the 8 states
    1.375
    """
    return sum(failure(probe, demand, setting).unit.success for demand in range(1, setting.blocks + 1))


def under_report(probe: Probe, setting: Setting = Setting()) -> float:  # noqa: B008
    """Compute by how many blocks the report falls short of the longest run, on average.

    >>> from workbench.policies.probes import ExactRun
    >>> under_report(ExactRun())
    0.0
    """
    return mean_report(Probe.read("exact_run"), setting) - mean_report(probe, setting)


def lost_dispatches(probe: Probe, demands: Sequence[int], setting: Setting = Setting()) -> float:  # noqa: B008
    """Compute the share of demands, each as likely as the others, that the machine could serve and the probe refuses.

    >>> from workbench.policies.probes import GroupedRun
    >>> round(lost_dispatches(GroupedRun(groups=32), [5]), 3)
    0.998
    """
    both = [[failure(one, n, setting).machine.failure for one in (probe, Probe.read("exact_run"))] for n in demands]
    return sum(refused - at_best for refused, at_best in both) / len(both)


def octave_lengths(most: int, steps: int) -> tuple[int, ...]:
    """Run lengths from 1 to at most `most`, with `steps` equal steps from each power of two to the next, or of 1.

    The steps are powers of two that never shrink, as the rule asks (spec 3, R47); two steps give those of V16.

    Parameters
    ----------
    most : int
        The longest run that is told apart.
    steps : int
        A power of two.

    Examples
    --------
    >>> octave_lengths(16, 1), octave_lengths(16, 2), octave_lengths(16, 4)
    ((1, 2, 4, 8, 16), (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16))
    """
    lengths, length = list[int](), 1
    while length <= most:
        lengths.append(length)
        length += max((1 << (length.bit_length() - 1)) // steps, 1)
    return tuple(lengths)
