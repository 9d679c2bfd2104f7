"""Formats that cannot be read here, and which command of their own tools makes one that can."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.errors import InputError
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
_FORMATS = (
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
    found = next((it for it in _FORMATS if _is(it, source)), None)
    if found is None:
        return
    name = source.path.name
    stem = next((name.removesuffix(ending) for ending in found.endings if name.endswith(ending)), name)
    raise InputError(
        f"{source.where}: is {found.is_what}, which cannot be read; take `{found.cure.format(name=name, stem=stem)}`."
    )


def _is(unreadable: Unreadable, source: Source) -> bool:
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
