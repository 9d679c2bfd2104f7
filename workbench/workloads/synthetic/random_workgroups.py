"""Random workgroups: sizes, durations and arrivals, each from a law and a stream of its own."""

from __future__ import annotations

from typing import Any

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.arrivals import AllAtOnce, Arrival, Offered
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.laws import Correlated, Law, Uniform
from workbench.workloads.workload import Workgroups


class RandomWorkgroups(Generator):
    """Workgroups whose sizes and durations follow laws, in the order of their arrival.

    Workgroup n takes the n-th rank of the stream `sizes` and of the stream `durations`; arrivals have the stream
    `arrivals`. So changing one law leaves the others' draws as they are, and a longer queue begins with the shorter one
    (a Poisson load excepted, whose rate depends on all that was drawn).

    References
    ----------
    spec 1, E16: 300 workgroups all queued at t = 0, size U{1..32} or U{1..64}, run time U{1..100} cycles.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> workload = RandomWorkgroups(count=3, size={"uniform": [1, 32]}, duration=100)
    >>> workload.workgroups(Machine(segments=128), Streams(7)).duration
    array([100, 100, 100])
    >>> workload.workgroups(Machine(segments=16), Streams(7))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: random_workgroups.size must draw at most 16 segments, ... Nearest: uniform.high = 16.
    """

    count: int = lever(300, least=1, most=10_000_000, scale="log", unit="workgroups", description="how many there are")
    size: Law = lever(
        Uniform(low=1, high=32), unit="segments", description="how many contiguous segments each asks for"
    )
    duration: Law = lever(Uniform(low=1, high=100), unit="cycles", description="how long each runs")
    arrival: Arrival = lever(AllAtOnce(), description="when they join the queue")

    def check(self) -> None:
        if isinstance(self.size, Correlated):
            raise InputError(f"{self.name}.size must not be correlated: sizes are what durations are correlated with.")
        self.size.check_least(f"{self.name}.size")
        self.duration.check_least(f"{self.name}.duration")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        _, most = self.size.span()
        if most > machine.segments:
            near = self.size.nearest_within(machine.segments)
            cure = f" Nearest: {near}." if near else ""
            expected = f"must draw at most {machine.segments} segments, all that the machine has"
            raise InputError(at(where, f"{path or self.name}.size {expected}. Got up to {most}.{cure}"))

    def workgroups(self, machine: Any, streams: Streams) -> Workgroups:
        self.check_machine(machine)
        ranks = streams.uniforms("sizes", self.count)
        length = self.size.draw(ranks)
        duration = self.duration.draw(self.duration.ranks(streams.uniforms("durations", self.count), ranks))
        arrival = self.arrival.cycles(self.count, lambda: Offered.of(length, duration, machine.segments), streams)
        return Workgroups(arrival, length, duration)
