"""What applications ask of a whole node: streams of steps and their kernels, as values (spec 6, section 4, R5 to R7).

A generator writes an application down with a `Plan`, one call a step. What is refused before anything runs is said in
one sentence, with the step that is wrong (`check_applications`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import Law

if TYPE_CHECKING:
    from workbench.workloads.synthetic.instructions import Instructions


Pattern = Literal["slice", "halo", "shared", "gather", "stride"]
PATTERNS: tuple[str, ...] = get_args(Pattern)
NO_INSTRUCTIONS = (0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Touch:
    """A tensor that the groups of a phase touch, and which of its bytes each group does, whatever its pages are.

    With B bytes and G groups, `slice` of group g is bytes floor(gB/G) to floor((g+1)B/G) - 1; `halo` adds `halo` bytes
    on each side, cut at the ends; `shared` is all of them; `stride` is `count` elements of `element_bytes` E, which
    begin at (g + k `stride`) E mod B for k < `count`; `gather` draws `count` elements by Zipf(`skew`), in a permutation
    that is drawn once a tensor. An element is cut at the tensor's end. What a group touches are the pages that hold one
    of its bytes, in the order of first use; what of it passes a link are the distinct lines that do.

    >>> Touch(0, "halo", halo=16384)
    Touch(tensor=0, pattern='halo', halo=16384, stride=1, count=4, element_bytes=128, skew=1.0, bytes=None)
    """

    tensor: int
    """The tensor's number among its application's."""
    pattern: Pattern = "slice"
    halo: int = 1
    """Bytes on each side."""
    stride: int = 1
    """Elements from one to the next."""
    count: int = 4
    """Elements of a group, of `stride` and `gather`."""
    element_bytes: int = 128
    skew: float = 1.0
    """Of `gather`."""
    bytes: int | None = None
    """That a group moves; without it the lines that it touches."""


@dataclass(frozen=True, eq=False)
class Phase:
    """What the groups of a kernel do between two answers: they compute, then they touch and allocate."""

    cycles: np.ndarray
    """int64[groups], cycles of compute."""
    touches: tuple[Touch, ...] = ()
    mallocs: tuple[int, ...] = ()
    """Bytes that the lanes of a wave ask the device heap for in one call; every wave asks for the same."""
    instructions: tuple[int, ...] = NO_INSTRUCTIONS
    """Of a whole group, by class (spec 3, R78)."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel: how many groups, what each holds while it runs, and its phases."""

    groups: int
    phases: tuple[Phase, ...]
    waves: int = 4
    demand: Mapping[str, int] = field(default_factory=dict)
    """Blocks by the name of a resource: a wave's of a unit's resource, a group's of a module's."""
    independent: bool = False
    """Whether the waves of a group may run apart."""
    names: tuple[int, ...] = ()
    """Tensors that it names beside those that it touches."""

    @property
    def tensors(self) -> tuple[int, ...]:
        """Return the tensors that the kernel names, each once, in the order in which it first touches them."""
        touched = (touch.tensor for phase in self.phases for touch in phase.touches)
        return tuple(dict.fromkeys((*touched, *self.names)))


@dataclass(frozen=True)
class Allocate:
    """Ask the pool for a tensor."""

    tensor: int
    bytes: int


@dataclass(frozen=True)
class Free:
    """Give a tensor back."""

    tensor: int


@dataclass(frozen=True)
class Launch:
    """Put a kernel forward when the step before it has ended and its tensors are granted."""

    kernel: Kernel


@dataclass(frozen=True)
class Wait:
    """Wait until another stream of the application has ended so many of its steps."""

    stream: int
    steps: int


Step = Allocate | Free | Launch | Wait


@dataclass(frozen=True)
class Application:
    """A process: where and when it starts, how urgent it is, and what its streams do, each in order."""

    streams: tuple[tuple[Step, ...], ...]
    home: int = 0
    """The place of its card among the board's GPUs."""
    priority: int = 1
    """1 = the most urgent."""
    arrival: int = 0
    """The cycle at which its streams begin."""

    def steps(self, kind: type) -> list[Step]:
        """Return all steps of one kind, stream by stream."""
        return [step for stream in self.streams for step in stream if isinstance(step, kind)]


Applications = tuple[Application, ...]
"""What runs on a node, in the order of the applications' numbers."""


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
        asked = self._plan.demand(demand or {}, self.number, self._kernels)
        self._kernels += 1
        self.steps.append(Launch(Kernel(groups, tuple(each), waves, asked, **more)))

    def wait_for(self, other: StreamPlan) -> None:
        """Wait until another stream has done all that it has been given so far."""
        self.steps.append(Wait(other.number, len(other.steps)))


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
        There is none; a number is no whole one, too small, or too large to be counted; a kernel names a tensor that is
        never allocated, touches an empty one, or has no group, wave or phase; a touch has a pattern that there is not;
        a tensor is allocated twice, or freed without having been allocated; streams wait for each other in a circle.
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
