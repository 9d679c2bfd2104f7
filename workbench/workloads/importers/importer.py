"""The base of importers, and the registry that finds the one of a file.

An importer answers for one format: it recognizes the format by the first bytes of the contents and reads the file into
tables. A class joins by being defined, in a module of this folder or in a notebook cell.

To add one, write a class that derives from `Importer`, in the module of the formats of the same tool or in a new module
here. Write a test of its corners in `tests/workloads/importers`. Its `SAMPLES` write a trace of a few lines (or put
such a trace into `tests/data/traces`). List public files of the format in `data/catalogue.yaml`. Nothing else names
importers. `tests/workloads/importers/test_new_importer.py` does the same.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError, shown
from workbench.parts.registry import Guests, Registry
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Trace
from workbench.workloads.importers.unreadable import as_one_sentence, refuse_unreadable
from workbench.workloads.kernels import MISSING, KernelRows, KernelTable

_LATEST_NS = (1 << 62) - 1
"""Times further from 0, of 146 years, would not fit in 64 bits once two are added."""
IMPORTERS = Registry["Importer"](
    "importer",
    named_by="format",
    guests=Guests(
        "importer",
        lambda value: isinstance(value, type) and issubclass(value, Importer),
        named_by="format",
        made=lambda cls: cls(),
    ),
)


class Importer:
    """The base of every importer. A column that a file does not hold stays None; see `KernelTable`."""

    format: ClassVar[str]
    """The name of the format, as `facts()` and the catalogue write it."""
    description: ClassVar[str]
    """The writers of such files, in a few words, for the message about a file that no reader accepts."""
    counted: ClassVar[str] = ""
    """What the format calls a row of its kernels: kernels or dispatches; empty for one that records memory alone."""

    built_in: ClassVar[bool] = True
    """Whether the class is part of this package."""
    __describes__: ClassVar[tuple[str, ...]] = ("built_in",)

    def __init_subclass__(cls) -> None:
        cls.built_in = cls.__module__.startswith("workbench.")
        if hasattr(cls, "format") or "read" in vars(cls):  # else it is being unpickled, and is filled in later
            IMPORTERS.join(cls.format, cls())

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
        """Return the content of a file: its kernels, of memory alone none, and what else a `Trace` may hold."""
        return Trace(source.path, self.format, self.counted, kernels or KernelRows().table(), **more)


def importers() -> Mapping[str, Importer]:
    """Return every importer by the name of its format."""
    _import_all()
    return dict(sorted(IMPORTERS.all().items()))


def enter_only(own: Iterable[type[Importer]]) -> None:
    """Let the importers of this package and some others, all of the user's that count, be the known ones."""
    _import_all()
    here = {name: type(importer) for name, importer in IMPORTERS.items() if not importer.built_in}
    if here != (wanted := {cls.format: cls for cls in own}):
        IMPORTERS.keep_only({name: cls() for name, cls in wanted.items()})


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
        f"workbench open docs has a page on each format.{''.join(f' {one}' for one in IMPORTERS.problems())}"
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
