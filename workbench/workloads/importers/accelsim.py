"""Accel-Sim's traces of addresses: of one kernel, and its kernelslist.

Tracer versions 3 to 5, raw (`.trace`) and grouped by thread block (`.traceg`), read by `warp_reader`. A kernelslist
holds the copies and launches of a program in their order, next to the traces of its kernels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from workbench.units import is_count
from workbench.workloads.importers.accelsim_lines import numbered_lines, wrong_line
from workbench.workloads.importers.address_footprint import AddressTrace, Footprint
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.unreadable import is_tracez
from workbench.workloads.importers.warp_reader import WarpReader


class RawWarpTrace(Importer):
    """Lines in the order in which they were drained."""

    format = "accelsim_trace_raw"
    description = "kernel-N.trace of Accel-Sim's NVBit tracer"
    counted = "kernels"
    grouped: ClassVar[bool] = False

    def recognises(self, head: bytes) -> bool:
        begins = head.lstrip().startswith((b"-kernel name", b"-kernel id", b"-grid dim"))
        return begins and not is_tracez(head) and _is_grouped(head) == self.grouped

    def read(self, source: Source) -> AddressTrace:
        return AddressTrace(*self.trace(source, noted=warp_facts(WarpReader(source), Footprint())))


class GroupedWarpTrace(RawWarpTrace):
    """One thread block after the other."""

    format = "accelsim_trace_grouped"
    description = "kernel-N.traceg of Accel-Sim"
    grouped = True


def _is_grouped(head: bytes) -> bool:
    _, _, body = head.partition(b"#traces format")
    lines = (line for line in body.split(b"\n")[1:] if line.strip())
    return next(lines, b"").startswith(b"#BEGIN_TB")


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
    """Every kernel whose trace lies next to the list is read; the absent ones are listed."""

    format = "kernelslist"
    description = "kernelslist of Accel-Sim's tracer"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        lines = [line for line in head.split(b"\n")[:64] if line.strip()]
        return bool(lines) and all(line.startswith((b"MemcpyHtoD,", b"kernel-")) for line in lines)

    def read(self, source: Source) -> AddressTrace:
        listing = read_listing(source)
        paths = {name: trace_beside(source.path, name) for name in listing.kernels}
        footprint, names = Footprint(), set()
        totals = dict.fromkeys(_SUMMED, 0)
        for path in filter(None, (paths[name] for name in listing.kernels)):
            facts = warp_facts(WarpReader(Source(path)), footprint)
            names.add(facts["kernel_name"])
            totals = {name: total + facts[name] for name, total in totals.items()}
        noted = {
            "lines": listing.lines,
            "kernels": len(listing.kernels),
            "copies": len(listing.copy_bytes),
            "copy_bytes": sum(listing.copy_bytes),
            "listed_but_absent": [name for name, path in paths.items() if path is None],
            "trace_files_not_listed": _not_listed(source.path, listing.kernels),
            "unique_names": len(names),
            **totals,
            **footprint.facts(),
        }
        return AddressTrace(*self.trace(source, noted=noted))


def read_listing(source: Source) -> Listing:
    """Read what a kernelslist says.

    Raises
    ------
    InputError
        A line is neither a copy nor the trace of a kernel.
    """
    kernels, copy_bytes, lines = [], [], 0
    for number, line in numbered_lines(source):
        lines += 1
        fields = line.split(",")
        if line.startswith("kernel-"):
            if len(line) > _LONGEST_NAME or not line.isprintable() or {"/", "\\"} & set(line):
                # one that names folders could lead anywhere
                expected = f"expected the name of a file beside the list, of at most {_LONGEST_NAME} letters"
                raise wrong_line(source.where, number, expected, line)
            kernels.append(line)
        elif fields[0] == "MemcpyHtoD" and len(fields) == 3 and is_count(fields[2]):
            copy_bytes.append(int(fields[2]))
        else:
            raise wrong_line(source.where, number, "expected `kernel-...` or `MemcpyHtoD,address,bytes`", line)
    return Listing(lines, kernels, copy_bytes)


def trace_beside(path: Path, name: str) -> Path | None:
    """Return the trace that a list at a path names, compressed or not; None where it is absent."""
    plain = name.removesuffix(".xz").removesuffix(".gz")
    return next((candidate for packed in _PACKED if (candidate := path.with_name(plain + packed)).is_file()), None)


def _not_listed(path: Path, names: list[str]) -> int:
    """Return the number of traces of kernels that lie next to a list that does not name them."""
    listed = {trace_beside(path, name) for name in names}
    ends = tuple(f".trace{group}{packed}" for group in ("", "g") for packed in _PACKED)
    beside = (file for file in path.parent.glob("kernel-*") if file.name.endswith(ends))
    return sum(file not in listed for file in beside)


def warp_facts(reader: WarpReader, footprint: Footprint) -> dict[str, Any]:
    """Return the facts of one trace; it is read to its end."""
    footprint.add(reader.batches())
    header, of_memory = reader.header, sum(reader.opcodes.values())
    return {
        "kernels": 1,
        "unique_names": 1,
        "kernel_name": header.kernel,
        "grid": list(header.grid),
        "block": list(header.block),
        "max_shared_bytes": header.shared_bytes,
        "registers": header.registers,
        "binary_version": header.compute_capability,
        "tracer_version": header.version,
        "thread_blocks": reader.blocks,
        "warps": len(reader.warps),
        "instructions": reader.instructions,
        **({"instructions_declared": reader.declared} if reader.grouped else {}),
        "memory_instructions": of_memory,
        "shared_memory_instructions": reader.of_shared,
        "global_memory_instructions": of_memory - reader.of_shared,
        **footprint.facts(),
        "memory_opcodes": dict(sorted(reader.opcodes.items())),
        "address_modes": {str(mode): count for mode, count in sorted(reader.modes.items())},
    }
