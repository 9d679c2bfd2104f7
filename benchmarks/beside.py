"""The rows of `workbench bench` of two source trees, in turns: how many times the old rate the new one is.

    git worktree add ../before v0.4.0
    python -m benchmarks.beside ../before . --rounds 3 --names placement_drain place_free malloc_warp

Each tree measures itself with its own benchmarks, in a process of its own, round by round; of every row the highest
rate of all rounds counts: it was disturbed least. Rows that both trees have are printed, references in C++ among them:
where these differ from 1 the machine was busy with other work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

Rates = dict[tuple[str, str], float]

BARS = ("placement_drain", "placement_drain_1824", "place_free", "malloc_warp", "pool_replay", "dispatch_full")


def main(old: Path, new: Path, names: list[str], rounds: int) -> None:
    """Print a line a row."""
    for name in names:
        best: dict[Path, Rates] = {old: {}, new: {}}
        for _ in range(rounds):
            for tree, rates in best.items():
                for row, rate in _measured(tree, name).items():
                    rates[row] = max(rate, rates.get(row, 0.0))
        for row in best[old].keys() & best[new].keys():
            before, now = best[old][row], best[new][row]
            print(f"{' '.join(row):56} {before:14,.0f} {now:14,.0f}  {now / before:5.2f}", flush=True)


def _measured(tree: Path, name: str) -> Rates:
    """Return the rates of a benchmark by name and variant, as a tree measures itself."""
    surroundings = {**os.environ, "PYTHONPATH": str(tree.resolve())}
    command = [sys.executable, "-m", "workbench", "bench", name, "--json"]
    reply = subprocess.run(command, cwd=tree, env=surroundings, capture_output=True, text=True, check=True)
    rows = json.loads(reply.stdout)
    return {(row["name"], row["variant"]): rate for row in rows if (rate := row["items_per_second"]) is not None}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--names", nargs="+", default=list(BARS))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    main(given.old, given.new, given.names, given.rounds)
