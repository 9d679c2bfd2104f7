"""What a results folder holds beside its store: the sweep as resolved, the table, where it comes from."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import yaml

from workbench.experiments.folder import PROVENANCE, SWEEP, TABLE, TABLE_AS_CSV, as_json, write_own
from workbench.experiments.named_files import with_files
from workbench.experiments.provenance import provenance
from workbench.experiments.run_set import RunSet
from workbench.levers import Spec


def keep_files(runs: RunSet, folder: Path) -> None:
    """Write the files beside the store, each whole or not at all."""
    keep_sweep(runs, folder)
    write_own(folder / PROVENANCE, as_json(provenance(runs)))
    keep_table(runs, folder)


def keep_sweep(runs: RunSet, folder: Path) -> None:
    """Write the sweep as it is run: with it, results can be looked at however the run ends."""
    write_own(folder / SWEEP, yaml.safe_dump(resolved(runs), sort_keys=False, allow_unicode=True))


def resolved(runs: RunSet) -> dict[str, Any]:
    """Return the sweep as it was run, overrides applied, policies by name, paths of files made absolute."""
    sweep = runs.plan.sweep
    seeds = shortest(sweep.seeds) if sweep.until is None else sweep.said["seeds"]
    config = {**named(sweep.said), "seeds": seeds}
    return with_files(config, sweep.folder, lambda path: str(path.resolve()))


def keep_table(runs: RunSet, folder: Path) -> Path:
    """Return the table as Parquet, or as CSV where the optional part `store` is not installed."""
    buffer = io.BytesIO()
    try:
        runs.table.to_parquet(buffer, index=False)
    except ImportError:
        write_own(folder / TABLE_AS_CSV, runs.table.to_csv(index=False))
        return folder / TABLE_AS_CSV
    write_own(folder / TABLE, buffer.getvalue())
    return folder / TABLE


def named(value: Any) -> Any:
    """Return what a sweep says in plain types: policies and other specs by name, as YAML writes them."""
    if isinstance(value, Spec):
        return {value.name: value.plain()}
    if isinstance(value, type) and issubclass(value, Spec):
        return value.name
    if isinstance(value, dict):
        return {key: named(inner) for key, inner in value.items()}
    return [named(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def shortest(seeds: list[int]) -> Any:
    """Return the seeds as a sweep says them."""
    in_a_row = seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    return {"first": seeds[0], "count": len(seeds)} if in_a_row else seeds
