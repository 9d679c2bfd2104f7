"""What applications are refused before anything runs: one sentence each, with the step that is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.workloads.node.application import (
    PATTERNS,
    Allocate,
    Application,
    Applications,
    Free,
    Kernel,
    Launch,
    Phase,
    Step,
    Touch,
    Wait,
)


def check_applications(applications: Applications, where: str = "") -> None:
    """Refuse applications that cannot run whatever the policies are.

    Raises
    ------
    InputError
        A kernel names a tensor that is never allocated, touches an empty one, or has no group, wave or phase; a touch
        has a pattern that there is not; a tensor is allocated twice, or freed without having been allocated; streams
        wait for each other in a circle.
    """
    for number, application in enumerate(applications):
        _check_tensors(application, f"{where}application {number}")
        _check_waits(application, f"{where}application {number}")


def _places(application: Application, whose: str) -> Iterator[tuple[str, Step]]:
    for stream, steps in enumerate(application.streams):
        for number, step in enumerate(steps):
            yield f"{whose}, stream {stream}, step {number}", step


def _check_tensors(application: Application, whose: str) -> None:
    sizes: dict[int, int] = {}
    for place, step in _places(application, whose):
        if isinstance(step, Allocate):
            if step.tensor in sizes:
                raise InputError(f"{place} allocates tensor {step.tensor}, which is allocated already.")
            if step.bytes < 0:
                raise wrong_value(place, "bytes", "must be a whole number of at least 0", step.bytes, 0)
            sizes[step.tensor] = step.bytes
    freed: set[int] = set()
    for place, step in _places(application, whose):
        if isinstance(step, Free):
            if step.tensor not in sizes or step.tensor in freed:
                why = "is freed already" if step.tensor in freed else "is never allocated"
                raise InputError(f"{place} frees tensor {step.tensor}, which {why}.")
            freed.add(step.tensor)
        elif isinstance(step, Launch):
            _check_kernel(step.kernel, sizes, place)


def _check_kernel(kernel: Kernel, sizes: dict[int, int], place: str) -> None:
    if kernel.groups < 1:
        raise wrong_value(place, "groups", "must be a whole number of at least 1", kernel.groups, 1)
    if kernel.waves < 1:
        raise wrong_value(place, "waves", "must be a whole number of at least 1", kernel.waves, 1)
    if not kernel.phases:
        raise InputError(f"{place} launches a kernel without a phase; give it at least one.")
    for number, phase in enumerate(kernel.phases):
        _check_phase(kernel, phase, f"{place}, phase {number}")
    for tensor in kernel.tensors:
        if tensor not in sizes:
            raise InputError(f"{place} launches a kernel that names tensor {tensor}, which is never allocated.")
        if sizes[tensor] == 0:
            raise InputError(f"{place} launches a kernel that touches tensor {tensor}, which has no bytes.")


def _check_phase(kernel: Kernel, phase: Phase, place: str) -> None:
    if phase.cycles.size != kernel.groups:
        raise wrong_value(
            place, "cycles", f"must be a number for each of the {kernel.groups} groups", phase.cycles.size
        )
    if (phase.cycles < 0).any():
        raise wrong_value(place, "cycles", "must be whole numbers of at least 0", int(phase.cycles.min()), 0)
    for number, touch in enumerate(phase.touches):
        _check_touch(touch, f"{place}, touch {number}")
    for size in phase.mallocs:
        if size < 1:
            raise wrong_value(place, "mallocs", "must be whole numbers of at least 1", size, 1)


def _check_touch(touch: Touch, place: str) -> None:
    if touch.pattern not in PATTERNS:
        raise unknown_name(place, "pattern", touch.pattern, PATTERNS)
    for name, least in (("halo", 0), ("stride", 0), ("count", 1), ("element_bytes", 1), ("skew", 0)):
        value = getattr(touch, name)
        if not value >= least:
            raise wrong_value(place, name, f"must be a number of at least {least}", value, least)


def _check_waits(application: Application, whose: str) -> None:
    """Refuse waits that nothing can end: let every stream go on until none can."""
    streams = application.streams
    for place, step in _places(application, whose):
        if isinstance(step, Wait) and not 0 <= step.stream < len(streams):
            raise wrong_value(place, "wait", f"must name a stream from 0 to {len(streams) - 1}", step.stream)
        if isinstance(step, Wait) and step.steps > len(streams[step.stream]):
            most = len(streams[step.stream])
            raise wrong_value(
                place, "wait", f"must be for at most the {most} steps of stream {step.stream}", step.steps
            )
    order = _Order(application)
    while any(order.go_on(stream) for stream in range(len(streams))):
        pass
    if order.stuck():
        names = " and ".join(f"stream {stream} (step {order.done[stream]})" for stream in order.stuck())
        whom = "each other" if len(order.stuck()) > 1 else "what comes behind in it"
        raise InputError(f"{whose}: {names} would wait for {whom} for ever.")


class _Order:
    """How far each stream of an application comes when nothing but its own order holds it back."""

    def __init__(self, application: Application) -> None:
        self.streams = application.streams
        self.done = [0] * len(application.streams)
        self.allocated = set[int]()
        named = [tensor for one in application.steps(Launch) for tensor in one.kernel.tensors]  # type: ignore[union-attr]
        self.users = Counter(named)
        """Kernels that name a tensor and have not ended."""

    def stuck(self) -> list[int]:
        """Return the streams that have steps left."""
        return [stream for stream, steps in enumerate(self.streams) if self.done[stream] < len(steps)]

    def go_on(self, stream: int) -> bool:
        """Let a stream do what it can; return whether it did anything."""
        began = self.done[stream]
        for step in self.streams[stream][began:]:
            if not self._can_end(step):
                break
            self.done[stream] += 1
            self._end(step)
        return self.done[stream] > began

    def _can_end(self, step: Step) -> bool:
        if isinstance(step, Wait):
            return self.done[step.stream] >= step.steps
        if isinstance(step, Free):
            return step.tensor in self.allocated and not self.users[step.tensor]
        return not isinstance(step, Launch) or self.allocated.issuperset(step.kernel.tensors)

    def _end(self, step: Step) -> None:
        if isinstance(step, Allocate):
            self.allocated.add(step.tensor)
        elif isinstance(step, Launch):
            self.users.subtract(step.kernel.tensors)
