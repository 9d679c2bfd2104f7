"""Accel-Sim's kernelslist: the copies and launches of a program in their order, beside the traces of its kernels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from workbench.errors import InputError, shown
from workbench.units import is_count
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_facts import AddressTrace, Footprint, warp_facts
from workbench.workloads.importers.warp_reader import WarpReader
from workbench.workloads.kernels import KernelRows

_PACKED = ("", ".gz", ".xz", ".bz2")
_LONGEST_NAME = 200
"""Letters; file systems take 255 bytes, with the ending."""
_SUMMED = ("instructions", "memory_instructions", "shared_memory_instructions", "global_memory_instructions")


class Listing(NamedTuple):
    """What a kernelslist says."""

    lines: int
    kernels: list[str]
    """The traces' names, in the order of launches."""
    copy_bytes: list[int]
    """Bytes of each copy to the card."""


class KernelsList(Importer):
    """Every kernel whose trace lies beside the list is read; which are absent is a fact."""

    format = "kernelslist"
    says = "kernelslist of Accel-Sim's tracer"

    def recognises(self, head: bytes) -> bool:
        lines = [line for line in head.split(b"\n")[:64] if line.strip()]
        return bool(lines) and all(line.startswith((b"MemcpyHtoD,", b"kernel-")) for line in lines)

    def read(self, source: Source) -> AddressTrace:
        listing = read_listing(source)
        found = {name: trace_beside(source.path, name) for name in listing.kernels}
        footprint, names = Footprint(), set()
        totals = dict.fromkeys(_SUMMED, 0)
        for path in filter(None, (found[name] for name in listing.kernels)):
            facts = warp_facts(WarpReader(Source(path)), footprint)
            names.add(facts["kernel_name"])
            totals = {name: total + facts[name] for name, total in totals.items()}
        noted = {
            "lines": listing.lines,
            "kernels": len(listing.kernels),
            "copies": len(listing.copy_bytes),
            "copy_bytes": sum(listing.copy_bytes),
            "listed_but_absent": [name for name, path in found.items() if path is None],
            "trace_files_not_listed": _not_listed(source.path, listing.kernels),
            "unique_names": len(names),
            **totals,
            **footprint.facts(),
        }
        return AddressTrace(source.path, self.format, "kernels", KernelRows().table(), noted=noted)


def read_listing(source: Source) -> Listing:
    """Read what a kernelslist says.

    Raises
    ------
    InputError
        A line is neither a copy nor the trace of a kernel.
    """
    kernels, copy_bytes, lines = [], [], 0
    for number, line in _lines(source):
        lines += 1
        fields = line.split(",")
        if line.startswith("kernel-"):
            kernels.append(_file_name(line, f"{source.where}: line {number}"))
        elif fields[0] == "MemcpyHtoD" and len(fields) == 3 and is_count(fields[2]):
            copy_bytes.append(int(fields[2]))
        else:
            expected = "expected `kernel-...` or `MemcpyHtoD,address,bytes`"
            raise InputError(f"{source.where}: line {number}: {expected}. Got {shown(line)}.")
    return Listing(lines, kernels, copy_bytes)


def _file_name(name: str, place: str) -> str:
    """Return the name of a trace, which lies beside its list; one that names folders could lead anywhere."""
    if len(name) > _LONGEST_NAME or not name.isprintable() or {"/", "\\"} & set(name):
        expected = f"expected the name of a file beside the list, of at most {_LONGEST_NAME} letters"
        raise InputError(f"{place}: {expected}. Got {shown(name)}.")
    return name


def trace_beside(path: Path, name: str) -> Path | None:
    """Return the trace that a list at a path names, compressed or not; None where it is absent."""
    plain = name.removesuffix(".xz").removesuffix(".gz")
    return next((found for packed in _PACKED if (found := path.with_name(plain + packed)).is_file()), None)


def _not_listed(path: Path, names: list[str]) -> int:
    """Return how many traces of kernels lie beside a list that does not name them."""
    listed = {trace_beside(path, name) for name in names}
    ends = tuple(f".trace{group}{packed}" for group in ("", "g") for packed in _PACKED)
    beside = (found for found in path.parent.glob("kernel-*") if found.name.endswith(ends))
    return sum(found not in listed for found in beside)


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield number, line.strip()
