"""The experiments and their files: blocks and modules, TLB chases, heap and lock curves, addresses of shared memory.

Each experiment measures all that its file holds before it writes. The files have the formats of public measurements.
Logs of blocks are as cuda_scheduling_examiner writes them, with more keys. Chases are as those of cuda-gpu-tlb, curves
as those of GPUMemManSurvey.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.on_a_card.card import Card, Measure

MIB = 1 << 20
CHASES = (
    (1, 5, (64, 128, 256)),
    (12, 80, (1024, 2048, 4096)),
    (48, 300, (1024, 2048, 4096)),
    (1500, 5000, (1024, 2048, 4096)),
    (1472, 4992, (16384, 32768, 65536)),
    (4096, 65536, (32768, 65536, 131072)),
)
"""Footprints from and to, in MiB, and strides, in KiB: those of the public files of cuda-gpu-tlb, and one more."""
CHASE_REPEATS = 3
HEAP_BYTES = (16, 64, 256, 1024, 4096)
HEAP_SIZE = 1 << 30
THREADS = tuple(1 << k for k in range(17))
REPEATS = 10
MOST_MEMORY = 0.8
"""The part of the free memory that a chase may take."""


class Experiment(NamedTuple):
    """One measurement and its file."""

    file: str
    text: Callable[[], str]
    """Measures, and returns the contents of the file."""


def experiments(card: Card, measure: Measure) -> Iterator[Experiment]:
    """Yield the experiments that a card can do, the longest ones last."""
    for name, streams, kernels in _block_runs(card):
        yield Experiment(f"blocks_{name}.json", _bound(block_log, card, measure, name, streams, kernels))
    if card.platform == "hip":
        yield Experiment("lds_addresses.csv", _bound(shared_addresses, card, measure))
    for least, most, strides in CHASES:
        if most * MIB <= MOST_MEMORY * card.free_bytes:
            file = f"TLB-Test-{least}-{most}-{strides[0]}-{strides[-1]}.csv"
            yield Experiment(file, _bound(chase, card, measure, least, most, strides))
    yield Experiment(f"scale_lock_{card.platform.upper()}_{_threads()}.csv", _bound(lock_curve, measure))
    for bytes_each in HEAP_BYTES:
        file = f"scale_alloc_{card.platform.upper()}_{bytes_each}_{_threads()}.csv"
        yield Experiment(file, _bound(heap_curve, measure, bytes_each))


def _bound(function: Callable[..., str], *arguments: Any) -> Callable[[], str]:
    return lambda: function(*arguments)


def _threads() -> str:
    return f"{THREADS[0]}-{THREADS[-1]}"


class BlockKernel(NamedTuple):
    """A kernel whose blocks wait, each for a time of its own."""

    blocks: int
    threads: int
    shared_bytes: int
    least_ns: int
    spread_ns: int


def _block_runs(card: Card) -> list[tuple[str, int, tuple[BlockKernel, ...]]]:
    """Return the runs of blocks: a name, how many streams, the kernels."""
    units, third = card.units, card.shared_bytes_a_unit // 3 // 1024 * 1024 - 1024
    whole = BlockKernel(units * card.threads_a_unit // 256 * 3, 256, 0, 50_000, 200_000)
    held = BlockKernel(units * 8, 128, min(third, 32 * 1024), 50_000, 200_000)
    small = BlockKernel(units * 2, 512, 0, 100_000, 0)
    return [
        ("one_stream", 1, (whole,)),
        ("one_stream_equal", 1, (whole._replace(spread_ns=0),)),
        ("one_stream_shared_memory", 1, (held,)),
        ("two_streams", 2, (small._replace(blocks=units), held, small, whole._replace(blocks=units * 6))),
    ]


def _blocks(measure: Measure, streams: int, kernels: Sequence[BlockKernel]) -> tuple[int, list[list[str]]]:
    """Return the registers of a thread, and one row a block: kernel, stream, block, unit, start, end, base."""
    lines = measure("blocks", streams, *(number for kernel in kernels for number in kernel))
    return int(lines[0].removeprefix("registers=")), [line.split(",") for line in lines[1:]]


def block_log(card: Card, measure: Measure, name: str, streams: int, kernels: Sequence[BlockKernel]) -> str:
    """Return a log of blocks: JSON with `block_times` in seconds and `block_smids`, an object a kernel."""
    registers, rows = _blocks(measure, streams, kernels)
    times: list[dict[str, Any]] = [{}]
    for number, kernel in enumerate(kernels):
        own = [row for row in rows if int(row[0]) == number]
        times.append(
            {
                "kernel_name": f"spin_{number}",
                "block_count": kernel.blocks,
                "thread_count": kernel.threads,
                "shared_memory": kernel.shared_bytes,
                "registers": registers,
                "stream": int(own[0][1]),
                "block_times": [int(row[place]) / 1e9 for row in own for place in (4, 5)],
                "block_smids": [int(row[3]) for row in own],
            }
        )
    of_card = ("name", "units", "wave_size", "threads_a_unit", "blocks_a_unit", "registers_a_unit")
    log = {
        "scenario_name": name,
        "benchmark_name": "spin",
        "max_resident_threads": card.units * card.threads_a_unit,
        "card": {field: getattr(card, field) for field in (*of_card, "shared_bytes_a_unit")},
        "times": times,
    }
    return json.dumps(log, indent=1) + "\n"


def shared_addresses(card: Card, measure: Measure) -> str:
    """Return where the shared memory of each block began in its unit: CSV; base -1 where no register tells it."""
    sizes = (4, 12, 8, 20, 6)
    kernels = [BlockKernel(card.units * 6, 64, kib << 10, 50_000, 300_000) for kib in sizes]
    _, rows = _blocks(measure, len(sizes), kernels)
    lines = [f"#{_title(card)}", "kernel,block,unit,start_ns,end_ns,base_bytes,bytes"]
    for kernel, _, block, unit, start, end, base in rows:
        lines.append(f"{kernel},{block},{unit},{start},{end},{base},{kernels[int(kernel)].shared_bytes}")
    return "\n".join(lines) + "\n"


def chase(card: Card, measure: Measure, least: int, most: int, strides: Sequence[int]) -> str:
    """Return cycles an access by footprint in MiB and stride in KiB; a stride has the footprints that it divides."""
    cells: dict[int, dict[int, str]] = {}
    for stride in strides:
        for line in measure("chase", stride, least << 10, most << 10, CHASE_REPEATS):
            footprint, cycles = line.split(",")
            cells.setdefault(int(footprint), {})[stride] = f"{float(cycles):.0f}"
    rows = [f"{kib / 1024:.10g}," + "".join(f"{row.get(stride, '')}," for stride in strides)
            for kib, row in sorted(cells.items())]  # fmt: skip
    return "\n".join([f"#{_title(card)}, reduction mode: avg", f"#,{''.join(f'{s},' for s in strides)}", *rows]) + "\n"


def _title(card: Card) -> str:
    return f"{card.name}: {card.platform} {card.version}"


def heap_curve(measure: Measure, bytes_each: int) -> str:
    """Return milliseconds of a kernel in which each thread allocates once, by the number of threads."""
    return _curve(lambda threads: measure("heap", bytes_each, threads, REPEATS, HEAP_SIZE))


def lock_curve(measure: Measure) -> str:
    """Return milliseconds of a kernel in which each thread takes one lock once, by the number of threads."""
    return _curve(lambda threads: measure("lock", threads, REPEATS))


def _curve(measured: Callable[[int], list[str]]) -> str:
    lines = ["NumThreads, mean, std-dev, min, max, median"]
    for threads in THREADS:
        ms = [float(line) for line in measured(threads)]
        numbers = (statistics.mean(ms), statistics.pstdev(ms), min(ms), max(ms), statistics.median(ms))
        lines.append(",".join([str(threads), *(f"{number:.6g}" for number in numbers)]))
    return "\n".join(lines) + "\n"


def write(folder: Path, experiment: Experiment) -> Path:
    """Measure, then write the file; it appears whole or not at all."""
    text = experiment.text()
    path = folder / experiment.file
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    return part.replace(path)
