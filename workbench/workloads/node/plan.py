"""How a generator writes an application down: one call a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.streams import Streams
from workbench.workloads.node.application import Allocate, Application, Free, Kernel, Launch, Phase, Step, Touch, Wait
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
        return law.draw(self._draws.uniforms(f"compute {'/'.join(map(str, (self.number, *path)))}", groups))


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
        **more: Any,
    ) -> None:
        """Put a kernel forward, all of whose phases are alike but for what is drawn."""
        drawn = [self._plan.cycles(cycles, groups, self.number, self._kernels, phase) for phase in range(phases)]
        each = tuple(Phase(one, tuple(touches), tuple(mallocs)) for one in drawn)
        self._kernels += 1
        self.steps.append(Launch(Kernel(groups, each, **more)))

    def wait_for(self, other: StreamPlan) -> None:
        """Wait until another stream has done all that it has been given so far."""
        self.steps.append(Wait(other.number, len(other.steps)))
