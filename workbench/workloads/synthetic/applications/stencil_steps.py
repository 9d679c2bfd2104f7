"""A stencil with halo: two grids, each step reads the one and writes the other."""

from __future__ import annotations

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.node import Plan, Touch
from workbench.workloads.synthetic.applications.applications import ApplicationGenerator


class StencilSteps(ApplicationGenerator):
    """Every application sweeps a grid of its own again and again: a group reads its slab and `halo_bytes` of each
    neighbour's, and writes the same slab of the other grid.

    References
    ----------
    spec 6, R8: stencil with halo.
    """

    steps: int = lever(8, least=1, most=10_000, scale="log", description="sweeps over the grid")
    kernel_groups: int = lever(128, least=1, most=100_000, scale="log", unit="groups", description="groups of a sweep")
    grid_bytes: int = lever(64 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="of one grid")
    halo_bytes: int = lever(
        16_384, least=0, most=1 << 30, unit="bytes", description="of each neighbour's slab: a row of 4,096 numbers"
    )

    def plan(self, plan: Plan, streams: Streams) -> None:
        stream = plan.stream()
        grids = [stream.allocate(self.grid_bytes), stream.allocate(self.grid_bytes)]
        for step in range(self.steps):
            reads, writes = grids[step % 2], grids[(step + 1) % 2]
            touches = [Touch(reads, "halo", halo=self.halo_bytes), Touch(writes, "slice")]
            stream.launch(self.kernel_groups, self.cycles, touches, **self.resources())
        stream.free(*grids)
