"""What a results folder holds beside its store: the sweep as resolved, the table, where it comes from."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import yaml

from workbench.experiments.folder import PROVENANCE, SWEEP, TABLE, TABLE_AS_CSV, as_json, write_own
from workbench.experiments.named_files import with_files
from workbench.experiments.plan import Plan
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
    if sweep.looks:
        config["looks"] = list(sweep.looks)
    return with_files(config, sweep.folder, lambda path: str(path.resolve()))


def with_looks(plan: Plan, folder: Path) -> Plan:
    """Return the plan with the numbers of seeds at which a folder has shown results of its comparisons.

    An earlier run into the folder has shown them, as far as its points and seeds are some of these. Whoever adds seeds
    until a verdict looks right has looked several times, and every p-value then answers for all of them.
    """
    before = _before(folder)
    same = not {point.id for point in plan.points}.isdisjoint(before.get("points", {}))
    seeds, sweep = before.get("seeds", []), plan.sweep
    if not same or not before.get("rows") or sweep.until is not None or set(seeds).isdisjoint(sweep.seeds):
        return plan
    looks = {*sweep.looks, *before.get("looks", []), len(seeds)} - {len(sweep.seeds)}
    return Plan(sweep._replace(looks=tuple(sorted(looks))), plan.points)


def _before(folder: Path) -> dict[str, Any]:
    """Return the provenance that an earlier run left in a folder, nothing where there is none that can be read."""
    try:
        before = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return before if isinstance(before, dict) else {}


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
