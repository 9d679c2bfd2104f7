"""Processor time until the first result: a new policy in a running process, a fresh process, the import."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba

from benchmarks.turns import Side, clocked, compared
from workbench.api import run
from workbench.levers import lever
from workbench.policies.placement import Placement
from workbench.structures.bitmaps import is_free

SWEEP: dict[str, Any] = {"engine": "shared_memory", "workload": "large_uniform", "measures": ["drain_cycles"]}
ROOT = Path(__file__).parent.parent
ROUNDS = 7


def first_results() -> list[dict[str, Any]]:
    """Three first results, each with the least that a user of Numba pays for the same."""
    rows = compared("first_results", "new policy, one run", "results", *_new_policy(), ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        ours = _fresh_process(Path(folder))
        references = {"python -c 'import numba, pandas'": _imports("numba, pandas")}
        rows += compared("first_results", "workbench run, 200 runs", "processes", ours, references, ROUNDS)
    references = {"python -c 'import numpy'": _imports("numpy")}
    return rows + compared("first_results", "import workbench", "processes", _imports("workbench"), references, ROUNDS)


def _new_policy() -> tuple[Side, dict[str, Side | None]]:
    """Each turn defines and compiles the policy again, and no engine; Numba compiles its loop. No run is repeated."""

    turns = itertools.count()

    def ours() -> None:
        turn = next(turns)

        class FromTheTop(Placement):
            """Take the highest feasible start, looked for segment by segment."""

            skip: int = lever(
                0, least=0, most=64, unit="segments", description="how many segments at the top stay free"
            )

            def answer(see: Any) -> int:
                if turn < 0:  # each turn has other code
                    return -1
                for start in range(see.segments - see.length - int(see.levers[0]), -1, -1):
                    if is_free(see.free, start, see.length):
                        return start
                return -1

        results = run(SWEEP, set={"policy.placement": FromTheTop()}, repeat=False)
        assert results.rows
        assert not results.failures

    def alone() -> None:
        @numba.njit("int64(uint64[::1], int64, int64, int64)")  # type: ignore[untyped-decorator]
        def from_the_top(free: Any, segments: int, length: int, skip: int) -> int:
            for start in range(segments - length - skip, -1, -1):
                if is_free(free, start, length):
                    return start
            return -1

        assert from_the_top.signatures

    return clocked(1, ours), {"numba.njit of its loop": clocked(1, alone)}


def _fresh_process(folder: Path) -> Side:
    sweep, outs = folder / "drain.yaml", itertools.count()
    text = "policy: {placement: {vary: [first_fit, nearest_boundary]}}\nseeds: 100\nmeasures: [drain_cycles]\n"
    sweep.write_text(f"engine: shared_memory\nworkload: large_uniform\n{text}")

    def once() -> None:
        command = [sys.executable, "-m", "workbench", "run", str(sweep), "--out", str(folder / str(next(outs)))]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)

    return clocked(1, once)


def _imports(names: str) -> Side:
    return clocked(1, lambda: subprocess.run([sys.executable, "-c", f"import {names}"], check=True, cwd=ROOT))
