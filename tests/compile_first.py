"""`python -m tests.compile_first`: compile every engine before the tests, so that no two of their workers compile one.

What is compiled already is only looked up. The node comes first, as it takes the longest; one process a core.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from workbench.mechanisms.compilation import USUAL_SECONDS

RUNS: dict[str, list[dict[str, Any]]] = {
    "dispatch": [{"workload": "concurrent_kernels"}],
    "malloc": [{"workload": "mixed_sizes"}],
    "pool": [{"workload": "one_card_full"}, {"workload": "mixed_jobs_busy", "options": {"when_full": "wait"}}],
    "shared_memory": [{"workload": "large_uniform"}],
    "torch_allocator": [{"workload": "growing_cycle"}],
    "translation": [
        {"workload": "pilot_zipf"},
        {"workload": "gemm_tiles", "options": {"cores_issue": {"warps": {"count": 8}}}},
    ],
}
"""Small runs that meet every loop of an engine, and its measures."""


def compile_engine(engine: str) -> str:
    """Do the runs of an engine; what went wrong, if anything did."""
    import workbench as wb

    rows = [wb.run({"engine": engine, "seeds": 1, **message}, workers=1) for message in RUNS[engine]]
    return "; ".join(row.error for results in rows for row in results.failures)


def compile_node() -> None:
    """Run a small node, which meets every loop of it."""
    import workbench as wb

    results = wb.run({"engine": "node", "seeds": 1, "workload": {"synthetic": "small_kernels"}}, workers=0)
    assert not results.failures, [row.error for row in results.failures]


def compile_address_plan() -> None:
    """Plan one block, which no engine does."""
    import numpy as np

    from workbench.engines.torch_allocator.offline_plan import planned_bytes

    planned_bytes(*(np.array([value]) for value in (0, 1, 512)))


def compile_service() -> None:
    """Grant one region as the storage service does, which no run does."""
    from tests.engines.pool_cases import Case
    from workbench.engines.pool.live import LiveBoard
    from workbench.machine import Board

    live = LiveBoard(Case([], Board()).setup())
    granted = live.allocate(1, 64)
    assert granted is not None
    live.free(granted.row)


def main() -> None:
    """Compile all of them, and say what went wrong."""
    longest_first = sorted(RUNS, key=lambda engine: -USUAL_SECONDS[engine])
    workers = min(len(os.sched_getaffinity(0)), len(longest_first))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        others = [pool.submit(compile_it) for compile_it in (compile_node, compile_service, compile_address_plan)]
        for engine, problem in zip(longest_first, pool.map(compile_engine, longest_first), strict=True):
            assert not problem, f"{engine}: {problem}"
        for other in others:
            other.result()


if __name__ == "__main__":
    main()
