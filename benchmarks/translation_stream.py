"""A trace that is made block by block: the peak memory of a million and of a hundred million accesses.

Each is a process of its own, whose peak holds the interpreter, the compiled engine and the run. `python -m
benchmarks.translation_stream 100000000` is one of them.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.row import row
from benchmarks.translation_runs import simulated
from workbench.levers import lever
from workbench.records.translation import accesses
from workbench.streams import Streams
from workbench.workloads.workload import Accesses, Workload

FEW, MANY = 1_000_000, 100_000_000
MOST_GROWTH = 8.0
"""Mebibytes between the two: four bytes an access more would be 378."""
BLOCK = 1 << 18
MACHINE = {"cores": 16, "private_entries": 32, "shared_entries": 512, "network": "mesh"}
POLICY = {"locate": {"directory": {"scope": "oracle"}}, "peer": "nearest", "fill": "demand_always", "eviction": "lru"}
PAGES, EVERY = 320, 16


class MadePages(Workload):
    """Uniform over the pages, cores in turn, an access every 16 cycles; each block is made when it is asked for."""

    count: int = lever(FEW, least=1, most=1 << 40, unit="accesses", description="accesses")

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        for first in range(0, self.count, BLOCK):
            at = np.arange(first, min(first + BLOCK, self.count))
            page = np.random.default_rng(first).integers(0, PAGES, at.size)
            yield Accesses(at * EVERY, (at % machine.cores).astype(np.int32), page)


def translation_stream() -> list[dict[str, Any]]:
    """A hundred million accesses beside a million, 16 cores with a directory: seconds, and the peak as mebibytes."""
    (few, low), (many, high) = _in_a_process(FEW), _in_a_process(MANY)
    assert high < low + MOST_GROWTH
    return [_row(FEW, few, low), _row(MANY, many, high)]


def _row(count: int, seconds: float, peak: float) -> dict[str, Any]:
    return row("translation_stream", f"peak {peak:.1f} MiB", count, "translations", seconds)


def _in_a_process(count: int) -> tuple[float, float]:
    """Return the seconds and the peak of a run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.translation_stream", str(count)]
    folder = Path(__file__).parent.parent
    seconds, peak = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(peak)


def _peak_mebibytes() -> float:
    """The peak of /proc: what `getrusage` says of a child begins with the memory of the process that forked it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def main(count: int) -> None:
    """Run once, and print the seconds and the peak."""
    simulated(MadePages(count=BLOCK), MACHINE, POLICY)
    began = time.perf_counter()
    record = simulated(MadePages(count=count), MACHINE, POLICY)
    seconds = time.perf_counter() - began
    assert accesses(record) == count
    print(seconds, _peak_mebibytes())


if __name__ == "__main__":
    main(int(sys.argv[1]))
