"""What applications are refused before anything runs: one sentence each, with the step that is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import InputError, wrong_value
from workbench.workloads.node.application import Allocate, Application, Applications, Free, Kernel, Launch, Step, Wait


def check_applications(applications: Applications, where: str = "") -> None:
    """Refuse applications that cannot run whatever the policies are.

    Raises
    ------
    InputError
        A kernel names a tensor that is never allocated, touches an empty one, or has no group or phase; a tensor is
        allocated twice, or freed without having been allocated; streams wait for each other in a circle.
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
    if not kernel.phases:
        raise InputError(f"{place} launches a kernel without a phase; give it at least one.")
    for tensor in kernel.tensors:
        if tensor not in sizes:
            raise InputError(f"{place} launches a kernel that names tensor {tensor}, which is never allocated.")
        if sizes[tensor] == 0:
            raise InputError(f"{place} launches a kernel that touches tensor {tensor}, which has no bytes.")


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
    done = [0] * len(streams)
    while any(_goes_on(streams, done, stream) for stream in range(len(streams))):
        pass
    stuck = [stream for stream, steps in enumerate(streams) if done[stream] < len(steps)]
    if stuck:
        names = " and ".join(f"stream {stream} (step {done[stream]})" for stream in stuck)
        raise InputError(f"{whose}: {names} wait for each other for ever.")


def _goes_on(streams: tuple[tuple[Step, ...], ...], done: list[int], stream: int) -> bool:
    """Let a stream do what it can; return whether it did anything."""
    began = done[stream]
    for step in streams[stream][began:]:
        if isinstance(step, Wait) and done[step.stream] < step.steps:
            break
        done[stream] += 1
    return done[stream] > began
