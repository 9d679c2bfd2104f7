"""A file dropped into the page: where it is kept, and what it says when it is a trace or a memory snapshot.

It is a temporary file for as long as the dashboard is open; one that a saved sweep names is copied beside that, by its
digest. A trace is answered by its memory under other caches, in GiB, with the smallest card that holds it; a snapshot
of PyTorch by PyTorch's own settings too.
"""

from __future__ import annotations

import hashlib
import math
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.dashboards import page
from workbench.dashboards.canvas import in_unit
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import StoreError, WorkbenchError
from workbench.experiments.sweep import with_files
from workbench.policies.policy import policies
from workbench.studies.pool.replay import Replayed, replay_sweep, replayed
from workbench.units import bytes_said
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_log import TorchLogs
from workbench.workloads.importers.torch_snapshot import is_snapshot, read_snapshot
from workbench.workloads.recorded_memory import TracePool

MOST_BYTES = 256 << 20
"""Larger files are named by their path: the page would be busy with them for longer than one waits."""


class DropZone(anywidget.AnyWidget):
    """A place in the page that takes one file at a time; a new one takes the last one's place.

    The file comes in pieces. What is larger than `MOST_BYTES` is refused in the browser, before anything is sent, and
    here as well.
    """

    _esm = Path(__file__).parent / "scripts" / "drop_zone.js"
    most_bytes = traitlets.Int(MOST_BYTES).tag(sync=True)
    asks = traitlets.Unicode("").tag(sync=True)
    """What stands there before a file was dropped."""
    words = traitlets.Unicode("").tag(sync=True)
    """What became of the last file."""

    def __init__(self, asks: str, taken: Callable[[Path], None]) -> None:
        super().__init__(asks=asks)
        self._taken = taken
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-dropped-")
        self.copies = LastingCopies(Path(self._folder.name))
        self._path = Path()
        self._left: int | None = None  # bytes that are still to come; None = no file is on its way
        self.on_msg(self._heard)

    def close(self) -> None:
        """Delete the file, then close as every widget does."""
        self._folder.cleanup()
        super().close()

    def _heard(self, _widget: object, message: dict[str, Any], pieces: list[memoryview]) -> None:
        match message.get("what"):
            case "too_large":
                self._refuse(message)
            case "begin":
                self._begin(message)
            case "piece" if self._left is not None:
                self._left -= self._add(pieces, self._left)
            case "end" if self._left is not None:
                self._end(whole=self._left == 0)

    def _refuse(self, message: dict[str, Any]) -> None:
        most, size = bytes_said(self.most_bytes), bytes_said(message["bytes"])
        self.words = (
            f"{message['name']} must have at most {most}. Got {size}. Write its path into trace_pool.trace instead."
        )

    def _begin(self, message: dict[str, Any]) -> None:
        if message["bytes"] > self.most_bytes:
            self._refuse(message)
            return
        for old in Path(self._folder.name).iterdir():
            old.unlink()
        self._path = Path(self._folder.name, Path(message["name"]).name or "dropped")
        self._path.write_bytes(b"")
        self._left = message["bytes"]
        self.words = f"{self._path.name} is on its way ..."

    def _add(self, pieces: list[memoryview], left: int) -> int:
        """Add what came, unless it is more than is left; return how much it was."""
        came = sum(len(piece) for piece in pieces)
        if came <= left:
            with self._path.open("ab") as file:
                file.writelines(pieces)
        return came

    def _end(self, whole: bool) -> None:
        self._left = None
        if not whole:
            self.words = f"{self._path.name} did not arrive whole; drop it again."
            return
        self.words = f"{self._path.name}: {bytes_said(self._path.stat().st_size)}"
        self._taken(self._path)


FOLDER = "dropped"
"""The folder of the copies, in the folder where the dashboard was started."""


class LastingCopies:
    """Copies of the temporary files that sweeps name, each made once."""

    def __init__(self, temporary: Path) -> None:
        """Take `temporary` as the folder whose files do not last."""
        self._temporary = temporary.resolve()
        self._made: dict[tuple[Path, int], str] = {}

    def in_sweep(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same sweep with every temporary file that it names called by its copy.

        Raises
        ------
        StoreError
            The copy cannot be written.
        """
        return with_files(config, Path(), self._lasting)

    def _lasting(self, path: Path) -> str:
        if self._temporary not in path.resolve().parents:
            return str(path)
        key = path, path.stat().st_mtime_ns
        if key not in self._made:
            self._made[key] = _copied(path)
        return self._made[key]


def _copied(path: Path) -> str:
    """Copy a file unless its copy is there; return its path from where the dashboard was started."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    copy = Path(FOLDER, f"{digest}-{path.name}")
    beside = copy.with_name(f".{copy.name}.part")
    try:
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, beside)
            beside.replace(copy)
    except OSError as problem:
        raise StoreError(f"{copy} cannot be written: {problem.strerror}.") from None
    return copy.as_posix()


Dropped = tuple[str, str]
"""A file and its digest."""


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
    """Return what reads a snapshot for every panel that shows it: whichever asks first reads the file, others wait."""

    def read(_: Source) -> TorchLogs:
        with _one_reads:
            return _logs_of(snapshot)

    return read


_one_reads = threading.Lock()


@lru_cache(maxsize=1)
def _logs_of(snapshot: Dropped) -> TorchLogs:
    return read_snapshot(Source(Path(snapshot[0])))


class AdvicePanel(widgets.HTML, page.InThread):
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
        self._shown: tuple[str, str] | None = None

    def show(self, workload: Any) -> None:
        """Show what is known of a workload, if it is a trace; one that is shown already stays."""
        requests = trace_of(workload)
        if requests == self._shown:
            return
        self._shown = requests
        self.answer.value = self.rest.value = ""
        self.value = "" if requests is None else page.fine("Trying other caches on this trace ...")
        if requests is not None:
            self._begin(self._advise, requests)

    def _advise(self, requests: tuple[str, str]) -> None:
        path = requests[0]
        if is_snapshot_file(path):
            self.answer.value = page.fine("Trying settings of PyTorch's allocator on this snapshot ...")
            answer, rest = _advice(requests)
            if requests == self._shown:
                self.answer.value, self.rest.value = answer, rest
        table = caches_of(path) if requests == self._shown else ""
        if requests == self._shown:
            self.value = table


def _advice(snapshot: Dropped) -> tuple[str, str]:
    """Return the five lines, and all else; or in one sentence why there are none."""
    from workbench.studies.torch_memory.advice import advice_or_still
    from workbench.studies.torch_memory.holdings import Still
    from workbench.studies.torch_memory.page import answer_of, rest_of

    path = snapshot[0]
    try:
        result = advice_or_still(path, read=reading_of(snapshot))
    except WorkbenchError as mistake:
        return page.fine(str(mistake).replace(path, Path(path).name)), ""
    if isinstance(result, Still):
        lines = [page.text(line.replace(path, Path(path).name)) for line in result.sentences()]
        return "".join(f"<p>{line}</p>" for line in lines), ""
    return answer_of(result), f"<h4>PyTorch's own settings</h4>{rest_of(result).replace(path, Path(path).name)}"


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


def caches_of(path: str) -> str:
    """Return the table of a trace as HTML, or in a sentence why there is none."""

    known = policies("cache")
    try:
        results = PairedRuns(replay_sweep(path, caches=[name for name in CACHES if name in known])).advance(math.inf)
        return caches_table(replayed(results))  # which reads the file once more: it is gone where its page was closed
    except WorkbenchError as mistake:
        return page.fine(str(mistake).replace(path, Path(path).name))


def caches_table(rows: Sequence[Replayed]) -> str:
    """Return the rows from the one that reserves least to the one that reserves most; what was recorded comes first."""
    ordered = sorted(rows, key=lambda row: (row.policy != "recorded", row.reserved_peak_bytes))
    head = "".join(f"<th>{word}</th>" for word in _HEAD)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(row))}</tr>" for row in ordered)
    title = "<h4>This program's memory under other caches</h4>"
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Replayed) -> Iterable[str]:
    yield page.text(row.policy.replace("_", " "))
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
