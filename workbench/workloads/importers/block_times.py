"""Logs of the blocks of kernels: on which SM each ran, and from when to when.

`cuda_scheduling_examiner` writes one JSON file a benchmark. Its `times` hold an object a kernel: `block_times` with the
start and the end of each block in turn, in seconds, and `block_smids` with the SM of each. Its older files have the
numbers of threads and blocks once for all kernels, and no SMs. `benchmarks/on_a_card` writes the same format with more
keys, which other writers may leave out: `stream` and `registers` of a kernel, and `card`, what an SM has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from workbench.errors import InputError
from workbench.workloads.importers.importer import Importer
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.trace import Card, Trace
from workbench.workloads.kernels import MISSING, KernelRows

_LATEST_SECONDS = 4e9
_LARGEST_MODULE = 4095


class _Kernel(msgspec.Struct):
    """An entry of `times`; without `block_times` it holds times of the host, or nothing."""

    block_times: list[float] | None = None
    block_smids: list[int] | None = None
    kernel_name: str = ""
    block_count: int | None = None
    thread_count: int | None = None
    shared_memory: int | None = None
    registers: int | None = None
    stream: int | None = None


class _Card(msgspec.Struct):
    name: str
    units: int | None = None
    wave_size: int | None = None
    threads_a_unit: int | None = None
    blocks_a_unit: int | None = None
    registers_a_unit: int | None = None
    shared_bytes_a_unit: int | None = None


class _File(msgspec.Struct):
    times: list[_Kernel]
    scenario_name: str = ""
    benchmark_name: str = ""
    label: str | None = None
    thread_count: int | None = None
    max_resident_threads: int | None = None
    card: _Card | None = None


_file = msgspec.json.Decoder(_File)


class BlockLog(NamedTuple):
    """The blocks of a file, one row a block, kernel after kernel in the order of the file."""

    scenario: str
    """The name that the files of one experiment share."""
    card: Card
    blocks_a_unit: int | None
    """The most blocks that an SM holds, where the file says it."""
    most_resident_threads: int | None
    """Threads that the whole card holds at once, where the file says it."""
    kernel: np.ndarray
    """int64[blocks], the place of its kernel in the file, kernels alone counted."""
    module: np.ndarray
    """int64[blocks], the SM, MISSING where the file has none."""
    first_ns: int
    """When the first block started, in nanoseconds of the clock that all files of an experiment share."""
    start_ns: np.ndarray
    """int64[blocks], in nanoseconds since the first block of the file."""
    end_ns: np.ndarray
    """int64[blocks]."""
    streams: tuple[int, ...]
    """The stream of each kernel."""
    threads: tuple[int, ...]
    """Threads of a block of each kernel."""
    shared_bytes: tuple[int, ...]
    """Shared memory of a block of each kernel, MISSING where the file has none."""
    registers: tuple[int, ...]
    """Registers of a thread of each kernel, MISSING where the file has none."""
    names: tuple[str, ...]
    """The name of each kernel."""


class BlockTimesJson(Importer):
    """Reads the file whole; a kernel starts with its first block and lasts until its last block ends."""

    format = "block_times_json"
    description = "JSON logs of cuda_scheduling_examiner, with the times of each block"
    counted = "kernels"

    def recognises(self, head: bytes) -> bool:
        return _is_log(head)

    def read(self, source: Source) -> Trace:
        log = _log_of(source)
        rows = KernelRows()
        for kernel, name in enumerate(log.names):
            own = log.kernel == kernel
            start = int(log.start_ns[own].min())
            rows.add(
                name,
                start_ns=start,
                duration_ns=int(log.end_ns[own].max()) - start,
                device=0,
                stream=log.streams[kernel],
                workgroups=int(np.count_nonzero(own)),
                threads=log.threads[kernel],
                shared_bytes=log.shared_bytes[kernel],
                vgprs=log.registers[kernel],
            )
        known = np.unique(log.module[log.module != MISSING])
        noted: dict[str, Any] = {"scenario": log.scenario, "blocks": len(log.kernel)}
        cards = (log.card,) if log.card.name else ()
        return self.trace(
            source, rows.table(), cards=cards, noted=noted | ({"modules": len(known)} if len(known) else {})
        )


def _is_log(head: bytes) -> bool:
    return head.lstrip()[:1] == b"{" and b'"block_times"' in head and b'"times"' in head


def is_block_log(path: Path | str) -> bool:
    """Return whether a file begins like a log of blocks; errors as of `read_trace`."""
    return _is_log(Source(path).head)


def read_blocks(path: Path | str) -> BlockLog:
    """Return the blocks of a file.

    Raises
    ------
    InputError
        The file cannot be read, or is not as the tool writes it.
    """
    return _log_of(Source(path))


def _log_of(source: Source) -> BlockLog:
    where = source.where
    try:
        file = _file.decode(source.whole())
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(f"{where}: is not as cuda_scheduling_examiner writes it ({problem}).") from None
    kernels = [kernel for kernel in file.times if kernel.block_times]
    if not kernels:
        raise InputError(f"{where}: must hold block_times of at least one kernel. Got none.")
    for place, kernel in enumerate(kernels):
        _check(kernel, file, f"{where}: kernel {place}")
    counts = [len(kernel.block_times or ()) // 2 for kernel in kernels]
    seconds = np.concatenate([np.array(kernel.block_times, float) for kernel in kernels]).reshape(-1, 2)
    times = np.rint((seconds - seconds.min()) * 1e9).astype(np.int64)
    modules = [kernel.block_smids or [MISSING] * count for kernel, count in zip(kernels, counts, strict=True)]
    for field in ("shared_memory", "registers"):
        if len({getattr(kernel, field) is None for kernel in kernels}) > 1:
            raise InputError(f"{where}: {field} must be given for each kernel or for none. Got it for some.")
    card = file.card or _Card("")
    return BlockLog(
        scenario=file.scenario_name,
        card=Card(
            number=0,
            name=card.name,
            compute_units=card.units,
            wave_size=card.wave_size,
            threads_a_unit=card.threads_a_unit,
            registers_a_unit=card.registers_a_unit,
            shared_memory_bytes=card.shared_bytes_a_unit,
        ),
        blocks_a_unit=card.blocks_a_unit,
        most_resident_threads=file.max_resident_threads,
        kernel=np.repeat(np.arange(len(kernels)), counts),
        module=np.concatenate([np.array(each, np.int64) for each in modules]),
        first_ns=round(float(seconds.min()) * 1e9),
        start_ns=times[:, 0],
        end_ns=times[:, 1],
        streams=tuple(kernel.stream or 0 for kernel in kernels),
        threads=tuple(kernel.thread_count or file.thread_count or MISSING for kernel in kernels),
        shared_bytes=_each(kernels, "shared_memory"),
        registers=_each(kernels, "registers"),
        names=tuple(kernel.kernel_name or file.label or file.benchmark_name or "kernel" for kernel in kernels),
    )


def _each(kernels: list[_Kernel], field: str) -> tuple[int, ...]:
    values = (getattr(kernel, field) for kernel in kernels)
    return tuple(MISSING if value is None else value for value in values)


def _check(kernel: _Kernel, file: _File, where: str) -> None:
    """Refuse a kernel whose lists do not fit together, or that holds what no card can have measured."""
    times, modules = kernel.block_times or [], kernel.block_smids
    if len(times) % 2 or (kernel.block_count is not None and len(times) != 2 * kernel.block_count):
        raise InputError(f"{where}: block_times must hold a start and an end for each block. Got {len(times)} numbers.")
    if modules is not None and len(modules) != len(times) // 2:
        raise InputError(
            f"{where}: block_smids must hold one SM for each of {len(times) // 2} blocks. Got {len(modules)}."
        )
    wrong = [module for module in modules or () if not 0 <= module <= _LARGEST_MODULE]
    if wrong:
        raise InputError(f"{where}: an SM must be a number from 0 to {_LARGEST_MODULE}. Got {wrong[0]}.")
    for block, (start, end) in enumerate(zip(times[::2], times[1::2], strict=True)):
        if not -_LATEST_SECONDS <= start <= end <= _LATEST_SECONDS:
            raise InputError(f"{where}: block {block} must end after its start, in seconds. Got {start} and {end}.")
    if (kernel.thread_count or file.thread_count or 0) < 1:
        raise InputError(f"{where}: thread_count must be at least 1. Got {kernel.thread_count or file.thread_count}.")
