"""What applications ask of a node, as columns of whole numbers: each table with where the rows of the next one begin.

Applications have streams and tensors, streams have steps, kernels have groups and phases, phases have touches and
mallocs. A table of n rows has n + 1 entries in the columns called `first_...`. Calls of malloc are those of every wave
of every group, phase by phase; applications share no heap, so their rows and requests are numbered in each application
from 0, whatever the card.

Who an event is of, K, is (card, application, stream, step, group, wave, phase, touch), packed into two words. Of two
events of one cycle and rank the one whose words are lower comes first (spec 6, R3); absent fields, -1, come before all
others.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.errors import InputError
from workbench.structures.rng import NEAR, sums_of
from workbench.workloads.application import (
    PATTERNS,
    Allocate,
    Application,
    Applications,
    Free,
    Kernel,
    Launch,
    Touch,
    Wait,
)
from workbench.workloads.workload import Mallocs

ALLOCATES, FREES, LAUNCHES, WAITS = range(4)
"""Kinds of steps."""
SLICE, HALO, SHARED, GATHER, STRIDE = range(5)
"""Patterns."""
SMALLEST_PAGE = 4096
ALL_BYTES = -1
"""Of a touch that moves all of its lines."""
MOST_DRAWS = 1 << 20
"""Elements of one touch of a group."""
MOST_LISTED = 1 << 24
"""Pages of these."""


class Plan(NamedTuple):
    """The columns."""

    home: np.ndarray
    """Of each application, the number of its GPU."""
    priority: np.ndarray
    arrival: np.ndarray
    first_stream: np.ndarray
    first_tensor: np.ndarray
    application_of: np.ndarray
    """Of each stream."""
    first_step: np.ndarray
    stream_of: np.ndarray
    """Of each step."""
    kind: np.ndarray
    what: np.ndarray
    """The tensor, kernel or stream of a step."""
    amount: np.ndarray
    """Bytes to be allocated, or steps to be waited for."""
    owner_of: np.ndarray
    """Of each tensor, its application."""
    size: np.ndarray
    """Bytes that are asked for."""
    allocated_by: np.ndarray
    """The step that allocates it."""
    users: np.ndarray
    """Kernels that name it."""
    step_of: np.ndarray
    """Of each kernel."""
    groups: np.ndarray
    waves: np.ndarray
    independent: np.ndarray
    first_group: np.ndarray
    first_phase: np.ndarray
    first_named: np.ndarray
    named: np.ndarray
    """The tensors that kernels name."""
    kernel_of: np.ndarray
    """Of each group."""
    first_cycles: np.ndarray
    """Of each phase, where the cycles of its kernel's groups begin."""
    cycles: np.ndarray
    of_kernel: np.ndarray
    """Of each phase."""
    instructions: np.ndarray
    """Of each phase, six numbers: a whole group's by class."""
    first_touch: np.ndarray
    first_malloc: np.ndarray
    tensor: np.ndarray
    """Of each touch."""
    pattern: np.ndarray
    width: np.ndarray
    """Bytes of a halo on each side, elements from one of a stride to the next."""
    drawn: np.ndarray
    """Elements of a stride or a gather."""
    element: np.ndarray
    """Bytes of each."""
    bytes: np.ndarray
    phase_of: np.ndarray
    first_weight: np.ndarray
    """Of a touch by chance, where the sums of its law begin."""
    weights: np.ndarray
    """float64, sums of Zipf's weights: of each exponent over as many ranks as are stored (`structures.rng`)."""
    skew: np.ndarray
    """float64, of each touch."""
    malloc: np.ndarray
    """Bytes of each malloc."""
    first_call: np.ndarray
    """Of each phase, the number of the first call of malloc of its first group: each wave of a group makes one."""


class Tables:
    """Rows that are being written, column by column."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in Plan._fields}
        self.calls = self.cycles = self.groups = 0

    def add(self, **values: Any) -> None:
        """Add a value to each of these columns."""
        for name, value in values.items():
            self.columns[name].append(value)

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def plan(self) -> Plan:
        """Return the columns as arrays."""
        ends = {
            "first_stream": len(self["application_of"]), "first_tensor": len(self["size"]),
            "first_step": len(self["kind"]), "first_group": sum(self["groups"]),
            "first_phase": len(self["first_touch"]),
            "first_named": len(self["named"]), "first_touch": len(self["tensor"]), "first_malloc": len(self["malloc"]),
        }  # fmt: skip
        for name, end in ends.items():
            self[name].append(end)
        first_weight, weights = _weights(self)
        self.columns |= {"first_weight": first_weight}
        arrays = {name: np.array(values, np.int64) for name, values in self.columns.items() if name not in _WHOLE}
        none = np.zeros(0, np.int64)
        cycles = np.concatenate([none, *(np.asarray(one, np.int64) for one in self["cycles"])])
        kernel_of = np.repeat(np.arange(len(self["groups"])), arrays["groups"])
        skew = np.array(self["skew"], np.float64)
        return Plan(**arrays, cycles=cycles, weights=weights, kernel_of=kernel_of, skew=skew)


_WHOLE = ("cycles", "weights", "kernel_of", "skew")


def _weights(tables: Tables) -> tuple[list[int], np.ndarray]:
    """Return the beginnings of the sums of each touch's law, and all sums: of each exponent those of the largest
    tensor."""
    most: dict[float, int] = {}
    touches = list(zip(tables["skew"], tables["tensor"], tables["pattern"], tables["element"]))
    for skew, tensor, pattern, element in touches:
        if pattern == GATHER:
            most[skew] = min(max(most.get(skew, 1), -(-tables["size"][tensor] // element)), NEAR)
    sums = {skew: sums_of(skew, count) for skew, count in most.items()}
    first = dict(zip(sums, itertools.accumulate(map(len, sums.values()), initial=0)))
    whole = [number for one in sums.values() for number in one]
    return [first.get(skew, 0) for skew, *_ in touches], np.array(whole, np.float64)


def plan_of(applications: Applications) -> Plan:
    """Return the columns of applications that were checked.

    Raises
    ------
    InputError
        There is more of something than K has numbers for.
    """
    tables = Tables()
    for number, application in enumerate(applications):
        _add_application(tables, number, application)
    plan = tables.plan()
    _check_sizes(plan)
    return plan


def _add_application(tables: Tables, number: int, application: Application) -> None:
    first_stream, first_tensor, first_step = (len(tables[name]) for name in ("application_of", "size", "kind"))
    tables.add(home=application.home, priority=application.priority, arrival=application.arrival)
    tables.add(first_stream=first_stream, first_tensor=first_tensor)
    tensors = _tensors(tables, number, application, first_step)
    for stream, steps in enumerate(application.streams):
        tables.add(application_of=number, first_step=len(tables["kind"]))
        for step in steps:
            tables.add(stream_of=first_stream + stream)
            if isinstance(step, Allocate):
                tables.add(kind=ALLOCATES, what=tensors[step.tensor], amount=step.bytes)
            elif isinstance(step, Free):
                tables.add(kind=FREES, what=tensors[step.tensor], amount=0)
            elif isinstance(step, Wait):
                tables.add(kind=WAITS, what=first_stream + step.stream, amount=step.steps)
            elif isinstance(step, Launch):
                tables.add(kind=LAUNCHES, what=len(tables["groups"]), amount=0)
                _add_kernel(tables, step.kernel, tensors)


def _tensors(tables: Tables, number: int, application: Application, first_step: int) -> dict[int, int]:
    """Add an application's tensors in the order of their steps; return the row of each."""
    rows: dict[int, int] = {}
    steps = [step for stream in application.streams for step in stream]
    for place, step in enumerate(steps):
        if isinstance(step, Allocate):
            rows[step.tensor] = len(tables["size"])
            tables.add(owner_of=number, size=step.bytes, allocated_by=first_step + place, users=0)
    return rows


def _add_kernel(tables: Tables, kernel: Kernel, tensors: dict[int, int]) -> None:
    tables.add(step_of=len(tables["kind"]) - 1, groups=kernel.groups, waves=kernel.waves)
    tables.add(independent=int(kernel.independent), first_group=tables.groups)
    tables.add(first_phase=len(tables["first_touch"]), first_named=len(tables["named"]))
    for tensor in kernel.tensors:
        tables.add(named=tensors[tensor])
        tables["users"][tensors[tensor]] += 1
    tables.groups += kernel.groups
    for phase in kernel.phases:
        tables.add(first_cycles=tables.cycles, first_touch=len(tables["tensor"]))
        tables.add(cycles=phase.cycles, first_malloc=len(tables["malloc"]), first_call=tables.calls)
        tables.cycles += len(phase.cycles)
        tables.add(of_kernel=len(tables["groups"]) - 1)
        tables["instructions"].extend(phase.instructions)
        for touch in phase.touches:
            _add_touch(tables, touch, tensors)
        tables["malloc"].extend(phase.mallocs)
        tables.calls += kernel.groups * kernel.waves * bool(phase.mallocs)


def _add_touch(tables: Tables, touch: Touch, tensors: dict[int, int]) -> None:
    moved = ALL_BYTES if touch.bytes is None else touch.bytes
    tables.add(tensor=tensors[touch.tensor], pattern=PATTERNS.index(touch.pattern))
    tables.add(width=touch.stride if touch.pattern == "stride" else touch.halo, element=touch.element_bytes)
    tables.add(drawn=touch.count, bytes=moved, skew=touch.skew, phase_of=len(tables["first_touch"]) - 1)


def most_listed(plan: Plan) -> int:
    """Return the number of elements, or pages of elements, that one touch of a group may have."""
    listed = np.isin(plan.pattern, (STRIDE, GATHER))
    drawn, element, size = plan.drawn[listed], plan.element[listed], plan.size[plan.tensor[listed]]
    pages = np.minimum(drawn * (element // SMALLEST_PAGE + 2), size // SMALLEST_PAGE + 2)
    return int(np.maximum(drawn, pages).max(initial=1))


MOST_APPLICATIONS, MOST_STREAMS, MOST_STEPS = (1 << 14) - 2, (1 << 14) - 2, (1 << 28) - 2
MOST_GROUPS, MOST_WAVES, MOST_PHASES, MOST_TOUCHES = (1 << 28) - 2, (1 << 11) - 2, (1 << 10) - 2, (1 << 14) - 2
ABSENT = -1
NOBODY = 0
"""A word all of whose fields are absent."""


def _check_sizes(plan: Plan) -> None:
    """Refuse what K has no numbers for."""
    phases = int(np.diff(plan.first_phase).max(initial=0))
    for count, most, noun in (
        (int(plan.groups.max(initial=0)), MOST_GROUPS, "groups of a kernel"),
        (most_listed(plan), MOST_LISTED, "pages of the elements of a touch"),
        (int(plan.waves.max(initial=0)), MOST_WAVES, "waves of a group"),
        (phases, MOST_PHASES, "phases of a kernel"),
        (plan.kind.size, MOST_STEPS, "steps"),
        (plan.home.size, MOST_APPLICATIONS, "applications"),
        (int(np.diff(plan.first_stream).max(initial=0)), MOST_STREAMS, "streams of an application"),
    ):
        if count > most:
            raise InputError(f"a node has at most {most} {noun}. Got {count}.")


class Calls(NamedTuple):
    """The columns, a row a call."""

    application: np.ndarray
    phase: np.ndarray
    group: np.ndarray
    """In its kernel."""
    wave: np.ndarray
    first_row: np.ndarray
    """Of its lanes, among its application's."""
    rows: np.ndarray
    first_request: np.ndarray
    """Among its application's."""
    requests: np.ndarray
    first_of: np.ndarray
    """Of each application, where its requests begin in `of_request`."""
    of_request: np.ndarray
    """The call of each request."""


def calls_of(plan: Plan) -> Calls:
    """Return the calls of a plan; no requests yet."""
    phases = np.flatnonzero(np.diff(plan.first_malloc) > 0)
    kernel = plan.of_kernel[phases]
    each = plan.groups[kernel] * plan.waves[kernel]
    phase = np.repeat(phases, each)
    place = np.arange(phase.size) - plan.first_call[phase]
    waves = plan.waves[plan.of_kernel[phase]]
    application = plan.application_of[plan.stream_of[plan.step_of[plan.of_kernel[phase]]]]
    rows = np.diff(plan.first_malloc)[phase]
    first_row = np.zeros(phase.size, np.int64)
    for one in np.unique(application):
        own = application == one
        first_row[own] = np.cumsum(rows[own]) - rows[own]
    none = np.zeros(phase.size, np.int64)
    first_of = np.zeros(plan.home.size + 1, np.int64)
    return Calls(
        application, phase, place // waves, place % waves, first_row, rows, none, none.copy(), first_of, none[:0]
    )


def mallocs_of(plan: Plan, calls: Calls, application: int, warp_size: int) -> Mallocs:
    """Return the table of an application's calls, as its heaps take it: each call a warp of its own."""
    own = np.flatnonzero(calls.application == application)
    warp = np.repeat(np.arange(own.size), calls.rows[own])
    lane = np.arange(warp.size) - calls.first_row[own][warp]
    sizes = plan.malloc[plan.first_malloc[calls.phase[own]][warp] + lane]
    return Mallocs(arrival=warp, thread=warp * warp_size + lane, bytes=sizes, free_at=np.full(warp.size, -1))


def with_requests(calls: Calls, request_of: dict[int, np.ndarray]) -> Calls:
    """Return the calls with their requests; of each application that has calls, the request of each of its rows."""
    first, count = calls.first_request.copy(), calls.requests.copy()
    first_of, pieces = calls.first_of.copy(), [np.zeros(0, np.int64)]
    for application in range(first_of.size - 1):
        request = request_of.get(application, np.zeros(0, np.int64))
        own = np.flatnonzero(calls.application == application)
        call_of_row = np.repeat(own, calls.rows[own])
        numbers, row = np.unique(request, return_index=True)
        numbers, row = numbers[numbers >= 0], row[numbers >= 0]
        of_request = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
        of_request[numbers] = call_of_row[row]
        first[own] = 0
        # Reversed: of several requests of a call the one that is written last stays, which is its first.
        first[of_request[numbers[::-1]]] = numbers[::-1]
        count[own] = np.bincount(of_request[numbers], minlength=calls.application.size)[own]
        pieces.append(of_request)
        first_of[application + 1] = first_of[application] + of_request.size
    return calls._replace(first_request=first, requests=count, first_of=first_of, of_request=np.concatenate(pieces))


@kernel
def owner(card: int, application: int, stream: int, step: int) -> int:
    """Return the first word."""
    # + 1: a field that is absent, -1, becomes 0 and comes before all others.
    return (card + 1) << 56 | (application + 1) << 42 | (stream + 1) << 28 | (step + 1)


@kernel
def member(group: int, wave: int, phase: int, touch: int) -> int:
    """Return the second word."""
    return (group + 1) << 35 | (wave + 1) << 24 | (phase + 1) << 14 | (touch + 1)
