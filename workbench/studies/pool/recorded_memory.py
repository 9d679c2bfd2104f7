"""Does a replay reserve what the recorded allocator reserved, and what would other caches have reserved?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.run_set import RunSet
from workbench.experiments.sweep import read_sweep
from workbench.metrics.pool import measure, reserved
from workbench.records.pool import PoolRecord
from workbench.studies.pool.replay import Before, known_caches
from workbench.workloads.read import read_workload


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
    """Replay the memory events of a trace under several caches, each beside what the trace says of its own allocator.

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
    names = RunSet(plan, [])
    engine: Any = plan.sweep.mechanism.engine
    return [_replay(names.label(point), engine.simulate(point.setup, 0), reply) for point in plan.points]


def _replay(cache: str, record: PoolRecord, reply: np.ndarray | None) -> MemoryReplay:
    taken = np.sum([reserved(record, card) for card in range(len(record.cards))], axis=0)
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
