"""A graph's gather: groups read their edges one after another, and vertices wherever these lead."""

from __future__ import annotations

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.node import Plan, Touch
from workbench.workloads.synthetic.applications.applications import ApplicationGenerator


class GraphSteps(ApplicationGenerator):
    """Every application passes over a graph of its own: a group reads its slice of the edges, gathers the vertices that
    they lead to, a few of them very often, and writes its slice of the result.

    References
    ----------
    spec 6, R8: graph gather.
    """

    steps: int = lever(4, least=1, most=10_000, scale="log", description="passes over the graph")
    kernel_groups: int = lever(128, least=1, most=100_000, scale="log", unit="groups", description="groups of a pass")
    vertex_bytes: int = lever(
        256 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="all vertices"
    )
    edge_bytes: int = lever(64 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="all edges")
    gathered: int = lever(16, least=1, most=4096, unit="vertices", description="draws of vertices by a group")
    element_bytes: int = lever(
        128, least=1, most=1 << 16, scale="log", unit="bytes", description="of a vertex: 32 numbers of 4 bytes"
    )
    skew: float = lever(0.8, least=0, most=4, step=0.05, description="exponent of Zipf's law over vertices")

    def plan(self, plan: Plan, streams: Streams) -> None:
        stream = plan.stream()
        edges, vertices = stream.allocate(self.edge_bytes), stream.allocate(self.vertex_bytes)
        for _ in range(self.steps):
            result = stream.allocate(self.edge_bytes)
            gather = Touch(vertices, "gather", count=self.gathered, element_bytes=self.element_bytes, skew=self.skew)
            stream.launch(self.kernel_groups, self.cycles, [Touch(edges), gather, Touch(result)], **self.resources())
            stream.free(result)
        stream.free(edges, vertices)
