"""Random workgroups and groups: shapes, demands, durations and arrivals, each from a law and a stream of its own.

`laws_of` says which law gives what a random group asks of each resource of a machine, `busiest` what all groups ask of
it together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.levers import Spec, lever
from workbench.streams import Streams
from workbench.workloads.group_file import column_of, first_misfit, machine_resources
from workbench.workloads.synthetic.arrivals import AllAtOnce, Arrival, Offered
from workbench.workloads.synthetic.instructions import DEFAULT_MIXES, InstructionMix, Instructions
from workbench.workloads.synthetic.laws import Constant, Correlated, Empirical, Law, Sometimes, Uniform
from workbench.workloads.workload import MOST_CHANNELS, MOST_PRIORITIES, Generator, Groups, Workgroups


class FurtherDemand(Spec):
    """What is asked of one of the further resources that a machine declares."""

    label: str = lever(description="the resource, as the machine's more_resources call it")
    blocks: Law = lever(
        Constant(value=1), unit="blocks", description="blocks a wave, or a group of a module's resource"
    )


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
        groups = self._kernels(machine, len(grid), streams).repeated(grid)
        arrival = self.arrival.cycles(
            len(grid), lambda: busiest(machine, groups.waves, groups.demand, groups.duration), streams
        )
        return groups._replace(arrival=arrival if len(grid) == self.count else np.repeat(arrival, grid))

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


def laws_of(spec: RandomGroups, machine: Any, path: str) -> dict[str, Law]:
    """Return the law of each resource that a machine has, by label; slots and the machine's barriers are taken without
    a law.

    Raises
    ------
    InputError
        A further resource is named that the machine does not declare.
    """
    declared = [resource.label for resource in machine.more_resources]
    for place, demand in enumerate(spec.further):
        if demand.label not in declared:
            raise unknown_name(f"{path}.further[{place}]", "resource", demand.label, declared)
    usual = {"vgpr": spec.vgpr_blocks, "sgpr": spec.sgpr_blocks, "shared": spec.shared_segments}
    own = {demand.label: demand.blocks for demand in spec.further}
    every = [resource.label for resource in machine_resources(machine)]
    requested = [label for label in every if label not in machine.always_taken]
    return {label: usual.get(label) or own.get(label) or spec.further_blocks for label in requested}


def check_fits(spec: RandomGroups, machine: Any, path: str) -> None:
    """Refuse laws whose largest numbers together would give a group that no empty module has space for.

    So are laws that ask for something of which the machine has none: they would be passed over without a word.
    """
    laws = laws_of(spec, machine, path)
    if "sgpr" not in laws:
        _check_none(spec, "sgpr_blocks", "the machine reserves no scalar registers (machine.sgprs_a_unit 0)", path)
    if not machine.more_resources:
        _check_none(spec, "further_blocks", "the machine declares no further resource (machine.more_resources)", path)
    largest = {label: np.array([law.span()[1]]) for label, law in laws.items()}
    misfit = first_misfit(machine, np.array([spec.waves.span()[1]]), largest)
    if misfit is not None:
        law = spec.waves if misfit.label == "waves" else laws[misfit.label]
        check_most(f"{path}.{_lever_of(spec, misfit.label)}", law, misfit.most, misfit.expected)


def _check_none(spec: RandomGroups, name: str, why: str, path: str) -> None:
    """Refuse a law that was chosen for a resource that is not there; the default stands for whatever there is."""
    law, usual = getattr(spec, name), spec.levers[name].default
    if law != usual and law.span()[1] > 0:
        raise wrong_value("", f"{path}.{name}", f"must be left out or 0, for {why}", law.short(), 0)


def check_most(path: str, law: Law, most: int, expected: str) -> None:
    """Refuse a law that may draw more than there may be, naming the one lever that would keep it within."""
    _, highest = law.span()
    if highest > most:
        near = law.nearest_within(most)
        cure = f" Nearest: {near}." if near else ""
        raise InputError(f"{path} {expected}. Got up to {highest}.{cure}")


def _lever_of(spec: RandomGroups, label: str) -> str:
    """Return the lever that holds the law of a resource, as messages name it."""
    places = [place for place, demand in enumerate(spec.further) if demand.label == label]
    if places:
        return f"further[{places[0]}].blocks"
    return column_of(label) if column_of(label) in spec.levers else "further_blocks"


def busiest(machine: Any, waves: np.ndarray, demand: Mapping[str, np.ndarray], duration: np.ndarray) -> Offered:
    """Return the load offered to the most requested resource, over all modules of the machine.

    Parameters
    ----------
    waves, duration : int64[groups]
    demand : int64[groups] by the resource's label

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> machine = Machine(compute_units=1)  # with 4 units of 64 vector register blocks and 10 wave slots
    >>> busiest(machine, np.array([8]), {"vgpr": np.array([16]), "shared": np.array([0])}, np.array([100]))
    Offered(work=12800, capacity=256)
    """
    offers = []
    for resource in machine_resources(machine):
        always = machine.taken_always(resource.label, waves)
        blocks = demand.get(resource.label) if always is None else always
        if blocks is None:
            continue
        of_unit = resource.level == "unit"
        capacity = resource.blocks * machine.compute_units * (machine.simds_a_unit if of_unit else 1)
        offers.append(Offered.of(blocks * waves if of_unit else blocks, duration, capacity))
    busiest_offer = offers[0]
    for offered in offers[1:]:
        busiest_offer = offered if offered.above(busiest_offer) else busiest_offer
    return busiest_offer
