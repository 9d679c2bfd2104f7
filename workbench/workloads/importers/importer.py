"""The base of importers, the registry that finds the one of a file, and the `Trace` that it gives.

An importer answers for one format: it recognises the format by the first bytes of the contents and reads the file into
tables. A class joins by being defined, in a module of this folder or in a notebook cell.

To add one: write a class that derives from `Importer`, beside the formats of the same tool or in a module of its own
here, and a test of its corners in `tests/workloads/importers`, with what writes a trace of a few lines as its `SAMPLES`
(or such a trace in `tests/data/traces`); list public files of the format in `data/catalogue.yaml`. Nothing else names
importers. `tests/workloads/importers/test_new_importer.py` does the same.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.parts.registry import Registry
from workbench.workloads.allocations import AllocationTable, AllocatorLog
from workbench.workloads.importers.source import Source, as_one_sentence, refuse_unreadable
from workbench.workloads.kernels import MISSING, KernelRows, KernelTable

_LATEST_NS = (1 << 62) - 1
"""Times further from 0, of 146 years, would not fit in 64 bits once two are added."""
_KNOWN = Registry["Importer"]("importer", named_by="format")


class Importer:
    """The base of every importer. A column that a file does not hold stays None; see `KernelTable`."""

    format: ClassVar[str]
    """The name of the format, as `facts()` and the catalogue write it."""
    description: ClassVar[str]
    """What writes such files, in a few words, for the message about a file that nobody reads."""
    counted: ClassVar[str] = ""
    """What the format calls a row of its kernels: kernels or dispatches; empty for one that records memory alone."""

    built_in: ClassVar[bool] = True
    """Whether the class is part of this package."""
    __describes__: ClassVar[tuple[str, ...]] = ("built_in",)

    def __init_subclass__(cls) -> None:
        cls.built_in = cls.__module__.startswith("workbench.")
        if hasattr(cls, "format") or "read" in vars(cls):  # else it is being unpickled, and is filled in later
            _KNOWN.join(cls.format, cls())

    def recognises(self, head: bytes) -> bool:
        """Return whether contents that begin so (up to 1 MiB) are of this format."""
        raise NotImplementedError

    def recognises_source(self, source: Source) -> bool:
        """Return whether a file is of this format, where its first MiB does not tell, such as a database's."""
        return self.recognises(source.head)

    def read(self, source: Source) -> Trace:
        """Read the trace.

        Raises
        ------
        InputError
            The file is cut off, or is not what its beginning promised: one sentence that names it. Whatever else is
            raised is shown as one sentence with the file and the line that was being read.
        """
        raise NotImplementedError

    def trace(self, source: Source, kernels: KernelTable | None = None, **more: Any) -> Trace:
        """Return what was read of a file: its kernels, of memory alone none, and what else a `Trace` may hold."""
        return Trace(source.path, self.format, self.counted, kernels or KernelRows().table(), **more)


class Card(NamedTuple):
    """A GPU as the trace describes it; what the trace does not say is None. A unit is one CU or SM."""

    number: int
    """As the kernels' `device` column counts."""
    name: str
    architecture: str | None = None
    compute_units: int | None = None
    wave_size: int | None = None
    simds_a_unit: int | None = None
    waves_a_unit: int | None = None
    threads_a_unit: int | None = None
    registers_a_unit: int | None = None
    shared_memory_bytes: int | None = None
    """Of a unit."""
    workgroup_shared_bytes: int | None = None
    """Most that a workgroup gets without asking for more."""
    memory_bytes: int | None = None


_FEW_CARDS = 64
_CURES = {
    "workgroups": ("grid", "kernels launched one by one have it, those replayed from a graph may not"),
    "shared_bytes": (
        "shared memory",
        "a Kineto trace of an NVIDIA card has it as `shared memory`, a rocprofv3 JSON as `group_segment_size`, a "
        "rocprofiler-compute CSV as `LDS_Per_Workgroup`",
    ),
    "threads": ("workgroup size", "kernels launched one by one have it, those replayed from a graph may not"),
    "vgprs": (
        "registers",
        "a Kineto trace of an NVIDIA card has them as `registers per thread`, a rocprofv3 JSON as `arch_vgpr_count`, a "
        "rocprofiler-compute CSV as `Arch_VGPR`",
    ),
}


class Trace(NamedTuple):
    """One trace, read."""

    path: Path
    format: str
    """The name of the importer that read it."""
    counted: str
    """What the format calls a row of `kernels`: kernels or dispatches; empty for a format that records memory alone."""
    kernels: KernelTable
    allocations: AllocationTable | None = None
    """None when the trace holds no memory events."""
    cards: tuple[Card, ...] = ()
    noted: Mapping[str, Any] = {}
    """Further facts of the format, in plain types."""
    logs: tuple[AllocatorLog, ...] = ()
    """What PyTorch's allocator of each card did, of a memory snapshot."""

    def facts(self) -> dict[str, Any]:
        """Return what the trace holds, in plain types: counts, sums and maxima, those that the format has.

        A fact that the trace cannot tell is left out, and `missing` says why; nothing stands as zero instead.
        """
        kernels = _kernel_facts(self.counted, self.kernels) if self.counted else {}
        result: dict[str, Any] = {"format": self.format, **kernels, **self.noted}
        if self.allocations is not None:
            result |= self.allocations.facts()
        if self.cards:
            result["cards"] = len(self.cards)
            result["card_names"] = sorted({card.name for card in self.cards})
        return {**result, "missing": self.missing()}

    def missing(self, needed: Sequence[str] = ("workgroups", "shared_bytes")) -> list[str]:
        """Return a clause for each thing that a workload needs and the trace lacks: what, in how many rows, what has
        it.

        Parameters
        ----------
        needed : names of columns
            What is needed of every launch: `workgroups`, `shared_bytes`, `threads`, `vgprs`.
        """
        rows, word = self.kernels.rows, self.counted
        if not word:
            return [f"it holds no kernels ({self.format} records memory alone)"]
        if not rows:
            return [f"it holds no {word} (record the GPU's activity as well)"]
        clauses = []
        for field in needed:
            what, cure = _CURES[field]
            lacking = self.kernels.lacking(field)
            if lacking:
                clauses.append(f"{lacking} of {rows} {word} have no {what} ({cure}{self._by_lever(field)})")
        if not self.kernels.duration_ns.any():
            clauses.append(f"all {word} last 0 ns (the time stamps were rounded; take a trace in nanoseconds)")
        return clauses

    def _by_lever(self, field: str) -> str:
        """Return which lever takes what stands elsewhere in the trace instead of a column; empty where nothing does."""
        launched, either = self.kernels.launch_shared_bytes, self.kernels.either_workgroups
        if field == "shared_bytes" and launched is not None:
            there = int(np.count_nonzero(launched != MISSING))
            return (
                f"; the launches of {there} tell the dynamic part alone, without the static one, which "
                "`shared_bytes: launch_argument` takes"
            )
        if field == "workgroups" and either is not None:
            unsaid = int(np.count_nonzero(either[:, 0] != MISSING))
            return (
                f"; {unsaid} have one of which the file does not say whether it counts workgroups or work-items: say "
                "`grids: workgroups` or `grids: work_items`"
            )
        return ""


def _streams(device: np.ndarray, stream: np.ndarray) -> int:
    """Return how many streams there are, each of its card; by card, as ten million pairs are slow to sort."""
    cards = np.unique(device)
    if len(cards) > _FEW_CARDS:
        return len(np.unique(np.stack([device, stream]), axis=1).T)
    return sum(len(np.unique(stream[device == card])) for card in cards)


def _kernel_facts(counted: str, table: KernelTable) -> dict[str, Any]:
    facts: dict[str, Any] = {
        counted: table.rows,
        "unique_names": len(table.unique_names),
        "total_duration_ns": int(table.duration_ns.sum()),
        "devices": len(np.unique(table.device)),
        "device_numbers": np.unique(table.device).tolist(),
    }
    if table.stream is not None:
        facts["streams"] = _streams(table.device, table.stream)
    if not table.rows:
        return facts
    facts["zero_durations"] = int(np.count_nonzero(table.duration_ns == 0))
    facts["span_ns"] = int((table.start_ns + table.duration_ns).max()) - int(table.start_ns.min())
    if table.shared_bytes is not None:
        facts["max_shared_bytes"] = int(table.shared_bytes.max())
        facts[f"{counted}_with_shared_memory"] = int(np.count_nonzero(table.shared_bytes > 0))
    if table.workgroups is not None:
        facts["workgroups"] = int(table.workgroups[table.workgroups >= 0].sum())
        facts[f"{counted}_with_grid"] = table.rows - table.lacking("workgroups")
    if table.threads is not None:
        facts["max_threads"] = int(table.threads.max())
    if table.vgprs is not None:
        facts["max_registers"] = int(table.vgprs.max())
    return facts


def importers() -> Mapping[str, Importer]:
    """Return every importer by the name of its format."""
    _import_all()
    return dict(sorted(_KNOWN.items()))


def enter_only(own: Iterable[type[Importer]]) -> None:
    """Let the importers of this package and some others, all of the user's that count, be the known ones."""
    _import_all()
    here = {name: type(importer) for name, importer in _KNOWN.items() if not importer.built_in}
    if here != (wanted := {cls.format: cls for cls in own}):
        _KNOWN.keep_only({name: cls() for name, cls in wanted.items()})


@functools.cache
def _import_all() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")


def read_trace(path: Path | str) -> Trace:
    """Read a trace of whatever format, compressed (gzip, xz, bzip2) or not.

    Raises
    ------
    InputError
        There is no such file, it is empty, cut off or damaged, or of no format that is read here.

    Examples
    --------
    >>> read_trace("no_such_trace.json.gz")
    Traceback (most recent call last):
    workbench.errors.InputError: no_such_trace.json.gz: there is no such file.
    """
    source = Source(path)
    return _sound(_importer_of(source), source)


def importer_of(path: Path | str) -> Importer:
    """Return the importer that reads a trace; errors as of `read_trace`."""
    return _importer_of(Source(path))


def _importer_of(source: Source) -> Importer:
    for importer in importers().values():
        with as_one_sentence(source, importer.format):
            if importer.recognises_source(source):
                return importer
    refuse_unreadable(source)
    known = ", ".join(name if one.built_in else f"{name} ({one.description})" for name, one in importers().items())
    raise InputError(
        f"{source.where}: is no trace that is read here; there are {known}. It begins with {source.head[:24]!r}; "
        "workbench open docs has a page on each format."
    )


def _sound(importer: Importer, source: Source) -> Trace:
    """Read, and refuse numbers that no card can have produced."""
    with as_one_sentence(source, importer.format):
        trace = importer.read(source)
    if not isinstance(trace, Trace):
        raise InputError(f"{source.where}: the importer {importer.format} must return a Trace. Got {shown(trace)}.")
    table, word = trace.kernels, trace.counted
    for times in (table.start_ns, table.duration_ns):
        if len(times) and max(-int(times.min()), int(times.max())) > _LATEST_NS:
            raise InputError(f"{source.where}: holds a number that does not fit in 64 bits; the file is damaged.")
    for field, least in (("duration_ns", 0), ("workgroups", MISSING), ("threads", MISSING), ("shared_bytes", MISSING)):
        column = getattr(table, field)
        if column is not None and (column < least).any():
            row = int(np.argmax(column < least))
            raise InputError(f"{source.where}: {field} of {word} {row} is below zero. Got {column[row]}.")
    return trace


class KernelList(Trace):
    """A trace without starts: kernels follow one another in the order of the list, without a gap."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of a trace without those that need starts."""
        result = super().facts()
        result.pop("span_ns", None)
        if not self.kernels.duration_ns.any():
            for name in ("total_duration_ns", "zero_durations"):
                result.pop(name, None)
        return result

    def missing(self, needed: Sequence[str] = ("workgroups", "shared_bytes")) -> list[str]:
        """Return a clause for each thing that a workload needs and the list lacks."""
        messages = [clause for clause in super().missing(needed) if " last 0 ns " not in clause]
        if self.kernels.rows and not self.kernels.duration_ns.any():
            messages.append(f"it holds no times ({self.noted.get('times_from', 'record a trace as well')})")
        return messages
