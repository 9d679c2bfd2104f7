"""Random groups for a dispatcher: shapes, demands and arrivals, each from a law and a stream of its own."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.arrivals import AllAtOnce, Arrival
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.group_demand import FurtherDemand, busiest, check_fits, check_most, laws_of
from workbench.workloads.synthetic.instructions import DEFAULT_MIXES, InstructionMix, Instructions
from workbench.workloads.synthetic.laws import Constant, Correlated, Empirical, Law, Sometimes, Uniform
from workbench.workloads.workload import MOST_CHANNELS, MOST_PRIORITIES, Groups


class RandomGroups(Generator):
    """Groups of a dispatcher whose shapes, demands, durations and arrivals follow laws, in the order of their arrival.

    A kernel is `grid` groups in a row that are alike in everything and arrive together; with a grid of 1 every group is
    on its own. Kernel n takes the n-th rank of every stream: `grids`, `waves`, `channels`, `priorities`, `independent`,
    `durations`, `demand LABEL` for each resource, `mixes` or `instructions CLASS`, and `arrivals`. So changing one law
    leaves the others' draws as they are, and a longer queue begins with the shorter one (arrivals by load excepted,
    whose rate depends on all that was drawn). Where a law is `correlated`, it is so with the ranks of the waves.

    A machine that lacks a resource (NVIDIA's have no scalar registers that a block would reserve) is not asked for it.

    References
    ----------
    spec 3, section 6: workload knobs R, priority mix, demand law, run-time law, flagged fraction, load; ¶26: waves of
    a group; ¶69: 2 to 8 priorities; section 4: wx ~ U{1..8}.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> workload = RandomGroups(count=4, channels=2, waves={"uniform": [1, 16]}, duration=100)
    >>> drawn = workload.groups(Machine(), Streams(7))
    >>> drawn.duration, sorted(drawn.demand), drawn.instructions.shape
    (array([100, 100, 100, 100]), ['sgpr', 'shared', 'vgpr'], (4, 6))
    >>> workload.but(vgpr_blocks={"uniform": [1, 40]}).groups(Machine(), Streams(7))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    workbench.errors.InputError: random_groups.vgpr_blocks must be at most 16, as 4 of its 16 waves share a unit of 64
    blocks. Got up to 40. Nearest: uniform.high = 16.
    """

    count: int = lever(2000, least=1, most=10_000_000, scale="log", unit="groups", description="how many there are")
    grid: Law = lever(
        Constant(value=1), unit="groups", description="how many groups each kernel has, alike and in a row"
    )
    channels: int = lever(4, least=1, most=MOST_CHANNELS, unit="channels", description="channels that groups wait in")
    channel_weights: tuple[float, ...] = lever(
        (), least=0, most=1e15, description="how often each channel is taken, on any scale; none: all equally often"
    )
    priority: Law = lever(Uniform(low=1, high=4), description="the static priority of each kernel, 1 = highest")
    priority_by: Literal["kernel", "channel"] = lever(
        "kernel",
        description="whether each kernel draws its own priority, or every channel has one, rising with its number",
    )
    waves: Law = lever(Uniform(low=1, high=16), unit="waves", description="how many waves each group has")
    independent: float = lever(
        0.5, least=0, most=1, step=0.05, description="how much of all kernels have waves that may run apart"
    )
    independent_from: int = lever(
        2, least=1, most=1 << 16, unit="waves", description="groups of fewer waves are never flagged as independent"
    )
    duration: Law = lever(Uniform(low=100, high=1000), unit="cycles", description="how long each runs")
    vgpr_blocks: Law = lever(Uniform(low=1, high=8), unit="blocks", description="blocks of vector registers a wave")
    sgpr_blocks: Law = lever(Uniform(low=1, high=4), unit="blocks", description="blocks of scalar registers a wave")
    shared_segments: Law = lever(
        Sometimes(share=0.5, law=Uniform(low=1, high=16)),
        unit="segments",
        description="segments of shared memory a group",
    )
    further_blocks: Law = lever(
        Constant(value=0), unit="blocks", description="blocks of each further resource that the machine declares"
    )
    further: tuple[FurtherDemand, ...] = lever((), description="further resources that have a law of their own")
    instructions: Instructions = lever(InstructionMix(mixes=DEFAULT_MIXES), description="what its waves execute")
    arrival: Arrival = lever(AllAtOnce(), description="when kernels join the queues of their channels")

    def check(self) -> None:
        for alone in ("waves", "grid"):
            if isinstance(getattr(self, alone), Correlated):
                raise InputError(f"{self.name}.{alone} must not be correlated: it is drawn before all others.")
        for needed in ("grid", "priority", "waves", "duration"):
            getattr(self, needed).check_least(f"{self.name}.{needed}")
        check_most(f"{self.name}.priority", self.priority, MOST_PRIORITIES, f"must be at most {MOST_PRIORITIES}")
        self._check_weights()

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        try:
            check_fits(self, machine, path or self.name)
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None

    def groups(self, machine: Any, streams: Streams) -> Groups:
        self.check_machine(machine)
        grid = self._grids(streams)
        found = self._kernels(machine, len(grid), streams).repeated(grid)
        arrival = self.arrival.cycles(
            len(grid), lambda: busiest(machine, found.waves, found.demand, found.duration), streams
        )
        return found._replace(arrival=arrival if len(grid) == self.count else np.repeat(arrival, grid))

    def _kernels(self, machine: Any, kernels: int, streams: Streams) -> Groups:
        """Return the group of each kernel, as if all arrived at cycle 0."""
        size_ranks = streams.uniforms("waves", kernels)

        def drawn(law: Law, stream: str) -> np.ndarray:
            return law.draw(law.ranks(streams.uniforms(stream, kernels), size_ranks))

        waves, duration = self.waves.draw(size_ranks), drawn(self.duration, "durations")
        flagged = (streams.uniforms("independent", kernels) < self.independent) & (waves >= self.independent_from)
        channel = self._channel(streams.uniforms("channels", kernels))
        by_channel = self.priority_by == "channel"
        return Groups(
            arrival=np.zeros(kernels, np.int64),
            channel=channel,
            priority=self._priority_of_channels()[channel] if by_channel else drawn(self.priority, "priorities"),
            waves=waves,
            independent=flagged,
            duration=duration,
            demand={label: drawn(law, f"demand {label}") for label, law in laws_of(self, machine, self.name).items()},
            instructions=self.instructions.counts(waves, duration, size_ranks, streams),
            channels=self.channels,
            levels=int(self.priority.span()[1]),
        )

    def _grids(self, streams: Streams) -> np.ndarray:
        """Return the groups of each kernel, int64[kernels]; the last one is cut to what `count` leaves of it."""
        least, most = self.grid.span()
        if most == 1:
            return np.ones(self.count, np.int64)
        grid = self.grid.draw(streams.uniforms("grids", -(-self.count // least)))
        ends = np.cumsum(np.minimum(grid, self.count))
        kernels = int(np.searchsorted(ends, self.count)) + 1
        grid = grid[:kernels]
        grid[-1] = self.count - (ends[kernels - 2] if kernels > 1 else 0)
        return grid

    def _channel(self, ranks: np.ndarray) -> np.ndarray:
        numbers = tuple(range(1, self.channels + 1))
        return Empirical(outcomes=numbers, weights=self.channel_weights).draw(ranks) - 1

    def _priority_of_channels(self) -> np.ndarray:
        """Return the law's number at the middle of each channel's share of all ranks: int64[channels]."""
        return self.priority.draw((np.arange(self.channels) + 0.5) / self.channels)

    def _check_weights(self) -> None:
        weights, path = self.channel_weights, f"{self.name}.channel_weights"
        if weights and len(weights) != self.channels:
            raise wrong_value("", path, f"must be as many as channels ({self.channels}), or none", list(weights))
        if weights and not any(weights):
            raise wrong_value("", path, "must not all be zero", list(weights))
