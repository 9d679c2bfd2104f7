"""What a run, a sweep and a plan cost in processor time, of two source trees side by side.

    git worktree add ../before v0.4.0
    python -m benchmarks.side_by_side ../before . --rounds 30
    python -m benchmarks.side_by_side ../before . --only "plan of 1,000 points" "a run of dispatch"

Each tree has a process of its own, both with this interpreter and these packages; the two take turns, case by case and
round by round, so that a load that comes and goes meets both. Of each case and tree the least processor time of all
rounds counts: it is the one that was disturbed least. Printed are microseconds an item, and new over old.

A run has as little to do as its engine allows (one workgroup, one group, one warp, one access a core, one job), so that
what is measured is what a run costs whatever it does: the workload's arrays, the state's arrays, the compiled call, the
record, its measures, the looks whether code changed, the row, the way to a store and back. It is the difference between
a long sweep and a short one, over the runs that the long one has more; `kept` with a store on disk, in the usual way
(a thread beside the one that waits). What the short sweep costs beside its runs is the line `a sweep`.

Sweeps are written in words that every tree since 0.4.0 knows. Seconds differ between machines, quotients little.
"""

from __future__ import annotations

import argparse
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any

SHORT, LONG = 2, 42
"""Seeds of the two sweeps whose difference is what runs cost."""

WORKGROUP: dict[str, Any] = {
    "synthetic": "random_workgroups",
    "count": 1,
    "size": {"uniform": [1, 20]},
    "duration": {"uniform": [50, 100]},
}
PLACEMENTS = ["first_fit", "nearest_boundary", "best_fit", "worst_fit", "last_fit"]
SWEEPS: dict[str, dict[str, Any]] = {
    "shared_memory": {
        "engine": "shared_memory",
        "workload": WORKGROUP,
        "policy": {"placement": {"vary": PLACEMENTS}},
    },
    "dispatch": {
        "engine": "dispatch",
        "machine": "patent_dispatch",
        "workload": {"synthetic": "random_groups", "count": 1},
        "policy": {"choice": {"vary": ["most_residual", "round_robin"]}},
    },
    "translation": {
        "engine": "translation",
        "machine": "patent_pilot",
        "workload": {"synthetic": "zipf_mixture", "count": 8},
        "policy": {"locate": {"vary": ["directory", "no_directory"]}},
    },
    "malloc": {
        "engine": "malloc",
        "machine": "h100",
        "workload": {"synthetic": "random_mallocs", "threads": 32},
        "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}},
    },
    "pool": {
        "engine": "pool",
        "machine": "dgx_1v",
        "workload": {"synthetic": "mixed_jobs", "jobs": 1},
        "policy": {"target": {"vary": ["max_bandwidth", "round_robin"]}},
    },
}
"""Sweeps whose runs have nearly nothing to do, by engine."""


def cases() -> dict[str, Callable[[], float]]:
    """Return what is measured by name: each returns the microseconds an item."""
    runs = {f"a run of {name}": lambda sweep=sweep: _a_run(sweep) for name, sweep in SWEEPS.items()}
    placement = SWEEPS["shared_memory"]
    return {
        "plan of 1,000 points": lambda: _plan(1_000),
        "plan of 10,000 points": lambda: _plan(10_000),
        "a sweep": lambda: _seconds(lambda: _runs(placement, 1)) * 1e6,
        **runs,
        "a run of shared_memory, kept": lambda: _a_run(placement, kept=True),
    }


def _a_run(sweep: dict[str, Any], kept: bool = False) -> float:
    did: list[int] = []
    short, long = (_seconds(lambda seeds=seeds: did.append(_runs(sweep, seeds, kept))) for seeds in (SHORT, LONG))
    return (long - short) / (did[1] - did[0]) * 1e6


def _runs(sweep: dict[str, Any], seeds: int, kept: bool = False) -> int:
    import workbench as wb

    with tempfile.TemporaryDirectory() as folder:
        results = wb.run({**sweep, "seeds": seeds}, folder if kept else None, workers=int(kept))
    assert not results.failures
    return len(results.rows)


def _plan(points: int) -> float:
    """Plan so many points: 20 sizes, 5 policies, and as many durations as it takes."""
    from workbench.api import planned

    size = {"uniform": [1, {"vary": list(range(2, 22))}]}
    workload = {
        **WORKGROUP,
        "size": size,
        "duration": {"uniform": [50, {"vary": list(range(100, 100 + points // 100))}]},
    }
    sweep = {**SWEEPS["shared_memory"], "workload": workload, "seeds": 1}
    return _seconds(lambda: planned(sweep)) / points * 1e6


def _seconds(act: Callable[[], object]) -> float:
    gc.collect()
    began = process_time()
    act()
    return process_time() - began


def measure() -> None:
    """Read names of cases from standard input; print the microseconds an item of each. This is the tree's process."""
    known = cases()
    for name in map(str.strip, sys.stdin):
        print(known[name](), flush=True)


class Tree:
    """A source tree with the process that measures it."""

    def __init__(self, path: str) -> None:
        root = Path(path).resolve()
        if not (root / "workbench" / "__init__.py").is_file():
            raise SystemExit(
                f"side_by_side: {path} is no source tree of the workbench: it has no workbench/__init__.py."
            )
        code = f"import runpy; runpy.run_path({str(Path(__file__).resolve())!r})['measure']()"
        command = [sys.executable, "-P", "-c", code]
        here = {**os.environ, "PYTHONPATH": str(root)}
        self._process = subprocess.Popen(
            command, cwd=root, env=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def microseconds(self, name: str) -> float:
        """Return the processor time of an item, in this turn."""
        told, reply = self._process.stdin, self._process.stdout
        assert told is not None and reply is not None
        print(name, file=told, flush=True)
        line = reply.readline()
        if not line:
            raise SystemExit(f"side_by_side: the tree {self._process.args} ended in the midst of {name!r}.")
        return float(line)

    def close(self) -> None:
        """End its process."""
        self._process.communicate()


@contextmanager
def _trees(paths: list[str]) -> Iterator[list[Tree]]:
    trees = [Tree(path) for path in paths]
    try:
        yield trees
    finally:
        for tree in trees:
            tree.close()


def compare(old: str, new: str, names: list[str], rounds: int) -> Iterator[tuple[str, float, float]]:
    """Yield of each case the least microseconds an item in both trees."""
    with _trees([old, new]) as trees:
        for name in names:
            for tree in trees:
                tree.microseconds(name)  # compiles, and fills what is remembered for a process
            turns = [[tree.microseconds(name) for tree in trees] for _ in range(rounds)]
            before, after = map(min, zip(*turns, strict=True))
            yield name, before, after


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.side_by_side", description=__doc__.splitlines()[0])
    parser.add_argument("old", help="a source tree, as of 0.4.0")
    parser.add_argument("new", help="another one, as this")
    parser.add_argument("--rounds", type=int, default=20, help="turns of each tree (default 20)")
    parser.add_argument("--only", nargs="+", choices=cases(), metavar="CASE", default=list(cases()))
    given = parser.parse_args()
    print(f"{'case':30}{'old, us':>10}{'new, us':>10}{'new / old':>11}")
    for name, before, after in compare(given.old, given.new, given.only, given.rounds):
        print(f"{name:30}{before:10.1f}{after:10.1f}{after / before:11.3f}", flush=True)


if __name__ == "__main__":
    main()
