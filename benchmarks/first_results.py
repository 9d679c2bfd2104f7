"""How long until the first result: a new policy in a running process, a fresh process with a warm cache, the import."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.row import fastest, row
from workbench.api import run
from workbench.levers import lever
from workbench.policies.placement import Placement
from workbench.structures.bitmaps import is_free

SWEEP: dict[str, Any] = {"engine": "shared_memory", "workload": "large_uniform", "measures": ["drain_cycles"]}
ROOT = Path(__file__).parent.parent


def first_results() -> list[dict[str, Any]]:
    """Three figures, each the fastest of several tries."""
    name = "first_results"
    return [
        row(name, "new policy in a running process, one run", 1, "results", _new_policy()),
        row(name, "fresh process, `workbench run` of 200 runs", 200, "runs", _fresh_process()),
        row(name, "import workbench in a fresh process, Python's start left out", 1, "imports", _import()),
    ]


def _new_policy() -> float:
    """The cell is run several times: each defines and compiles the policy anew, and no engine."""
    run(SWEEP)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()

        class FromTheTop(Placement):
            """Take the highest feasible start, looked for segment by segment."""

            skip: int = lever(
                0, least=0, most=64, unit="segments", description="how many segments at the top stay free"
            )

            def answer(see: Any) -> int:
                for start in range(see.segments - see.length - int(see.levers[0]), -1, -1):
                    if is_free(see.free, start, see.length):
                        return start
                return -1

        results = run(SWEEP, set={"policy.placement": FromTheTop()})
        seconds.append(time.perf_counter() - began)
        assert not results.failures
    return min(seconds)


def _fresh_process() -> float:
    with tempfile.TemporaryDirectory() as folder:
        sweep = Path(folder) / "drain.yaml"
        text = "policy: {placement: {vary: [first_fit, nearest_boundary]}}\nseeds: 100\nmeasures: [drain_cycles]\n"
        sweep.write_text(f"engine: shared_memory\nworkload: large_uniform\n{text}")
        outs = iter(range(100))

        def once() -> None:
            command = [sys.executable, "-m", "workbench", "run", str(sweep), "--out", f"{folder}/{next(outs)}"]
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

        once()
        return fastest(once, 3)


def _import() -> float:
    def once(code: str) -> float:
        return fastest(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)

    return max(once("import workbench") - once("pass"), 0.0)
