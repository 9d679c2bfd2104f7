"""The check of applications: one that cannot run is refused in one sentence, which names the step that is wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.workloads.application import (
    NO_INSTRUCTIONS,
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

MOST_CYCLES, MOST_BYTES = 1 << 55, 1 << 42
"""That all groups compute together; of a tensor."""
MOST_ELEMENTS, MOST_ELEMENT_BYTES, MOST_SPAN = 1 << 20, 1 << 30, 1 << 62
"""Of a touch of a group; of each; over which a stride reaches."""
CLASSES = len(NO_INSTRUCTIONS)


def check_applications(applications: Applications, where: str = "") -> None:
    """Refuse applications that cannot run whatever the policies are.

    Raises
    ------
    InputError
        There is none; a number is no whole one, too small, or too large to be counted. A kernel names a tensor that is
        never allocated, touches an empty one, or has no group, wave or phase; a touch has an unknown pattern. A tensor
        is allocated twice, or freed without having been allocated; streams wait for each other in a circle.
    """
    if not applications:
        raise InputError(f"{where}a node runs at least one application. Got none.")
    for number, application in enumerate(applications):
        whose = f"{where}application {number}"
        for name, least, most in (("home", 0, None), ("priority", 1, None), ("arrival", 0, MOST_CYCLES)):
            _check_whole(whose, name, getattr(application, name), least, most)
        _check_tensors(application, whose)
        _check_waits(application, whose)
    steps = (step for application in applications for stream in application.streams for step in stream)
    phases = (phase for step in steps if isinstance(step, Launch) for phase in step.kernel.phases)
    cycles = sum(float(phase.cycles.sum(dtype=np.float64)) for phase in phases)
    if cycles > MOST_CYCLES:
        raise InputError(f"{where}all groups compute for {cycles:.3g} cycles together; at most 2^55 can be counted.")


def _check_whole(place: str, name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse what is no whole number, or out of its range."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        nearest = max(round(value), least) if isinstance(value, float) and math.isfinite(value) else None
        raise wrong_value(place, name, "must be a whole number", value, nearest)
    if value < least:
        raise wrong_value(place, name, f"must be a whole number of at least {least}", value, least)
    if most is not None and value > most:
        raise wrong_value(place, name, f"must be a whole number of at most {most}", value, most)


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
            _check_whole(place, "bytes", step.bytes, 0, MOST_BYTES)
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
    _check_whole(place, "groups", kernel.groups, 1)
    _check_whole(place, "waves", kernel.waves, 1)
    for label, blocks in kernel.demand.items():
        _check_whole(place, f"demand[{label!r}]", blocks, 0, MOST_BYTES)
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
    cycles = np.asarray(phase.cycles)
    if cycles.shape != (kernel.groups,):
        raise wrong_value(place, "cycles", f"must be a number for each of the {kernel.groups} groups", cycles.size)
    if cycles.dtype.kind not in "iu":
        beginning = f"{cycles.dtype}: {', '.join(map(str, cycles[:3].tolist()))}"
        raise InputError(f"{place}: cycles must be an array of whole numbers. Got {beginning}.")
    if (cycles < 0).any():
        raise wrong_value(place, "cycles", "must be whole numbers of at least 0", int(cycles.min()), 0)
    if (cycles > MOST_CYCLES).any():
        raise wrong_value(
            place, "cycles", f"must be whole numbers of at most {MOST_CYCLES}", int(cycles.max()), MOST_CYCLES
        )
    if len(phase.instructions) != CLASSES:
        raise wrong_value(
            place, "instructions", f"must be a number for each of the {CLASSES} classes", len(phase.instructions)
        )
    for number, count in enumerate(phase.instructions):
        _check_whole(place, f"instructions[{number}]", count, 0, MOST_CYCLES)
    for number, touch in enumerate(phase.touches):
        _check_touch(touch, kernel.groups, f"{place}, touch {number}")
    for size in phase.mallocs:
        _check_whole(place, "mallocs", size, 1, MOST_BYTES)


def _check_touch(touch: Touch, groups: int, place: str) -> None:
    if touch.pattern not in PATTERNS:
        raise unknown_name(place, "pattern", touch.pattern, PATTERNS)
    _check_whole(place, "halo", touch.halo, 0, MOST_BYTES)
    _check_whole(place, "stride", touch.stride, 0)
    _check_whole(place, "count", touch.count, 1, MOST_ELEMENTS)
    _check_whole(place, "element_bytes", touch.element_bytes, 1, MOST_ELEMENT_BYTES)
    if touch.bytes is not None:
        _check_whole(place, "bytes", touch.bytes, 0, MOST_BYTES)
    if not 0 <= touch.skew < math.inf:
        raise wrong_value(place, "skew", "must be a number of at least 0", touch.skew, 0)
    reach = (groups + touch.count * touch.stride) * touch.element_bytes
    if touch.pattern == "stride" and reach > MOST_SPAN:
        raise InputError(f"{place} strides over {reach} bytes; at most 2^62 can be counted.")


def _check_waits(application: Application, whose: str) -> None:
    """Refuse waits that nothing can end: let every stream go on until none can."""
    streams = application.streams
    for place, step in _places(application, whose):
        if isinstance(step, Wait):
            _check_whole(place, "wait", step.stream, 0)
            _check_whole(place, "steps of wait", step.steps, 0)
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
