"""Many small kernels in several streams, whose threads allocate from the device heap."""

from __future__ import annotations

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.node import Plan, Touch
from workbench.workloads.synthetic.applications.applications import ApplicationGenerator
from workbench.workloads.synthetic.laws import Law, PowersOfTwo


class SmallKernels(ApplicationGenerator):
    """Every application launches kernels of few groups in several streams at once, whose threads allocate.

    What a thread asks for is one size a kernel: kernel k of stream s of application n has the k-th rank of the stream
    `sizes n/s`.

    References
    ----------
    spec 6, R8: many small kernels.
    """

    streams_each: int = lever(4, least=1, most=64, unit="streams", description="streams of an application")
    kernels: int = lever(16, least=1, most=100_000, scale="log", unit="kernels", description="kernels of a stream")
    kernel_groups: int = lever(4, least=1, most=10_000, unit="groups", description="groups of a kernel")
    phases: int = lever(2, least=1, most=64, unit="phases", description="phases of a kernel")
    buffer_bytes: int = lever(
        4 << 20, least=4096, most=1 << 40, scale="log", unit="bytes", description="a stream's data"
    )
    lanes: int = lever(1, least=1, most=1024, unit="lanes", description="lanes of a wave that allocate, in one call")
    size: Law = lever(PowersOfTwo(low=16, high=1024), unit="bytes", description="what a thread asks the heap for")

    def plan(self, plan: Plan, streams: Streams) -> None:
        for number in range(self.streams_each):
            stream = plan.stream()
            buffer = stream.allocate(self.buffer_bytes)
            for size in self.size.draw(streams.uniforms(f"sizes {plan.number}/{number}", self.kernels)).tolist():
                stream.launch(
                    self.kernel_groups,
                    self.cycles,
                    [Touch(buffer)],
                    [size] * self.lanes,
                    phases=self.phases,
                    **self.resources(),
                )
            stream.free(buffer)
