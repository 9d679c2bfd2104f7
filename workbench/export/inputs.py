"""The sweep of a bundle with the files that it names: what is needed to run it again on another machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from workbench.experiments.folder import SWEEP
from workbench.experiments.keep import named, shortest
from workbench.experiments.named_files import with_files
from workbench.experiments.run_set import RunSet

INPUTS = "inputs"
MOST_BYTES = 50_000_000
"""A larger file is named where it lies instead of copied."""


def write_sweep(runs: RunSet, folder: Path) -> list[Path]:
    """Write the sweep as it was run and copy the files that it names, workloads and policies; return the copies."""
    copies: dict[Path, Path] = {}

    def copied(path: Path) -> str:
        path = path.resolve()
        if path.stat().st_size > MOST_BYTES:
            return str(path)
        if path not in copies:
            copies[path] = folder / INPUTS / _different(path, copies)
            copies[path].parent.mkdir(exist_ok=True)
            shutil.copyfile(path, copies[path])
        return f"{INPUTS}/{copies[path].name}"

    sweep = runs.plan.sweep
    seeds = shortest(sweep.seeds) if sweep.until is None else sweep.said["seeds"]
    said: dict[str, Any] = {**named(sweep.said), "seeds": seeds}
    text = yaml.safe_dump(with_files(said, sweep.folder, copied), sort_keys=False, allow_unicode=True)
    (folder / SWEEP).write_text(text, encoding="utf-8")
    return list(copies.values())


def _different(path: Path, copies: dict[Path, Path]) -> str:
    """A file's own name, or one with a number where another file of that name is there already."""
    taken = {copy.name for copy in copies.values()}
    names = (path.name if k == 0 else f"{path.stem}_{k + 1}{path.suffix}" for k in range(len(taken) + 1))
    return next(name for name in names if name not in taken)
