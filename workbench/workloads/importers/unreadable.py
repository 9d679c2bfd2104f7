"""Files that are no traces, each refused in one sentence, and errors of readers as one sentence.

A format that is not read here is refused with the command of its own tool that makes one that is. Whatever an importer
raises is shown with the file and the line that was being read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source

_WARP_HEADER = (b"-kernel name", b"-kernel id", b"-grid dim")


class Unreadable(NamedTuple):
    """A format that is not read."""

    endings: tuple[str, ...]
    """What names of its files end with."""
    is_what: str
    cure: str
    """The command, with `{name}` for the file's name and `{stem}` for it without its ending."""
    begins: re.Pattern[bytes] | None = None
    """What contents of its files begin with."""


_NSYS = "nsys export --type sqlite --output {stem}.sqlite {name}"
_ROCPROF = "rocprofv3 --kernel-trace --output-format csv -- PROGRAM"
_UNREADABLE = (
    Unreadable((".nsys-rep", ".qdrep", ".qdstrm"), "a report of Nsight Systems", _NSYS),
    Unreadable((".ncu-rep",), "a report of Nsight Compute", "ncu --import {name} --csv --page raw > {stem}.csv"),
    Unreadable((".tracez",), "a compressed trace of Accel-Sim 2 (zstd with a dictionary)", "traceDsm {name}"),
    Unreadable((".otf2",), "an OTF2 archive", "rocprofv3 --kernel-trace --output-format rocpd -- PROGRAM"),
    Unreadable((), "a table of counters of rocprofv3", _ROCPROF, re.compile(rb'[^\n]*Counter_Name"?,"?Counter_Value')),
    Unreadable((), "a table of API calls of rocprofv3", _ROCPROF, re.compile(rb'"?Domain"?,"?Function"?,')),
    Unreadable(
        (),
        "a log of RMM without its first line",
        "sed -i '1i Thread,Time,Action,Pointer,Size,Stream' {name}",
        re.compile(rb"\d+,[\d:.]+,(allocate|free|deallocate|allocate failure),[^,\n]*,\d+,\w+\r?\n"),
    ),
)
_NCU_MAGIC = b"NVR\x00"


def refuse_unreadable(source: Source) -> None:
    """Raise if a file is known not to be readable: one sentence with the command that makes one that is.

    Raises
    ------
    InputError
        It is of such a format.
    """
    kind = next((it for it in _UNREADABLE if _is_of(it, source)), None)
    if kind is None:
        return
    name = source.path.name
    stem = next((name.removesuffix(ending) for ending in kind.endings if name.endswith(ending)), name)
    raise InputError(
        f"{source.where}: is {kind.is_what}, which cannot be read; take `{kind.cure.format(name=name, stem=stem)}`."
    )


def _is_of(unreadable: Unreadable, source: Source) -> bool:
    if source.path.name.endswith(unreadable.endings):
        return True
    if unreadable.begins is not None:
        return unreadable.begins.match(source.head.removeprefix(b"\xef\xbb\xbf")) is not None
    if ".ncu-rep" in unreadable.endings:
        return source.head.startswith(_NCU_MAGIC)
    return ".tracez" in unreadable.endings and is_tracez(source.head)


def is_tracez(head: bytes) -> bool:
    """Return whether contents are a header of Accel-Sim's, a null byte and more behind it, as a compressed trace is."""
    return head.lstrip().startswith(_WARP_HEADER) and bool(head.partition(b"\x00")[2].strip(b"\x00"))


@contextmanager
def as_one_sentence(source: Source, importer: str) -> Iterator[None]:
    """Turn whatever the importer of a format raises inside into a sentence about the file.

    Parameters
    ----------
    source : Source
        The file that is read.
    importer : str
        The name of the format.

    Raises
    ------
    InputError
        Anything was raised but an InputError, which goes through, or the user's interrupt.
    """
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise InputError(
            f"{source.where}: does not fit into this machine's memory as it is read; take a machine with more, or a "
            "shorter recording."
        ) from None
    except OverflowError:
        raise InputError(f"{source.where}: holds a number that does not fit in 64 bits; the file is damaged.") from None
    except (Exception, SystemExit) as problem:
        number = _line_at_fault(source, problem.__traceback__)
        place = source.where if number is None else f"{source.where}: line {number}"
        what = f"{type(problem).__name__} ({shown(str(problem))})" if str(problem) else type(problem).__name__
        raise InputError(f"{place}: the importer {importer} raised {what}; see what stands there.") from problem


def _line_at_fault(source: Source, trace: TracebackType | None) -> int | None:
    """Return the number of the first line that was in the hands of the code that raised; None if no whole line was."""
    held = _texts(trace)
    if not held:
        return None
    try:
        return next((number for number, line in enumerate(source.lines(), 1) if line.strip() in held), None)
    except InputError:
        return None


def _texts(trace: TracebackType | None) -> set[str]:
    """Return the texts that the code on the way to what raised had in its variables."""
    held: set[str] = set()
    while trace is not None:
        here = {value.strip() for value in trace.tb_frame.f_locals.values() if isinstance(value, str)} - {""}
        held, trace = here | held, trace.tb_next
    return held
