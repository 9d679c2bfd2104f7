"""Logs of blocks of a made-up card, whose dispatcher is a few lines here and shares no code with the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

NAMES = (9, 2, 7, 4)
"""How the made-up card numbers its SMs."""
SLOTS = 2
CARD = {"name": "Card", "units": len(NAMES), "wave_size": 32, "threads_a_unit": 512, "blocks_a_unit": 16}

Rule = Callable[[list[int], int], int]
"""From the residents of each SM and the number of the block to an SM that takes it."""


def fewest(residents: list[int], block: int) -> int:
    return residents.index(min(residents))


def first(residents: list[int], block: int) -> int:
    return next(sm for sm, held in enumerate(residents) if held < SLOTS)


def played(kernels: Sequence[tuple[int, Sequence[int]]], rule: Rule) -> list[tuple[int, int, int, int]]:
    """Return (kernel, SM, start, end) of each block of kernels (arrival, durations), kernel after kernel."""
    now, running, result = 0, list[tuple[int, int]](), []
    for kernel, (arrival, durations) in enumerate(kernels):
        now = max(now, arrival)
        for block, lasting in enumerate(durations):
            while len(running := [(end, sm) for end, sm in running if end > now]) == SLOTS * len(NAMES):
                now = min(end for end, _ in running)
            residents = [sum(sm == held for _, held in running) for sm in range(len(NAMES))]
            sm = rule(residents, block)
            running.append((now + lasting, sm))
            result.append((kernel, sm, now, now + lasting))
    return result


def log(kernels: Sequence[tuple[int, Sequence[int]]], rule: Rule, name: str = "run", **more: Any) -> dict[str, Any]:
    """Return the log of kernels, each in a stream of its own; times in microseconds."""
    blocks = played(kernels, rule)
    times: list[Mapping[str, Any]] = [{}, {"cpu_times": [0.0, 1.0]}]
    for kernel in range(len(kernels)):
        own = [one for one in blocks if one[0] == kernel]
        times.append(
            {
                "kernel_name": f"spin{kernel}",
                "block_count": len(own),
                "thread_count": 256,
                "shared_memory": 0,
                "stream": kernel,
                "block_times": [t / 1e6 for _, _, start, end in own for t in (start, end)],
                "block_smids": [NAMES[sm] for _, sm, _, _ in own],
            }
        )
    return {"scenario_name": name, "benchmark_name": "spin", "max_resident_threads": 2048, "times": times, **more}


def write(folder: Path, rule: Rule, **more: Any) -> list[Path]:
    """Write two runs, of one stream and of two, and return their files."""
    draw = np.random.default_rng(5)
    one = [(0, draw.integers(20, 90, 60).tolist())]
    two = [(0, draw.integers(20, 90, 30).tolist()), (25, draw.integers(20, 90, 40).tolist())]
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, kernels in (("one stream", one), ("two streams", two)):
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(json.dumps(log(kernels, rule, name, **more)))
    return paths
