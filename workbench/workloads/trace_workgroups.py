"""Workgroups of a recorded trace: what a real program asked of the shared memory of one compute unit.

A trace records kernels, not workgroups. How they become requests is a model, and each of its parts is a lever or stated
here:

- Workgroup i of a grid goes to unit (first + i) mod `compute_units`: round robin. `sharing` says where a kernel begins.
- A workgroup asks for its kernel's shared memory in whole segments, with what the machine reserves on top. A workgroup
  without shared memory asks for nothing and is no request; how many there were is a fact.
- All workgroups of a unit's share join its queue when their kernel was recorded to start. The trace does not tell when
  the dispatcher really sent them.
- `waves`: with n workgroups of a kernel, of which a unit holds r at once (`Machine.resident`: shared memory, wave
  slots, workgroup slots and vector registers), the machine needs ceil(n / (compute_units * r)) rounds, and each
  workgroup lasts the kernel's duration divided by the rounds. `whole`: each lasts the kernel's duration.
- A kernel of 0 ns (a trace in whole microseconds rounds so) lasts one cycle.

The engine `shared_memory` holds workgroups back by shared memory alone: of a kernel that wave slots or registers hold
back on the machine, more workgroups run at once in the engine.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, at, wrong_value
from workbench.levers import code_of, lever
from workbench.streams import Streams
from workbench.workloads.importers import Trace
from workbench.workloads.launches import (
    Launches,
    kernel_named,
    lasting_cycles,
    launches_of,
    preset_for,
    share_of_unit,
    short_enough,
    start_cycles,
)
from workbench.workloads.recorded import RecordedKernels, TraceFile, trace_in
from workbench.workloads.workload import Workgroups


class TraceWorkgroups(RecordedKernels):
    """One compute unit's share of every kernel of a recorded trace.

    Which unit is a lever, and then the seed changes nothing; or each seed takes another unit's share of the same trace,
    so that a real trace gives paired runs: with `unit` = -1, seed s takes unit s mod `compute_units`.
    """

    more_seeds: ClassVar[str] = "unit: -1 lets each seed take another unit's share of a trace"

    unit: int = lever(
        0,
        least=-1,
        most=4095,
        description="the compute unit whose share of each grid is taken; -1 = the seed says which",
    )
    sharing: Literal["continue", "restart"] = lever(
        "continue", description="whether a kernel's first workgroup goes to the unit after the last one's, or to unit 0"
    )
    arrival: Literal["recorded", "all_at_once"] = lever(
        "recorded", description="whether workgroups join the queue when their kernel started, or all at cycle 0"
    )
    without_shared_memory: Literal["skip", "reserve"] = lever(
        "skip",
        description="workgroups without shared memory: no requests, or requests for what the machine reserves anyway",
    )
    incomplete: Literal["refuse", "skip"] = lever(
        "refuse",
        description="kernels whose grid or shared memory was not recorded: the trace is refused, or they are left out",
    )
    most_a_kernel: int = lever(
        0, least=0, most=1 << 40, unit="workgroups", description="most workgroups a kernel; 0 = all"
    )
    count: int = lever(0, least=0, most=1 << 40, unit="workgroups", description="the first so many workgroups; 0 = all")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        if self.unit >= machine.compute_units:
            expected = f"must be below the machine's compute_units ({machine.compute_units})"
            raise wrong_value(where, f"{path or self.name}.unit", expected, self.unit, machine.compute_units - 1)
        try:
            self._of_unit(max(self.unit, 0))._share(machine)
        except InputError as wrong:
            raise InputError(at(where, str(wrong))) from None

    def workgroups(self, machine: Any, streams: Streams) -> Workgroups:
        """Return the requests, in the order of their kernels' starts.

        Raises
        ------
        InputError
            The trace cannot be read or lacks what is needed; a workgroup needs more shared memory than the machine
            has; or nothing asks for shared memory.
        """
        chosen = self if self.unit >= 0 else self._of_unit(streams.seed % machine.compute_units)
        chosen.check_machine(machine)
        return Workgroups(*(column.copy() for column in chosen._share(machine).workgroups))

    def different_seeds(self, machine: Any) -> int | None:
        return int(machine.compute_units) if self.unit < 0 else 1

    def facts(self, machine: Any) -> dict[str, int]:
        """Return the numbers of kernels and workgroups that became requests on a machine, of those that did not, and
        why."""
        return dict(self._of_unit(max(self.unit, 0))._share(machine).facts)

    def _of_unit(self, unit: int) -> TraceWorkgroups:
        return self if self.unit == unit else self.but(unit=unit)

    def _share(self, machine: Any) -> _Share:
        return _share(self, machine, self.trace_file(), code_of(self, machine))


class _Share(NamedTuple):
    workgroups: Workgroups
    facts: dict[str, int]


@lru_cache(maxsize=16)
def _share(spec: TraceWorkgroups, machine: Any, file: TraceFile, code: tuple[str, ...]) -> _Share:
    recorded = trace_in(file)
    trace = spec.kernels_by_levers(recorded)
    kernels, left_out = launches_of(trace, spec.device, skip=spec.incomplete == "skip")
    length = machine.request_segments(kernels.shared_bytes)
    asks = length > 0 if spec.without_shared_memory == "reserve" else kernels.shared_bytes > 0
    short = short_enough(kernels, spec.longest_us)
    share = share_of_unit(kernels.workgroups, machine.compute_units, spec.unit, spec.sharing == "restart") * (
        asks & short
    )
    taken = np.minimum(share, spec.most_a_kernel) if spec.most_a_kernel else share
    _refuse_too_big(trace, kernels, machine, np.where(taken > 0, length, 0))
    rows = np.repeat(np.arange(len(taken)), taken)[: spec.count or None]
    if not len(rows):
        raise InputError(
            f"{file.path}: no workgroup of unit {spec.unit} asks for shared memory, so there is no request."
        )
    arrival = start_cycles(kernels, machine, rows, spec.arrival)
    requests = Workgroups(arrival, length[rows], lasting_cycles(kernels, machine, spec.duration_rule)[rows])
    facts = {
        "kernels": len(taken),
        "kernels_incomplete": left_out,
        **spec.facts_of_levers(recorded),
        "kernels_without_request": int(np.count_nonzero(~asks)),
        "kernels_longer": int(np.count_nonzero(~short)),
        "kernels_of_zero_duration": int(np.count_nonzero(kernels.duration_ns[asks] == 0)),
        "workgroups_without_request": int(kernels.workgroups[~asks].sum()),
        "workgroups_of_all_units": int(kernels.workgroups[asks].sum()),
        "workgroups_of_unit": int(share.sum()),
        "requests": len(rows),
    }
    return _Share(requests, facts)


def _refuse_too_big(trace: Trace, kernels: Launches, machine: Any, length: np.ndarray) -> None:
    """Refuse a workgroup that the shared memory can never hold: it would block the queue for ever (spec 1, E1)."""
    row = int(np.argmax(length))
    if length[row] <= machine.segments:
        return
    size = int(kernels.shared_bytes[row])
    raise InputError(
        f"{trace.path}: a workgroup of {kernel_named(kernels, row)} takes {size} bytes of shared memory, "
        f"{length[row]} segments where the machine has {machine.segments}. {preset_for(trace, kernels, row, machine)}"
    )
