"""`python -m tests.compile_first`: compile every engine before the tests, so that no two of their workers compile one.

What is compiled already is only looked up. The longest come first, one process a core.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from workbench.experiments.warm import USUAL_SECONDS

WORKLOADS = {
    "dispatch": "concurrent_kernels",
    "malloc": "mixed_sizes",
    "pool": "one_card_full",
    "shared_memory": "large_uniform",
    "translation": "pilot_zipf",
}


def compile_engine(engine: str) -> str:
    """Do one small run of an engine, and find its measures."""
    import workbench as wb

    results = wb.run({"engine": engine, "workload": WORKLOADS[engine], "seeds": 1}, workers=1)
    return "; ".join(row.error for row in results.failures)


def main() -> None:
    """Compile all of them, and say what went wrong."""
    longest_first = sorted(USUAL_SECONDS, key=lambda engine: -USUAL_SECONDS[engine])
    workers = min(len(os.sched_getaffinity(0)), len(longest_first))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for engine, problem in zip(longest_first, pool.map(compile_engine, longest_first), strict=True):
            assert not problem, f"{engine}: {problem}"


if __name__ == "__main__":
    main()
