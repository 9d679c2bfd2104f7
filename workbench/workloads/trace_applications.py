"""A recorded program on a whole node: its tensors, kernels and streams as an application (spec 6, R8).

A profile of PyTorch with memory events (Kineto) tells allocations, releases, kernels, streams and times. How that
becomes an application is a model, each part of which is a lever or stated here:

- A recorded stream is a stream; its steps are in the order in which the host asked for them: a kernel when it was
  launched, memory when it was allocated or released. The host's own pauses are left out, and so are events by which
  streams wait for each other, of which the profile tells nothing: a kernel waits for its stream and for its tensors.
- What was allocated belongs to the stream of the next kernel that its thread launches.
- Which tensors a kernel touches the profile does not say: `touched` is the rule, and what rests on it is a model. Every
  group touches `pattern` of each.
- Groups, what they hold and how long they compute are as in `trace_groups`. Memory time is thus in the compute, and
  what is touched costs translation and links on top of it.
- A profile tells nothing of allocations on the device; `malloc_bytes` lets a lane of every wave ask for so many.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import code_of, lever
from workbench.streams import Streams
from workbench.workloads.importers.kineto_events import operators_of
from workbench.workloads.kernel_groups import KernelGroups, kernel_groups
from workbench.workloads.node import Application, Applications, Kernel, Launch, Phase, Plan, Touch, check_applications
from workbench.workloads.node.application import Pattern
from workbench.workloads.node.plan import StreamPlan
from workbench.workloads.pool_cards import gpus_of
from workbench.workloads.recorded import RecordedKernels, TraceFile
from workbench.workloads.recorded_program import BY_NOTHING, BY_OPERATOR, BY_YOUTH, Ask, Program
from workbench.workloads.trace_groups import MOST_GROUPS, TraceGroups

KINETO = "kineto"
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
    duration_rule: Literal["waves", "whole"] = lever(
        "waves", description="a group's compute: its kernel's over the rounds that the card needs, or all of it"
    )
    longest_us: float = lever(
        0, least=0, most=1e12, unit="microseconds", description="longer kernels are left out; 0 = none are"
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
        """Return what results that rest on it say."""
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
        """Return how many kernels, groups and tensors a rank has, and by which rule kernels touch theirs."""
        return dict(self._recorded(machine).facts)

    def _recorded(self, machine: Any) -> _Recorded:
        alike = self.but(ranks=1, rank_shift_us=0.0)
        return _recorded(alike, machine.card, self.found(), code_of(alike, machine))

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
    kernels = kernel_groups(groups, card, groups.found(), code)
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
        """Return what was written down, in numbers."""
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
