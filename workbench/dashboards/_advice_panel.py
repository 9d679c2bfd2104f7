"""What a dropped trace or memory snapshot says by itself: its memory under other caches and settings.

A trace is answered by its memory under other caches, in GiB, with the smallest card that holds it; a snapshot of
PyTorch by PyTorch's own settings too.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.advice.replay import Replayed, replay_sweep, replayed
from workbench.dashboards._background import InThread
from workbench.dashboards._elements import escaped, in_unit, small_print
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import WorkbenchError
from workbench.policies.policy import policies
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_log import TorchLogs
from workbench.workloads.importers.torch_snapshot import is_snapshot, read_snapshot
from workbench.workloads.recorded_memory import TracePool

Dropped = tuple[str, str]
"""A file and its digest."""
CARDS_GIB = (4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 141, 192, 256, 288)
"""Memories of cards that are sold, for the column that says which holds a program."""
CACHES = ("no_cache", "pytorch_caching", "expandable_segments", "best_fit", "split_and_coalesce", "stitching", "bfc")
"""Those of the table, as far as there are some by this name; `workbench trace replay` shows all."""
_HEAD = (
    "cache",
    "reserved at most",
    "in use then",
    "lost to fragments",
    "driver calls",
    "from cache",
    "fits a card of",
)


class AdvicePanel(widgets.HTML, InThread):
    """The caches of the trace that is looked at; empty for any other workload.

    Of a snapshot `answer` is another widget with the five lines alone, `rest` one with all that they rest on.

    It takes some seconds, so a thread computes it while the panels above go on; a snapshot that is no longer looked at
    when its advice comes is passed over.
    """

    def __init__(self) -> None:
        super().__init__()
        self.add_class("wb-advice")
        self.answer = widgets.HTML()
        self.answer.add_class("wb-answer")
        self.rest = widgets.HTML()
        self.rest.add_class("wb-advice")
        self._trace: tuple[str, str] | None = None

    def show(self, workload: Any) -> None:
        """Show what is known of a workload, if it is a trace; one that is shown already stays."""
        requests = trace_of(workload)
        if requests == self._trace:
            return
        self._trace = requests
        self.answer.value = self.rest.value = ""
        self.value = "" if requests is None else small_print("Trying other caches on this trace ...")
        if requests is not None:
            self._begin(self._advise, requests)

    def _advise(self, requests: tuple[str, str]) -> None:
        path = requests[0]
        if is_snapshot_file(path):
            self.answer.value = small_print("Trying settings of PyTorch's allocator on this snapshot ...")
            answer, rest = _advice(requests)
            if requests == self._trace:
                self.answer.value, self.rest.value = answer, rest
        table = caches_of(path) if requests == self._trace else ""
        if requests == self._trace:
            self.value = table


def trace_of(workload: Any) -> Dropped | None:
    """Return the file of a trace and its digest; None of any other workload, and of a trace that cannot be read.

    >>> trace_of(None) is None
    True
    """
    if not isinstance(workload, TracePool):
        return None
    try:
        result = workload.trace_file()
    except WorkbenchError:
        return None  # which the panels say
    return str(result.path), result.sha256


def snapshot_of(workload: Any) -> Dropped | None:
    """Return the same of a memory snapshot; None of everything else."""
    trace = trace_of(workload)
    return trace if trace is not None and is_snapshot_file(trace[0]) else None


def is_snapshot_file(path: str) -> bool:
    """Return whether a file begins as a snapshot does; one that cannot be read does not."""
    try:
        return is_snapshot(path)
    except WorkbenchError:
        return False


def reading_of(snapshot: Dropped) -> Callable[[Source], TorchLogs]:
    """Return the reader of a snapshot for every panel that shows it: the first panel reads the file, others wait."""

    def read(_: Source) -> TorchLogs:
        with _one_reads:
            return _logs_of(snapshot)

    return read


_one_reads = threading.Lock()


@lru_cache(maxsize=1)
def _logs_of(snapshot: Dropped) -> TorchLogs:
    return read_snapshot(Source(Path(snapshot[0])))


def _advice(snapshot: Dropped) -> tuple[str, str]:
    """Return the five lines, and all else; or in one sentence why there are none."""
    from workbench.advice.torch_memory.advice import advice_or_segments
    from workbench.advice.torch_memory.driver_pool import DriverPoolSnapshot
    from workbench.advice.torch_memory.holdings import SegmentSnapshot
    from workbench.advice.torch_memory.page import answer_of, rest_of

    path = snapshot[0]
    try:
        result = advice_or_segments(path, read=reading_of(snapshot))
    except WorkbenchError as mistake:
        return small_print(str(mistake).replace(path, Path(path).name)), ""
    if isinstance(result, (SegmentSnapshot, DriverPoolSnapshot)):
        lines = [escaped(line.replace(path, Path(path).name)) for line in result.sentences()]
        return "".join(f"<p>{line}</p>" for line in lines), ""
    return answer_of(result), f"<h4>PyTorch's own settings</h4>{rest_of(result).replace(path, Path(path).name)}"


def caches_of(path: str) -> str:
    """Return the table of a trace as HTML, or in a sentence why there is none."""

    known = policies("cache")
    try:
        results = PairedRuns(replay_sweep(path, caches=[name for name in CACHES if name in known])).advance(math.inf)
        return caches_table(replayed(results))  # which reads the file once more: it is gone where its page was closed
    except WorkbenchError as mistake:
        return small_print(str(mistake).replace(path, Path(path).name))


def caches_table(rows: Sequence[Replayed]) -> str:
    """Return the rows from the one that reserves least to the one that reserves most; what was recorded comes first."""
    ordered = sorted(rows, key=lambda row: (row.policy != "recorded", row.reserved_peak_bytes))
    head = "".join(f"<th>{word}</th>" for word in _HEAD)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(row))}</tr>" for row in ordered)
    title = "<h4>This program's memory under other caches</h4>"
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Replayed) -> Iterable[str]:
    yield escaped(row.policy.replace("_", " "))
    yield in_unit(row.reserved_peak_bytes, "bytes")
    yield in_unit(row.active_peak_bytes, "bytes")
    yield _share(row.fragmentation)
    yield "-" if math.isnan(row.driver_calls) else f"{row.driver_calls:,.0f}"
    yield _share(row.cache_hit_rate)
    yield smallest_card(row.reserved_peak_bytes)


def smallest_card(size: float) -> str:
    """Return the smallest card that is sold and holds so much.

    >>> smallest_card(3.4 * 2**30), smallest_card(500 * 2**30), smallest_card(float("nan"))
    ('4 GiB', 'none', '-')
    """
    if math.isnan(size):
        return "-"
    return next((f"{card} GiB" for card in CARDS_GIB if size <= card << 30), "none")


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1%}"
