"""What must a resource hold for a probe to report enough? A run of free cells, for every probe of known rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.errors import InputError
from workbench.policies.probes import GroupedRun, GroupedSampledRun, SampledRun
from workbench.policies.probes.question import Probe


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
