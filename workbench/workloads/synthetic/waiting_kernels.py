"""Random kernels whose groups wait for each other at a start barrier: they hang where not all of them can start."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.random_groups import RandomGroups
from workbench.workloads.workload import Groups


class WaitingKernels(RandomGroups):
    """Random kernels of which every group names a start barrier; everything else is drawn as by `random_groups`.

    A group runs on only after all groups that name its barrier have started, and it holds its resources from its own
    start. Grid-wide synchronization and persistent kernels behave so.

    References
    ----------
    spec 7, R15 and R26.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> drawn = WaitingKernels(count=5, grid=2, barrier="kernel").groups(Machine(), Streams(7))
    >>> drawn.kernel, drawn.barrier
    (array([0, 0, 1, 1, 2]), array([0, 0, 1, 1, 2]))
    """

    barrier: Literal["all", "kernel"] = lever(
        "all", description="whether all groups name one barrier, or each kernel has one of its own"
    )

    def groups(self, machine: Any, streams: Streams) -> Groups:
        groups, grid = super().groups(machine, streams), self._grids(streams)
        kernel = np.repeat(np.arange(len(grid)), grid)
        return groups._replace(kernel=kernel, barrier=kernel if self.barrier == "kernel" else np.zeros_like(kernel))
