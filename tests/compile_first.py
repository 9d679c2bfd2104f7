"""`python -m tests.compile_first`: compile every engine before the tests, so that no two of their workers compile one.

What is compiled already is only looked up. The node comes first, as it takes the longest; one process a core.

What is compiled here is checked. A function of one module that is compiled into one of another must be in the digest of
the other (`workbench/compiled/kernel.py`). Otherwise an edit of it would leave yesterday's code in use.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from numba.core import event

from workbench.compiled.kernel import sources
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


class Across(event.Listener):
    """Collects which modules have functions compiled while a function of another module is."""

    def __init__(self) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self._under_way = [""]

    def on_start(self, event: Any) -> None:
        """Count a function of another package as its caller's."""
        module = event.data["dispatcher"].py_func.__module__ or ""
        inner = module.removeprefix("workbench.") if module.startswith("workbench.") else self._under_way[-1]
        if self._under_way[-1] not in ("", inner):
            self.pairs.add((self._under_way[-1], inner))
        self._under_way.append(inner)

    def on_end(self, event: Any) -> None:
        """Go back to the caller."""
        self._under_way.pop()

    def unseen(self) -> list[str]:
        """Return the modules whose functions are in no digest of those that they are compiled into, a sentence each."""
        missing = [pair for pair in sorted(self.pairs) if pair[1] not in sources().closure(pair[0])]
        return [f"{outer} takes in {inner}, which is not in its digest" for outer, inner in missing]


def compile_engine(engine: str) -> str:
    """Do the runs of an engine; what went wrong, if anything did."""
    import workbench as wb

    with event.install_listener("numba:compile", Across()) as across:
        rows = [wb.run({"engine": engine, "seeds": 1, **message}, workers=1) for message in RUNS[engine]]
    return "; ".join([*(row.error for results in rows for row in results.failures), *across.unseen()])


def compile_node() -> None:
    """Run a small node, which meets every loop of it."""
    import workbench as wb

    with event.install_listener("numba:compile", Across()) as across:
        results = wb.run({"engine": "node", "seeds": 1, "workload": {"synthetic": "small_kernels"}}, workers=0)
    problems = [*(row.error for row in results.failures), *across.unseen()]
    assert not problems, problems


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
