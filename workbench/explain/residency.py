"""Lost residency: how many workgroups fewer a unit holds at once because shared memory is cut up.

coverage_of(trace)          of how many launches a trace tells what this takes, by the rule below   -> Coverage
by_granule(trace, machine)  what whole granules cost, kernel by kernel, against bytes                -> [GranuleLoss]
by_rule(workload, machine)  what contiguous placement costs on top, as rules of six GPUs place       -> [RuleLoss]
survey(traces)              both on many traces, with what each does not tell                       -> Survey

The rule for what a trace cannot tell. A launch counts where its grid, its threads and the *whole* shared memory of a
workgroup were recorded. Where only the dynamic part was recorded (AMD's Kineto traces hold it in the launching call),
it counts on request. Every number of such a trace then says so. Static shared memory is missing from it, so it is
neither a lower nor an upper bound. A launch of which neither was recorded (kernels replayed from a graph) is unknown:
it is in no number, and its share of the card's time is listed with them. Registers that were not recorded do not bind.
Which workgroups really met on a unit no trace tells: `by_rule` takes the two ends, each kernel when it was recorded to
start, and all kernels queued at once.

Each workgroup stays as long under every rule. So the mean number that a unit holds at once, until it is through with
all of them, is the sum of their durations over the cycles that this takes, the drain time. A rule's lost residency is
1 - drain time of a memory without addresses / drain time of the rule, run by run.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.setups import read_machine
from workbench.experiments.sweep import read_sweep
from workbench.machine import Machine
from workbench.machine.presets import preset_for_device
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, mean_interval
from workbench.workloads.catalogue import available, catalogue, trace_file
from workbench.workloads.importers import Trace, read_trace
from workbench.workloads.kernels import MISSING, KernelTable

if TYPE_CHECKING:
    import pandas as pd


FORMATS = ("kineto", "rocprofv3_json")
LONGEST_US = 200.0
"""Longer kernels are left out of the runs by rule, among them collectives that wait for their peers, up to 733 ms."""
REQUESTS = 600
"""Workgroups of a unit's share, the first of the trace."""


class Coverage(NamedTuple):
    """How much of a trace was recorded."""

    launches: int
    whole: int
    """With grid, threads and the whole shared memory of a workgroup."""
    dynamic_alone: int
    """With grid and threads, and of shared memory the dynamic part alone."""
    untold: int
    """All others."""
    asking: int
    """Of the whole, those whose workgroups ask for shared memory."""
    time_whole: float
    """Share of the kernels' time, 0 to 1; 0 where no kernel lasted."""
    time_dynamic_alone: float
    with_registers: int
    """Of the whole, those whose vector registers were recorded."""


def coverage_of(trace: Trace) -> Coverage:
    """Return of how many launches a trace tells grid, threads and shared memory, and for how much of the time.

    Examples
    --------
    >>> from pathlib import Path
    >>> from workbench.workloads.kernels import KernelRows
    >>> rows = KernelRows()
    >>> rows.add("gemm", duration_ns=30, start_ns=0, device=0, workgroups=4, threads=64, shared_bytes=700)
    >>> rows.add("replayed", duration_ns=10, start_ns=30, device=0)
    >>> coverage_of(Trace(Path("t"), "made", "kernels", rows.table())).time_whole
    0.75
    """
    table = trace.kernels
    whole, dynamic = recorded_launches(table)
    seconds = table.duration_ns.astype(float)
    total = float(seconds.sum()) or 1.0
    return Coverage(
        launches=table.rows,
        whole=int(whole.sum()),
        dynamic_alone=int(dynamic.sum()),
        untold=int((~whole & ~dynamic).sum()),
        asking=0 if table.shared_bytes is None else int((whole & (table.shared_bytes > 0)).sum()),
        time_whole=float(seconds[whole].sum()) / total,
        time_dynamic_alone=float(seconds[dynamic].sum()) / total,
        with_registers=int((whole & _known(table, "vgprs")).sum()),
    )


def recorded_launches(table: KernelTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the launches that are wholly known, and those with their dynamic shared memory alone: bool[rows] each."""
    grid = _known(table, "workgroups") & _known(table, "threads")
    whole = grid & _known(table, "shared_bytes")
    return whole, grid & ~whole & _known(table, "launch_shared_bytes")


def _known(table: KernelTable, field: str) -> np.ndarray:
    column = getattr(table, field)
    return np.zeros(table.rows, bool) if column is None else np.asarray(column != MISSING)


class Survey(NamedTuple):
    """The tables of a survey of many traces."""

    coverage: pd.DataFrame
    """One row a trace: machine, launches, how many were recorded, for how much of the time."""
    granules: pd.DataFrame
    """One row a trace and granule."""
    rules: pd.DataFrame
    """One row a trace, arrival and rule."""
    left_out: list[str]
    """A sentence a trace that is in no table or not in that of the rules, with the reason."""

    @property
    def told(self) -> pd.DataFrame:
        """Return `coverage`, under the name of version 0.5."""
        warnings.warn("Survey.told is now called coverage.", DeprecationWarning, stacklevel=2)
        return self.coverage


def public_traces() -> list[str]:
    """Return the public traces of kernels that are on this machine, in the order of the catalogue."""
    return [name for name, entry in catalogue().items() if entry.format in FORMATS and available(name)]


GRANULES = (128, 256, 512, 1024, 1280, 2048)
"""Bytes: NVIDIA from Volta on (gfx12 as well), MGPUSim, AMD's GFX7 to CDNA3, gfx11, CDNA4, and one twice as coarse."""
RULES = ("first_fit", "unsorted_free_list", "worst_fit", "best_fit", "ring_buffer", "nearest_boundary")
"""As MGPUSim, gem5 (vector registers), MIAOW, Ventus and Vortex place, and the source document; gem5's LDS and
GPGPU-Sim count bytes."""


def survey(
    traces: Sequence[str],
    machine: str = "",
    granules: Sequence[int] = GRANULES,
    rules: Sequence[str] = RULES,
    units: int = 10,
    longest_us: float = LONGEST_US,
) -> Survey:
    """Return the lost residency of traces by granule and by rule, each on its own card's preset.

    Parameters
    ----------
    traces : sequence of str
        Files, or names of public traces.
    machine : str, optional
        A preset for all of them; left out, each has that of the card that it names.
    units : int
        Whose shares of each trace are run for the table of rules; 0 leaves that table empty.
    longest_us : float
        Microseconds: longer kernels are in no run by rule.

    Raises
    ------
    InputError
        A trace cannot be read; no trace is left out without being named.
    """
    import pandas as pd

    heads, granule_rows, rule_rows, left_out = list[Any](), list[Any](), list[Any](), list[str]()
    for name in traces:
        trace = read_trace(trace_file(name))
        known, chosen = coverage_of(trace), machine or _preset_of(trace)
        alone = known.whole == 0
        heads.append({"trace": name, "machine": chosen or "not named", **known._asdict()})
        try:
            if not chosen:
                raise InputError("its card has no preset; name a machine.")
            counted = {"trace": name, "machine": chosen, "counts": "dynamic part alone" if alone else "whole"}
            hardware: Machine = read_machine(Machine, chosen, Path())
            granule_rows.extend({**counted, **row._asdict()} for row in by_granule(trace, hardware, granules, alone))
            if units and rules:
                how = {"shared_bytes": "launch_argument"} if alone else {}
                workload = {"trace": name, "count": REQUESTS, "longest_us": longest_us, "incomplete": "skip", **how}
                rule_rows.extend({**counted, **row} for row in _rules(workload, chosen, rules, units))
        except InputError as problem:
            left_out.append(f"{name}: {str(problem).rsplit(': ', 1)[-1]}")  # without where the file lies
    return Survey(pd.DataFrame(heads), pd.DataFrame(granule_rows), pd.DataFrame(rule_rows), left_out)


def _preset_of(trace: Trace) -> str:
    return next(filter(None, (preset_for_device(card.name) for card in trace.cards)), "")


def _rules(workload: dict[str, Any], machine: str, rules: Sequence[str], units: int) -> Iterator[dict[str, Any]]:
    arrivals: tuple[Arrival, ...] = ("all_at_once", "recorded")
    for arrival in arrivals:
        for one in by_rule(workload, {"preset": machine}, rules, arrival, units):
            ends = {"lost": one.lost.mean, "lost_low": one.lost.low, "lost_high": one.lost.high}
            yield {
                "arrival": arrival,
                "granule_bytes": one.granule_bytes,
                "rule": one.rule,
                **ends,
                "blocked": one.blocked,
            }


class GranuleLoss(NamedTuple):
    """What one granule costs on one trace and machine."""

    granule_bytes: int
    launches: int
    """Launches that count, by the rule of this study."""
    asking: int
    """Of those, the launches whose workgroups take shared memory, the system's share included."""
    bound: int
    """Of those, the launches whose residency shared memory limits more than slots, waves and registers do, in bytes."""
    affected: int
    """Launches that hold fewer workgroups a unit than bytes alone would allow."""
    affected_time: float
    """Their share of the time of the launches that count."""
    lost: float
    """Residency lost: 1 - workgroups a unit over those in bytes, both averaged over the time of launches that ask."""
    lost_used: float
    """The same where no unit holds more than its share of the grid: a small grid fills no unit, and loses nothing."""
    worst: float
    """The largest loss of one launch."""
    padding: float
    """Share of the given shared memory that was not requested, averaged over workgroups."""


def by_granule(
    trace: Trace, machine: Any, granules: Sequence[int] = GRANULES, dynamic_alone: bool = False
) -> list[GranuleLoss]:
    """Return the cost of each granule in residency, compared with a memory that is given by the byte.

    A kernel alone on a unit is compared with itself: of equal pieces no rule loses any to holes, so this is the granule
    alone. The machine's memory keeps its bytes; the remainder below a granule stays unused.

    Parameters
    ----------
    machine : Machine
        Whose slots, waves, registers and bytes of shared memory limit the residency.
    granules : sequence of int
        Bytes.
    dynamic_alone : bool
        Let launches of which only the dynamic part is known count with that part.

    Raises
    ------
    InputError
        No launch of the trace tells what is needed, or a granule is no whole number of bytes of at least 1.

    Examples
    --------
    >>> from pathlib import Path
    >>> from workbench.machine import Machine
    >>> from workbench.workloads.kernels import KernelRows
    >>> rows = KernelRows()
    >>> rows.add("gemm", duration_ns=30, start_ns=0, device=0, workgroups=9000, threads=64, shared_bytes=8200)
    >>> trace = Trace(Path("t"), "made", "kernels", rows.table())
    >>> [round(one.lost, 3) for one in by_granule(trace, Machine(), [512, 2048])]  # 7 by the byte, 7 and 6 so
    [0.0, 0.143]
    """
    for granule in granules:
        if isinstance(granule, bool) or not isinstance(granule, int) or granule < 1:
            raise wrong_value("", "granules", "must be whole numbers of bytes of at least 1", granule, 1)
    demand = _demand(trace, machine, dynamic_alone)
    return [_granule_loss(demand, granule) for granule in granules]


class _Demand(NamedTuple):
    """The launches that count, as columns."""

    bytes: np.ndarray
    """int64[rows], of a workgroup, the system's share included."""
    others: np.ndarray
    """int64[rows], how many workgroups a unit holds by everything but shared memory."""
    share: np.ndarray
    """int64[rows], workgroups of the grid for each unit, rounded up."""
    workgroups: np.ndarray
    seconds: np.ndarray
    capacity: int


def _demand(trace: Trace, machine: Any, dynamic_alone: bool) -> _Demand:
    table = trace.kernels
    whole, dynamic = recorded_launches(table)
    counted = np.flatnonzero(whole | dynamic if dynamic_alone else whole)
    if not len(counted) or table.workgroups is None:
        more = "; say dynamic_alone to count what launches tell" if dynamic.any() and not dynamic_alone else ""
        raise InputError(f"{trace.path}: no launch tells grid, threads and shared memory{more}.")
    request = np.zeros(table.rows, np.int64) if table.shared_bytes is None else table.shared_bytes.astype(np.int64)
    if table.launch_shared_bytes is not None:
        request = np.where(dynamic, table.launch_shared_bytes, request)
    threads, registers = (None if c is None else c[counted] for c in (table.threads, table.registers()))
    others = machine.resident(None, threads, registers)
    grid = table.workgroups[counted].astype(np.int64)
    capacity = machine.shared_memory_bytes
    wanted = request[counted] + machine.reserved_bytes
    fits = (wanted <= capacity) & (others > 0)
    if not fits.any():
        raise InputError(f"{trace.path}: no workgroup fits into a unit of this machine; name the machine it ran on.")
    seconds = table.duration_ns[counted].astype(float)
    return _Demand(
        wanted[fits], others[fits], -(-grid // machine.compute_units)[fits], grid[fits], seconds[fits], capacity
    )


def _granule_loss(demand: _Demand, granule: int) -> GranuleLoss:
    asking = demand.bytes > 0
    wanted, most = np.maximum(demand.bytes, 1), demand.capacity
    taken = -(-wanted // granule)
    exact = np.where(asking, np.minimum(demand.others, most // wanted), demand.others)
    whole = np.where(asking, np.minimum(demand.others, most // granule // taken), demand.others)
    affected = whole < exact
    seconds = demand.seconds
    whole_used, exact_used = np.minimum(whole, demand.share), np.minimum(exact, demand.share)
    given = (taken * granule * demand.workgroups)[asking].sum()
    return GranuleLoss(
        granule_bytes=granule,
        launches=len(seconds),
        asking=int(asking.sum()),
        bound=int((asking & (most // wanted < demand.others)).sum()),
        affected=int(affected.sum()),
        affected_time=_share(seconds[affected].sum(), seconds.sum()),
        lost=_lost(whole, exact, seconds * asking),
        lost_used=_lost(whole_used, exact_used, seconds * asking),
        worst=float((1 - whole / np.maximum(exact, 1)).max()),
        padding=1 - _share((demand.bytes * demand.workgroups)[asking].sum(), given) if given else 0.0,
    )


def _lost(whole: np.ndarray, exact: np.ndarray, seconds: np.ndarray) -> float:
    return 1 - _share((whole * seconds).sum(), (exact * seconds).sum()) if (exact * seconds).sum() else 0.0


def _share(part: float, of: float) -> float:
    return float(part / of) if of else 0.0


BYTES = "byte_counter"
"""A memory without addresses: what fits in bytes is granted."""
Arrival = Literal["all_at_once", "recorded"]


class RuleLoss(NamedTuple):
    """What one rule costs at one granule."""

    rule: str
    granule_bytes: int
    arrival: Arrival
    units: int
    """Units whose share of the trace was run, each a run of its own."""
    lost: Interval
    """Residency lost against bytes at the same granule, 0 to 1, with its 95 % interval over the units."""
    blocked: float
    """Share of the time in which a workgroup waits that none of the holes was long enough though all together were."""


def by_rule(
    workload: Mapping[str, Any],
    machine: Mapping[str, Any],
    rules: Sequence[str] = RULES,
    arrival: Arrival = "all_at_once",
    units: int = 20,
) -> list[RuleLoss]:
    """Return the cost of each rule on a trace, each seed the share of another unit.

    Parameters
    ----------
    workload : mapping
        A recorded trace as a sweep says it: `{"trace": NAME, ...}` and levers of `trace_workgroups`; or another
        workload of the engine, whose seeds then are draws instead of units.
    machine : mapping
        Of the engine `shared_memory`, such as `{"preset": "mi350x"}`, with the granule in it.
    rules : sequence of str
        Names of placement policies.
    arrival : {"all_at_once", "recorded"}
        The two ends of what a trace does not tell: which kernels' workgroups met on a unit.
    units : int
        How many runs.

    Raises
    ------
    InputError
        The trace, the machine or a rule cannot be used; the sentence says why.

    Examples
    --------
    >>> made = {"regime": "large_uniform", "count": 100}
    >>> [(one.rule, one.lost.mean > 0) for one in by_rule(made, {"segments": 128}, ["best_fit"], units=3)]
    [('best_fit', True)]
    """
    if units < 1:
        raise InputError(f"by_rule: units must be at least 1. Got {units}.")
    plan = make_plan(read_sweep(_sweep(workload, machine, rules, arrival, units)))
    runs = {_rule(point): _measured(plan, point) for point in plan.points}
    granule = plan.points[0].setup.machine.granule_bytes
    return [_rule_loss(rule, granule, arrival, runs[BYTES], runs[rule]) for rule in rules]


def _sweep(
    workload: Mapping[str, Any], machine: Mapping[str, Any], rules: Sequence[str], arrival: Arrival, units: int
) -> dict[str, Any]:
    of_trace = {"unit": -1, "arrival": arrival} if "trace" in workload else {}
    return {
        "engine": "shared_memory",
        "machine": dict(machine),
        "workload": {**workload, **of_trace},
        "policy": {"placement": {"vary": list(dict.fromkeys([BYTES, *rules]))}},
        "seeds": units,
    }


def _rule(point: PlannedPoint) -> str:
    return str(point.setup.policies["placement"].name)


def _measured(plan: Plan, point: PlannedPoint) -> np.ndarray:
    """Return drain time and share of waiting for want of a long hole, of every run of a point: float64[seeds, 2]."""
    mechanism = plan.sweep.mechanism
    records = (mechanism.engine.simulate(point.setup, seed) for seed in plan.sweep.seeds)
    measures = [mechanism.measure(record) for record in records]
    return np.array([(one["drain_cycles"], one["blocked_by_fragmentation_rate"]) for one in measures])


def _rule_loss(rule: str, granule: int, arrival: Arrival, of_bytes: np.ndarray, of_rule: np.ndarray) -> RuleLoss:
    lost = 1 - of_bytes[:, 0] / np.maximum(of_rule[:, 0], 1)
    return RuleLoss(rule, granule, arrival, len(lost), mean_interval(lost), float(np.nan_to_num(of_rule[:, 1]).mean()))
