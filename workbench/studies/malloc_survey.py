"""Published times of device allocators beside what their policy-level models take: in direction, not in size.

The figures are those that the survey's repository holds as CSV: GPUMemManSurvey (M. Winter and others, "Are Dynamic
Memory Managers on GPUs Slow?", PPoPP 2021), results of 2020-05-19, 10,000 threads, mixed sizes, mean milliseconds of
an allocation kernel. The file does not name the GPU; the repository's front page speaks of a TITAN V. CUDA's own
`malloc` is closed; one lock for all threads stands for it, which is the document's picture of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.engines.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.machine import read_machine
from workbench.metrics.malloc import measure
from workbench.policies.malloc import AS_FOUND
from workbench.workloads.synthetic.random_mallocs import RandomMallocs

if TYPE_CHECKING:
    import pandas as pd

THREADS, HEAP_BYTES = 10_000, 1 << 28
DESIGNS = {"CUDA": "one lock, per thread", "Halloc": "Halloc", "ScatterAlloc": "ScatterAlloc", "XMalloc": "XMalloc"}
"""The survey's columns and the designs that stand for them."""
PUBLISHED_MS = {
    4: (1.390, 0.0244, 0.0073, 0.0399),
    64: (1.337, 0.0262, 0.0073, 0.0361),
    1024: (17.96, 0.0281, 0.0131, 3.80),
    2048: (64.0, 0.0655, 0.0185, 4.21),
    8192: (10.9, 2.02, 13.07, 3.81),
}
"""The largest size in bytes (the smallest is 4) -> milliseconds, in the order of `DESIGNS`."""


def survey_table(seeds: int = 3) -> pd.DataFrame:
    """Return each design's time over CUDA's, published and modelled, and whether the two lie on the same side of 1.

    Columns: largest_bytes, design, published_ms, published_ratio, modelled_cycles, modelled_ratio, same_direction.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for largest, published in PUBLISHED_MS.items():
        modelled = [_cycles(label, largest, seeds) for label in DESIGNS.values()]
        for name, theirs, ours in zip(DESIGNS, published, modelled, strict=True):
            ratios = theirs / published[0], ours / modelled[0]
            rows.append(
                {
                    "largest_bytes": largest,
                    "design": name,
                    "published_ms": theirs,
                    "published_ratio": ratios[0],
                    "modelled_cycles": ours,
                    "modelled_ratio": ratios[1],
                    "same_direction": (ratios[0] < 1) == (ratios[1] < 1),
                }
            )
    return pd.DataFrame(rows)


def _cycles(label: str, largest: int, seeds: int) -> float:
    """Compute the mean makespan of a design over some seeds."""
    workload = RandomMallocs.read({"threads": THREADS, "size": {"uniform": [4, largest]}})
    options = MallocOptions.read({"heap_bytes": HEAP_BYTES})
    setup = Setup("malloc", read_machine("h100"), workload, AS_FOUND[label], options)
    return float(np.mean([measure(Malloc().simulate(setup, seed))["makespan_cycles"] for seed in range(seeds)]))
