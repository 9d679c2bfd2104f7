"""What the first compilation of each engine costs in processor time, of two source trees side by side.

    git worktree add ../before v0.4.0
    python -m benchmarks.first_compile ../before . --engines dispatch translation --rounds 2

Every compilation is a fresh process with an empty cache that does one run of nearly nothing, under both policies of a
pair; then the same process once more, whose cache is full: the difference is what compiling cost. The trees take turns,
engine by engine and round by round. Printed are the least seconds of all rounds, and new over old.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.side_by_side import SWEEPS

ONE_RUN = """
import json, sys
import workbench as wb
results = wb.run({**json.loads(sys.argv[1]), "seeds": 1}, workers=0)
assert results.rows and not results.failures
"""


def main(old: Path, new: Path, engines: list[str], rounds: int) -> None:
    """Print a line an engine."""
    for engine in engines:
        least = {old: float("inf"), new: float("inf")}
        for _ in range(rounds):
            for tree in least:
                least[tree] = min(least[tree], compiled(tree, SWEEPS[engine]))
        print(f"{engine:14} {least[old]:6.1f} s {least[new]:6.1f} s  {least[new] / least[old]:5.2f}", flush=True)


def compiled(tree: Path, sweep: dict[str, Any]) -> float:
    """Return the seconds of processor time that compiling what a sweep needs costs a tree."""
    with tempfile.TemporaryDirectory() as cache:
        return _run(tree, sweep, cache) - _run(tree, sweep, cache)


def _run(tree: Path, sweep: dict[str, Any], cache: str) -> float:
    surroundings = {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": cache}
    before = _spent()
    subprocess.run(
        [sys.executable, "-c", ONE_RUN, json.dumps(sweep)], cwd=tree, env=surroundings, check=True, capture_output=True
    )
    return _spent() - before


def _spent() -> float:
    """Return the processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--engines", nargs="+", default=list(SWEEPS), choices=list(SWEEPS))
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    main(given.old.resolve(), given.new.resolve(), given.engines, given.rounds)
