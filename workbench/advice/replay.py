"""What each policy would have done with the memory that was recorded: a trace as a sweep, and its runs as rows.

The recorded program is replayed as it asked: what it would have asked for on another machine, or after memory that it
was refused had been granted, no trace tells. `replayed_memory` says whether a replay reserves what the recorded
allocator reserved, and what other caches would have reserved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import read_sweep
from workbench.machine import Board
from workbench.metrics.pool import measure, reserved
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies
from workbench.records.pool import ROW, PoolRecord
from workbench.runs.run import run_id
from workbench.workloads.workload_key import read_workload

Before = Literal["ask", "leave_out", "with_cache"]
USUAL_BOARD = "dgx_h100"
"""Where a trace is replayed unless another machine is named: eight cards of 80 GiB."""
MEASURES = (
    "reserved_peak_bytes",
    "active_peak_bytes",
    "fragmentation",
    "driver_calls_per_request",
    "cache_hit_rate",
    "borrowed_rate",
    "borrowed_peak_bytes",
    "completed_rate",
)
FIGURES = {"reserved_over_requests": 12, "memory_by_card": 8}
"""What is drawn of a replay, and of how many policies at most."""
RECORDED = "recorded"


class Replayed(NamedTuple):
    """A trace under one policy, or under the allocator that it was recorded with; what is not known is NaN."""

    policy: str
    reserved_peak_bytes: float
    """Most bytes got from the drivers at a time, all cards together."""
    active_peak_bytes: float
    """Most bytes asked for and live at a time."""
    fragmentation: float
    """1 - peak active / peak reserved."""
    driver_calls: float
    """Between the first and the last event: not those for what was live before."""
    cache_hit_rate: float
    """Granted allocations that needed no driver call, as a share of the granted."""
    borrowed_peak_bytes: float
    """Most bytes that lay on another card than their application's at a time."""
    refused: float
    """Allocations that were not granted."""


def replay_sweep(
    trace: str,
    caches: Sequence[Any] = (),
    targets: Sequence[Any] = (),
    machine: Any = USUAL_BOARD,
    card_bytes: int | None = None,
    before: Before = "ask",
    refused: Literal["leave_out", "ask"] = "leave_out",
    device: int = -1,
) -> dict[str, Any]:
    """Make the sweep that replays a trace under several caches, and under several choices of who lends.

    Parameters
    ----------
    trace : str
        A public trace by name, or a file with memory events: a profiler's, a memory snapshot, an RMM log.
    caches, targets : sequence
        Policies as a sweep says them; no cache means every one that there is, no target the engine's own.
    machine : str or mapping
        A board with as many GPUs as the trace has cards.
    card_bytes : int, optional
        Memory of every GPU instead of the board's.
    before, refused, device
        See `TracePool`.

    Raises
    ------
    InputError
        The trace tells of no allocation that can be asked for, or the board makes no sense.

    References
    ----------
    spec 5, section 6; field.md 1.8: no other tool replays a snapshot under another policy.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> log = Path(tempfile.mkdtemp(), "rmm.csv")
    >>> rows = [f"1,9:00:0{k}.0,{it},0x1,2097152,0" for k, it in enumerate(["allocate", "free", "allocate"])]
    >>> log.write_text("\\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]))
    139
    >>> result = replay_sweep(str(log), ["no_cache", "rmm_pool"], card_bytes=1 << 30)
    >>> result["policy"], result["figures"]
    ({'cache': {'vary': ['no_cache', 'rmm_pool']}}, ['reserved_over_requests', 'memory_by_card'])
    """
    levers = {"trace": trace, "before": before, "refused": refused, "device": device}
    memory: Any = read_workload({"trace_pool": levers}, wants="pool_requests")
    if not len(memory.recorded().time_ns):
        raise InputError(f"{trace}: tells of no allocation and no release; record the history of memory in it.")
    if not memory.asks():
        cure = " or take `ask` for before" if before == "leave_out" else ""
        raise InputError(f"{trace}: tells of releases alone; record the history of memory from its beginning{cure}.")
    slots = {"cache": caches or known_caches(), "target": targets}
    differing = {name: value for name, value in levers.items() if value != memory.levers[name].default}
    return {
        "question": "What would each policy have done with the memory that was recorded?",
        "engine": "pool",
        "machine": machine if card_bytes is None else _board_of(machine, card_bytes),
        "workload": {"trace_pool": differing},
        "policy": {slot: {"vary": list(chosen)} for slot, chosen in slots.items() if chosen},
        "seeds": 1,
        "measures": list(MEASURES),
        "figures": [name for name, most in FIGURES.items() if len(slots["cache"]) * max(len(targets), 1) <= most],
    }


def known_caches() -> list[str]:
    """Return every cache of the catalogue by its name, those defined in a notebook included.

    >>> {"no_cache", "split_and_coalesce", "stitching"} <= set(known_caches())
    True
    """
    load_all()
    return list(policies("cache"))


def _board_of(machine: Any, card_bytes: int) -> dict[str, Any]:
    """Return the board with other memory on its GPUs."""
    board = Board.read(machine)
    cards = [card.but(memory_bytes=card_bytes, used_bytes=0) if card.kind == "gpu" else card for card in board.cards]
    return board.but(cards=tuple(cards)).plain()


def replayed(runs: Results) -> list[Replayed]:
    """Return one row a finished run of such a sweep, in its order, after the recorded allocator's own where the trace
    tells.

    Parameters
    ----------
    runs : Results
        What `workbench.run` gave for the sweep, or `workbench.open_results` for its folder.

    References
    ----------
    spec 5, section 6.

    Examples
    --------
    What no cache keeps is asked of the driver again.

    >>> from pathlib import Path
    >>> import tempfile
    >>> log = Path(tempfile.mkdtemp(), "rmm.csv")
    >>> rows = [f"1,9:00:0{k}.0,{it},0x1,2097152,0" for k, it in enumerate(["allocate", "free", "allocate"])]
    >>> log.write_text("\\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]))
    139
    >>> import workbench as wb
    >>> runs = wb.run(replay_sweep(str(log), ["no_cache", "pytorch_caching"]), workers=0)
    >>> [(one.policy, one.driver_calls) for one in replayed(runs)]
    [('no_cache', 3), ('pytorch_caching', 1)]
    """
    setup: Any = runs.points[0].setup
    facts = setup.workload.facts(setup.machine)
    own = recorded_allocator(setup.workload)
    before = calls_before(runs)
    rows = [_row(runs, point, facts, before.get(runs.label(point), 0)) for point in runs.points]
    return [*([own] if own is not None else []), *(row for row in rows if row is not None)]


def calls_before(runs: Results) -> dict[str, int]:
    """Return the number of calls of the driver that each policy made for what was live before the first event of the
    trace.

    Parameters
    ----------
    runs : Results
        As of `replayed`.
    """
    setup: Any = runs.points[0].setup
    before = setup.workload.facts(setup.machine)["allocations_from_before"]
    if not before:
        return {}
    engine: Any = runs.plan.sweep.mechanism.engine
    done = (point for point in runs.points if runs.values(point, "driver_calls_per_request"))
    records = ((runs.label(point), engine.simulate(point.setup, runs.seeds[0])) for point in done)
    return {label: int(np.count_nonzero(record.calls[:, ROW] < before)) for label, record in records}


def recorded_allocator(workload: Any) -> Replayed | None:
    """Return the trace's figures on its own allocator; None where it does not tell what that had got from its
    driver."""
    recording = workload.recorded()
    if recording.reserved is None:
        return None
    reserved = float(recording.reserved.max(initial=0))
    active = math.nan if recording.allocated is None else float(recording.allocated.max(initial=0))
    return Replayed(
        policy=RECORDED,
        reserved_peak_bytes=reserved,
        active_peak_bytes=active,
        fragmentation=1 - active / reserved if reserved else math.nan,
        driver_calls=math.nan if recording.driver_calls is None else recording.driver_calls,
        cache_hit_rate=math.nan,
        borrowed_peak_bytes=0.0,
        refused=math.nan if recording.refused is None else recording.refused,
    )


def _row(runs: Results, point: Any, facts: dict[str, int], before: int) -> Replayed | None:
    row = runs.rows.get(run_id(point.id, runs.seeds[0]))
    if row is None or row.status != "done":
        return None
    measures = row.measures
    return Replayed(
        policy=runs.label(point),
        driver_calls=round(measures["driver_calls_per_request"] * facts["requests"]) - before,
        refused=round((1 - measures["completed_rate"]) * facts["allocations"]),
        **{name: measures[name] for name in Replayed._fields if name in measures},
    )


class MemoryReplay(NamedTuple):
    """A trace's memory events under one cache."""

    cache: str
    active_peak_bytes: int
    """Most bytes that were asked for and live at a time, what is asked for at the beginning included."""
    reserved_peak_bytes: int
    recorded_peak_bytes: int | None
    """What the recorded allocator had got from its driver at most, all cards together; None where the trace does not
    tell."""
    mean_apart: float
    """How far reserved bytes are from the recorded ones after an event, averaged, as a share of the recorded peak."""
    driver_calls: int

    @property
    def over_recorded(self) -> float:
        """Return the peak of reserved bytes over the recorded one, less 1; NaN where that is not recorded."""
        return self.reserved_peak_bytes / self.recorded_peak_bytes - 1 if self.recorded_peak_bytes else np.nan


def replayed_memory(
    trace: str, caches: Sequence[Any] | None = None, before: Before = "with_cache", machine: Any = "dgx_h100"
) -> list[MemoryReplay]:
    """Replay the memory events of a trace under several caches, and compare each with the trace's figures on its own
    allocator.

    Parameters
    ----------
    trace : str
        A public trace by name, or a file with memory events: a profiler's, a memory snapshot, an RMM log.
    caches : sequence, optional
        As a sweep says them; every cache of the catalogue if None.
    before : {"ask", "leave_out", "with_cache"}
        What is asked for at the beginning: what was live before the trace, nothing, or also what was cached then, which
        makes the pool as full as the recorded one; see `TracePool`. A trace that does not tell what was cached is
        replayed as by "ask".
    machine : str or mapping
        A board with as many GPUs as the trace.

    Raises
    ------
    InputError
        The trace holds no memory events, there is no cache, or the board is too small.

    References
    ----------
    spec 5, section 7 (PyTorch-style caching allocator); field.md 1.8.

    Examples
    --------
    An RMM log does not tell what was got from the driver; the caches are still compared with each other.

    >>> from pathlib import Path
    >>> import tempfile
    >>> log = Path(tempfile.mkdtemp(), "rmm.csv")
    >>> rows = [f"1,9:00:0{k}.0,{it},0x1,2097152,0" for k, it in enumerate(["allocate", "free", "allocate"])]
    >>> log.write_text("\\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]))
    139
    >>> for one in replayed_memory(str(log), ["no_cache", "pytorch_caching"]):
    ...     print(one.cache, one.driver_calls, one.reserved_peak_bytes >> 20, one.recorded_peak_bytes)
    no_cache 3 2 None
    pytorch_caching 1 20 None
    """
    caches = known_caches() if caches is None else caches
    if not caches:
        raise InputError("replayed_memory needs at least one cache. Got none.")
    memory: Any = read_workload({"trace_pool": {"trace": trace}}, wants="pool_requests")
    reply = memory.recorded().reserved
    beginning = before if reply is not None or before != "with_cache" else "ask"
    workload = {"trace_pool": {"trace": trace, "before": beginning}}
    config = {"engine": "pool", "machine": machine, "workload": workload, "policy": {"cache": {"vary": list(caches)}}}
    plan = make_plan(read_sweep({**config, "seeds": 1}))
    names = Results(plan, [])
    engine: Any = plan.sweep.mechanism.engine
    return [_replay(names.label(point), engine.simulate(point.setup, 0), reply) for point in plan.points]


def _replay(cache: str, record: PoolRecord, reply: np.ndarray | None) -> MemoryReplay:
    taken = reserved(record).sum(axis=0)
    measures = measure(record)
    peak = None if reply is None else int(reply.max(initial=0))
    return MemoryReplay(
        cache=cache,
        active_peak_bytes=int(measures["active_peak_bytes"]),
        reserved_peak_bytes=int(measures["reserved_peak_bytes"]),
        recorded_peak_bytes=peak,
        mean_apart=np.nan if reply is None or not peak else float(np.abs(taken[-len(reply) :] - reply).mean() / peak),
        driver_calls=len(record.calls),
    )
