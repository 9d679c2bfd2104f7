"""A recorded program on a whole node: its tensors, kernels and streams as an application (spec 6, R8).

A profile of PyTorch with memory events (Kineto) tells allocations, releases, kernels, streams and times. How that
becomes an application is a model, each part of which is a lever or stated here:

- A recorded stream is a stream; its steps are in the order in which the host asked for them: a kernel when it was
  launched, memory when it was allocated or released. The host's own pauses are left out, and so are events by which
  streams wait for each other, of which the profile tells nothing: a kernel waits for its stream and for its tensors.
- What was allocated belongs to the stream of the next kernel that its thread launches.
- Which tensors a kernel touches the profile does not say: `touched` is the rule. By default it touches the tensors that
  were allocated under the operator that launched it and are alive, the youngest first; where there are none the
  youngest live tensors of its stream. What rests on it is a model, not a recording. Every group touches `pattern` of
  each.
- Groups, what they hold and how long they compute are as in `trace_groups`. Memory time is thus in the compute, and
  what is touched costs translation and links on top of it.
- A profile tells nothing of allocations on the device; `malloc_bytes` lets a lane of every wave ask for so many.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import code_of, lever
from workbench.streams import Streams
from workbench.workloads.application import Application, Applications, Kernel, Launch, Pattern, Phase, Touch
from workbench.workloads.application_check import check_applications
from workbench.workloads.application_plan import Plan, StreamPlan
from workbench.workloads.importers.kineto_events import NOBODY
from workbench.workloads.importers.kineto_operators import Operators, launched, operators_of
from workbench.workloads.pool_requests import gpus_of
from workbench.workloads.recorded import RecordedKernels, TraceFile
from workbench.workloads.trace_groups import MOST_GROUPS, KernelGroups, TraceGroups, kernel_groups

BY_OPERATOR, BY_YOUTH, BY_NOTHING = range(3)
FACTS = {
    BY_OPERATOR: "kernels_by_operator",
    BY_YOUTH: "kernels_by_youngest",
    BY_NOTHING: "kernels_touching_nothing",
}


class TraceApplications(RecordedKernels):
    """The program of a recorded profile, once on each of `ranks` GPUs, as data-parallel ranks would run it.

    References
    ----------
    spec 6, R8: from real traces.
    """

    more_seeds: ClassVar[str] = ""

    touched: Literal["operator", "youngest", "none"] = lever(
        "operator",
        description="which tensors a kernel touches: those that were allocated under the operator that launched it and "
        "are alive, else the youngest of its stream; the youngest of its stream; none",
    )
    most_tensors: int = lever(3, least=1, most=64, unit="tensors", description="that a kernel touches, the youngest")
    pattern: Pattern = lever("slice", description="which bytes of each a group touches (spec 6, R7)")
    before: Literal["ask", "leave_out"] = lever(
        "ask", description="whether tensors that were live before the profile are asked for at its beginning"
    )
    ranks: int = lever(1, least=1, most=64, unit="GPUs", description="how many GPUs the same program runs on")
    rank_shift_us: float = lever(
        0.0, least=0, most=1e9, unit="microseconds", description="how much later each rank begins than the one before"
    )
    most_a_kernel: int = lever(0, least=0, most=MOST_GROUPS, unit="groups", description="most groups a kernel; 0 = all")
    skip: int = lever(
        0,
        least=0,
        most=1 << 40,
        unit="kernels",
        description="launches at the beginning that are left out; memory is not",
    )
    count: int = lever(0, least=0, most=1 << 40, unit="kernels", description="so many launches; 0 = all")
    malloc_bytes: int = lever(
        0,
        least=0,
        most=1 << 30,
        unit="bytes",
        description="that a lane of every wave asks its device heap for; 0 = nothing",
    )

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes of results that rest on it."""
        if self.touched == "none":
            return (f"{self.trace}: its kernels touch no tensor (touched: none), so translation and links do nothing.",)
        return (
            f"{self.trace}: a profile does not say which kernel touches which tensor; what translation and links do "
            f"rests on the rule `touched: {self.touched}`.",
        )

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        gpus = len(gpus_of(machine))
        if self.ranks > gpus:
            expected = f"must be at most the GPUs of the board ({gpus})"
            raise wrong_value(where, f"{path or self.name}.ranks", expected, self.ranks, gpus)
        try:
            self._recorded(machine)
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return the ranks.

        Raises
        ------
        InputError
            The trace cannot be read, is of another kind, lacks what is needed, or a group fits no empty module.
        """
        self.check_machine(machine)
        first = self._recorded(machine).application
        shift = round(self.rank_shift_us * machine.card.clock_mhz)
        ranks = tuple(
            Application(first.streams, home=rank, priority=first.priority, arrival=rank * shift)
            for rank in range(self.ranks)
        )
        check_applications(ranks[:1])
        return ranks

    def facts(self, machine: Any) -> dict[str, int]:
        """Return the numbers of kernels, groups and tensors of a rank, and the rule by which kernels touch theirs."""
        return dict(self._recorded(machine).facts)

    def _recorded(self, machine: Any) -> _Recorded:
        alike = self.but(ranks=1, rank_shift_us=0.0)
        return _recorded(alike, machine.card, self.trace_file(), code_of(alike, machine))

    def as_groups(self) -> TraceGroups:
        """Return the workload whose groups are those of the kernels."""
        same = ("trace", "sha256", "device", "shared_bytes", "grids", "duration_rule", "longest_us", "most_a_kernel")
        return TraceGroups(**{name: getattr(self, name) for name in same}, incomplete="skip", unrecorded="none")


class _Recorded(NamedTuple):
    """The program of a trace on a machine."""

    application: Application
    facts: dict[str, int]


@lru_cache(maxsize=4)
def _recorded(spec: TraceApplications, card: Any, file: TraceFile, code: tuple[str, ...]) -> _Recorded:
    """Return the program; kept for the next run of the same."""
    groups = spec.as_groups()
    kernels = kernel_groups(groups, card, groups.trace_file(), code)
    operators = operators_of(file.path, file.sha256)
    _refuse_other_kinds(spec, kernels, len(operators.kernels), operators.memory)
    program = Program(operators, kernels.launches.device, spec.touched, spec.most_tensors, spec.before == "ask")
    writer = _Writer(spec, kernels, program)
    for ask in program.asks(spec.count, spec.skip):
        writer.write(ask)
    return _Recorded(writer.plan.application(), writer.facts())


def _refuse_other_kinds(spec: TraceApplications, kernels: KernelGroups, rows: int, memory: np.ndarray) -> None:
    """Refuse a trace that is no Kineto profile with memory events and addresses."""
    if not rows:
        raise InputError(f"{spec.trace}: holds no kernel of a Kineto profile, which alone tells operators.")
    if not (memory[:, 0] == kernels.launches.device).any():
        cure = "record it with torch.profiler.profile(profile_memory=True)"
        raise InputError(f"{spec.trace}: holds no memory events of device {kernels.launches.device}; {cure}.")
    if (memory[:, 3] < 0).any():
        raise InputError(f"{spec.trace}: its memory events have no addresses, so nobody knows what is released.")


class _Writer:
    """Writes the application down, ask by ask."""

    def __init__(self, spec: TraceApplications, kernels: KernelGroups, program: Program) -> None:
        self.plan = Plan(0, Streams(0))
        self._spec, self._kernels = spec, kernels
        self._streams: dict[int, StreamPlan] = {stream: self.plan.stream() for stream in program.streams}
        self._tensors: dict[int, int] = {}
        self._row_of = _rows_of(kernels, program)
        self._counts: Counter[str] = Counter()

    def write(self, ask: Ask) -> None:
        """Write a step down."""
        stream = self._streams[ask.stream]
        if ask.allocates is not None:
            self._tensors[ask.allocates.number] = stream.allocate(ask.allocates.bytes)
            self._counts["allocations"] += 1
        elif ask.launches < 0:
            stream.free(self._tensors[ask.frees])
            self._counts["frees"] += 1
        elif self._row_of[ask.launches] >= 0:
            self._launch(stream, ask, int(self._row_of[ask.launches]))
        else:
            self._counts["kernels_left_out"] += 1

    def _launch(self, stream: StreamPlan, ask: Ask, row: int) -> None:
        groups, count = self._kernels.groups, int(self._kernels.taken[row])
        launch = int(self._kernels.rows[row])
        touches = tuple(Touch(self._tensors[number], self._spec.pattern) for number in ask.touches)
        mallocs = (self._spec.malloc_bytes,) if self._spec.malloc_bytes else ()
        phase = Phase(np.full(count, groups.duration[launch]), touches, mallocs)
        demand = {label: int(blocks[launch]) for label, blocks in groups.demand.items()}
        stream.steps.append(Launch(Kernel(count, (phase,), int(groups.waves[launch]), demand)))
        self._counts.update({"kernels": 1, "groups": count, FACTS[ask.by]: 1})

    def facts(self) -> dict[str, int]:
        """Return the recorded facts, in numbers."""
        names = ("kernels", *FACTS.values(), "kernels_left_out", "groups", "allocations", "frees")
        return {"streams": len(self._streams), **{name: self._counts[name] for name in names}}


def _rows_of(kernels: KernelGroups, program: Program) -> np.ndarray:
    """Return the row of each recorded kernel among those of which groups are taken, -1 = none: by stream and start."""
    launches, rows = kernels.launches, defaultdict[tuple[int, int], deque[int]](deque)
    assert launches.stream is not None
    for row, launch in enumerate(kernels.rows.tolist()):
        rows[int(launches.stream[launch]), int(launches.start_ns[launch])].append(row)
    places = zip(program.kernel_streams.tolist(), program.starts.tolist(), strict=True)
    return np.array([rows[place].popleft() if rows[place] else -1 for place in places], np.int64)


Rule = Literal["operator", "youngest", "none"]


class Tensor(NamedTuple):
    """A tensor of a card, from its allocation to its release."""

    number: int
    bytes: int
    thread: int
    stream: int
    begin: int
    """Nanoseconds; before all else of one that was live when the recording began."""


class Ask(NamedTuple):
    """One thing that the host asks for; one of the three is given."""

    stream: int
    allocates: Tensor | None = None
    frees: int = NOBODY
    """The number of a tensor."""
    launches: int = NOBODY
    """The kernel, in the order of the file among those of its card."""
    touches: tuple[int, ...] = ()
    by: int = BY_NOTHING


class Program:
    """What the host of one card asks for.

    Parameters
    ----------
    operators : Operators
        Of the whole recording.
    device : int
        The card.
    rule : {"operator", "youngest", "none"}
        Which tensors a kernel touches.
    most : int
        How many at most.
    before : bool
        Whether what was live before the recording, and is given back in it, is asked for at its beginning.
    """

    def __init__(self, operators: Operators, device: int, rule: Rule, most: int, before: bool) -> None:
        of_card = operators.kernels[:, 0] == device
        self._kernels = operators.kernels[of_card]
        self._launched = tuple(column[of_card] for column in launched(operators))
        self._memory = operators.memory[operators.memory[:, 0] == device]
        self._rule, self._most, self._before = rule, most, before
        self.streams = list(dict.fromkeys(self._kernels[np.argsort(self._kernels[:, 2], kind="stable"), 1].tolist()))
        """The recorded streams, in the order of their first kernels."""
        self.starts = self._kernels[:, 2]
        """int64[kernels], nanoseconds, of the kernels in the order of the file."""
        self.kernel_streams = self._kernels[:, 1]

    def asks(self, most_kernels: int = 0, skipped: int = 0) -> Iterator[Ask]:
        """Yield the requests in the order of the host's clock, but for the first kernels that are skipped; with a limit
        up to so many kernels."""
        live: dict[int, Tensor] = {}
        numbers = 0
        if self._before:
            for tensor in self._from_before():
                live[tensor.number], numbers = tensor, numbers + 1
                yield Ask(tensor.stream, allocates=tensor)
        at_address = {address: number for number, address in enumerate(self._addresses_before)} if self._before else {}
        stream_of, kernels = self._streams_of_allocations(), 0
        for _, kernel, memory in self._events():
            if kernel != NOBODY:
                kernels += 1
                if kernels > skipped:
                    yield self._launch(kernel, live)
                if 0 < most_kernels == kernels - skipped:
                    return
                continue
            _, thread, time, address, size = self._memory[memory].tolist()
            if size > 0:
                tensor = Tensor(numbers, size, thread, int(stream_of[memory]), time)
                live[numbers], at_address[address], numbers = tensor, numbers, numbers + 1
                yield Ask(tensor.stream, allocates=tensor)
            elif address in at_address:
                tensor = live.pop(at_address.pop(address))
                yield Ask(tensor.stream, frees=tensor.number)

    def _events(self) -> list[tuple[int, int, int]]:
        """Return (time, kernel, memory event) by time; what is allocated at the same time comes before the launch."""
        memory = [(at, NOBODY, number) for number, at in enumerate(self._memory[:, 2].tolist())]
        return sorted(memory + [(at, number, NOBODY) for number, at in enumerate(self._launched[1].tolist())])

    def _from_before(self) -> list[Tensor]:
        """Return the tensors that are given back without having been allocated."""
        known: set[int] = set()
        tensors: list[Tensor] = []
        self._addresses_before: list[int] = []
        first = int(self._memory[0, 2]) if len(self._memory) else 0
        for _, thread, _, address, size in self._memory.tolist():
            if size > 0:
                known.add(address)
            elif address in known:
                known.discard(address)
            elif size < 0:
                tensors.append(Tensor(len(tensors), -size, thread, self.streams[0], first - 1))
                self._addresses_before.append(address)
        return tensors

    def _streams_of_allocations(self) -> np.ndarray:
        """Return the stream of each memory event: that of the next kernel that its thread launches, else the first."""
        thread, at, _ = self._launched
        result = np.full(len(self._memory), self.streams[0] if self.streams else 0)
        for number in np.unique(thread[thread != NOBODY]).tolist():
            own = np.flatnonzero(thread == number)
            own = own[np.argsort(at[own], kind="stable")]
            events = np.flatnonzero(self._memory[:, 1] == number)
            following = np.searchsorted(at[own], self._memory[events, 2])
            known = following < len(own)
            result[events[known]] = self._kernels[own[following[known]], 1]
        return result

    def _launch(self, kernel: int, live: dict[int, Tensor]) -> Ask:
        """Return the launch of a kernel with the tensors that it touches by the rule."""
        stream = int(self._kernels[kernel, 1])
        thread, _, begin = (int(column[kernel]) for column in self._launched)
        if self._rule == "operator" and begin != NOBODY:
            under = self._youngest(live, lambda it: it.begin >= begin and it.thread == thread, begin)
            if under:
                return Ask(stream, launches=kernel, touches=under, by=BY_OPERATOR)
        if self._rule != "none":
            youngest = self._youngest(live, lambda it: it.stream == stream)
            if youngest:
                return Ask(stream, launches=kernel, touches=youngest, by=BY_YOUTH)
        return Ask(stream, launches=kernel)

    def _youngest(
        self, live: dict[int, Tensor], is_one: Callable[[Tensor], bool], since: int = NOBODY
    ) -> tuple[int, ...]:
        """Return the youngest live tensors of a kind, no older than a time."""
        numbers: list[int] = []
        for tensor in reversed(live.values()):
            if len(numbers) == self._most or tensor.begin < since:
                break
            if is_one(tensor):
                numbers.append(tensor.number)
        return tuple(numbers)
