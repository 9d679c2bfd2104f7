"""A plan of an application: a generator writes one call a step, and cycles, demands and instructions are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.streams import Streams
from workbench.workloads.application import (
    NO_INSTRUCTIONS,
    Allocate,
    Application,
    Free,
    Kernel,
    Launch,
    Phase,
    Step,
    Touch,
    Wait,
)
from workbench.workloads.synthetic.instructions import Instructions
from workbench.workloads.synthetic.laws import Law


class Plan:
    """An application that is being written; cycles of compute are drawn as it is.

    The cycles of a phase are the ranks of a stream named after application, stream, kernel and phase, one a group: they
    depend on no policy, and on no other kernel (spec 6, E6).

    Parameters
    ----------
    number : int
        The application's, among all of them.
    streams : Streams
        Of the seed.
    home, priority, arrival : int
        See `Application`.

    Examples
    --------
    >>> from workbench.workloads.synthetic.laws import Constant
    >>> plan = Plan(0, Streams(1))
    >>> stream = plan.stream()
    >>> grid = stream.allocate(1 << 20)
    >>> stream.launch(groups=4, cycles=Constant(value=100), touches=[Touch(grid, "halo")])
    >>> stream.free(grid)
    >>> [type(step).__name__ for step in plan.application().streams[0]]
    ['Allocate', 'Launch', 'Free']
    """

    def __init__(self, number: int, streams: Streams, home: int = 0, priority: int = 1, arrival: int = 0) -> None:
        self.number = number
        self._draws = streams
        self._place = {"home": home, "priority": priority, "arrival": arrival}
        self._streams: list[StreamPlan] = []
        self._tensors = 0

    def stream(self) -> StreamPlan:
        """Return a further stream, which has no step yet."""
        self._streams.append(StreamPlan(self, len(self._streams)))
        return self._streams[-1]

    def application(self) -> Application:
        """Return the application as it is written so far."""
        return Application(tuple(tuple(stream.steps) for stream in self._streams), **self._place)

    def next_tensor(self) -> int:
        """Return the number of a further tensor."""
        self._tensors += 1
        return self._tensors - 1

    def cycles(self, law: Law, groups: int, *path: int) -> np.ndarray:
        """Draw the cycles of a phase: int64[groups]."""
        return law.draw(self._draws.uniforms(self._name("compute", path), groups))

    def demand(self, laws: Mapping[str, Law], *path: int) -> dict[str, int]:
        """Draw what a kernel asks of each resource."""
        return {
            name: int(law.draw(self._draws.uniforms(self._name(f"demand {name}", path), 1))[0])
            for name, law in laws.items()
        }

    def instructions(self, kind: Instructions | None, waves: int, cycles: np.ndarray, *path: int) -> tuple[int, ...]:
        """Draw what each group of a phase executes, by class, as a group that takes the mean of its cycles."""
        if kind is None:
            return NO_INSTRUCTIONS
        streams = self._draws.within(self._name("instructions", path))
        mean = np.array([round(float(cycles.mean()))], np.int64)
        (counts,) = kind.counts(np.array([waves], np.int64), mean, np.array([0.5]), streams)
        return tuple(counts.tolist())

    def _name(self, what: str, path: tuple[int, ...]) -> str:
        return f"{what} {'/'.join(map(str, (self.number, *path)))}"


class StreamPlan:
    """A stream of a plan."""

    def __init__(self, plan: Plan, number: int) -> None:
        self.number = number
        self.steps: list[Step] = []
        self._plan = plan
        self._kernels = 0

    def allocate(self, size: int) -> int:
        """Ask for a tensor of so many bytes; return its number."""
        tensor = self._plan.next_tensor()
        self.steps.append(Allocate(tensor, size))
        return tensor

    def free(self, *tensors: int) -> None:
        """Give tensors back, one after the other."""
        self.steps += map(Free, tensors)

    def launch(
        self,
        groups: int,
        cycles: Law,
        touches: Sequence[Touch] = (),
        mallocs: Sequence[int] = (),
        phases: int = 1,
        waves: int = 4,
        demand: Mapping[str, Law] | None = None,
        instructions: Instructions | None = None,
        **more: Any,
    ) -> None:
        """Put a kernel forward, all of whose phases are alike but for what is drawn; its demand is drawn by laws."""
        each = list[Phase]()
        for phase in range(phases):
            path = self.number, self._kernels, phase
            drawn = self._plan.cycles(cycles, groups, *path)
            executed = self._plan.instructions(instructions, waves, drawn, *path)
            each.append(Phase(drawn, tuple(touches), tuple(mallocs), executed))
        blocks = self._plan.demand(demand or {}, self.number, self._kernels)
        self._kernels += 1
        self.steps.append(Launch(Kernel(groups, tuple(each), waves, blocks, **more)))

    def wait_for(self, other: StreamPlan) -> None:
        """Wait until another stream has done all that it has been given so far."""
        self.steps.append(Wait(other.number, len(other.steps)))
