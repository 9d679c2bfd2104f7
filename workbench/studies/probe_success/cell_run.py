"""What must a resource hold for a probe to report enough? A run of free cells, for every probe of known rule."""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import InputError
from workbench.policies.probes import EXACT, GroupedRun, SampledRun, SharedRun
from workbench.policies.probes.question import Probe


class CellRun(NamedTuple):
    """A run of wholly free cells, each cell so many blocks in a row, cut from block 0 on."""

    cell_blocks: int
    """1 where a run may start at any block; the size of a group where only whole groups count."""
    run: int | None
    """Cells that must be free in a row; None where no state is enough."""


def cell_run(probe: Probe, demand: int, blocks: int) -> CellRun:
    """The run of cells that makes a probe report at least the demand, and without which it reports less.

    Raises
    ------
    InputError
        The probe's rule is not known here.

    References
    ----------
    spec 3, R42 (groups), R46 (samples).

    Examples
    --------
    >>> cell_run(GroupedRun(groups=32), 5, 128), cell_run(SampledRun(run_lengths=(1, 2, 4, 6)), 5, 128)
    (CellRun(cell_blocks=4, run=2), CellRun(cell_blocks=1, run=6))
    """
    probe.check_blocks(blocks)
