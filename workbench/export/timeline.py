"""Timelines of runs in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.

Slices of a thread must not overlap. So a parallel slice is on a further thread of the same name, the lowest that is
free: `module 3, beside 1`; so a walker is a thread.

References
----------
.. [1] "Trace Event Format", the Chromium authors: phases X (complete), C (counter), M (metadata); `ts` and `dur` in
   microseconds. Perfetto keeps whole nanoseconds, so times are rounded to these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench.errors import InputError
from workbench.experiments.results_folder import write_whole
from workbench.export._dispatch_events import trace_events
from workbench.export._node_events import node_events
from workbench.export._slices import Event
from workbench.records.dispatch import DispatchRecord
from workbench.records.node import NodeRecord

_EVENTS: dict[type, Callable[..., Iterator[Event]]] = {DispatchRecord: trace_events, NodeRecord: node_events}
"""What writes the events of each kind of record."""


def write_timeline(record: Any, to: Path, cycles: tuple[int, int] | None = None) -> Path:
    """Write what happened in a run, or in a span of its cycles; the same record gives the same bytes.

    Raises
    ------
    InputError
        The record is none of a dispatcher or a node, or the cycles are no span.
    StoreError
        The file cannot be written.
    """
    writers = ((DispatchRecord, trace_events), (NodeRecord, node_events))
    events_of = next((events for kind, events in writers if isinstance(record, kind)), None)
    if events_of is None:
        raise InputError("a timeline shows modules and what runs there: it needs a run of the engine dispatch or node.")
    if cycles is not None and not 0 <= cycles[0] < cycles[1]:
        raise InputError(f"a timeline shows cycles=(from, to) with 0 <= from < to. Got {cycles!r}.")
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events_of(record, cycles))
    write_whole(to, f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n')
    return to
