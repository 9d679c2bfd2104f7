"""Do runs of a bundle again, and compare every measure to the last bit."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.experiments.own_measures import OwnMeasure
from workbench.experiments.plan import PlannedRun
from workbench.experiments.row import Row
from workbench.experiments.work import work
from workbench.export.verification.kept_runs import KeptRuns, absent
from workbench.streams import Streams


class Difference(NamedTuple):
    """One run that is not what the bundle says."""

    run_id: str
    policy: str
    seed: int
    what: str
    """Which measure (or outcome) differs, with both values; or why the run cannot be done again."""

    @property
    def sentence(self) -> str:
        """Return the difference in a line."""
        return f"run {self.run_id}, seed {self.seed} of {self.policy}: {self.what}"


def sampled(runs: list[str], sample: int, seed: int) -> list[str]:
    """Draw so many runs, all of them if 0, in the order given."""
    if sample in (0, len(runs)) or sample > len(runs):
        return runs
    draw = Streams(seed)["verify"].permutation(len(runs))[:sample]
    return [runs[k] for k in sorted(draw)]


def again(kept: KeptRuns, manifest: Mapping[str, Any], rows: list[Row]) -> list[Difference]:
    """Return what differs between rows of a bundle and the same runs done now."""
    planned = {run.id: run for run in kept.planned.runs()}
    own = {name: one for name, one in kept.planned.sweep.own.items() if one.function is not absent}
    differences = []
    for row in rows:
        what = _compared(row, planned[row.id], own) if row.id in planned else _why_not(kept, manifest)
        if what:
            differences.append(Difference(row.id, _named(manifest, row), row.seed, what))
    return differences


def _compared(row: Row, run: PlannedRun, own: Mapping[str, OwnMeasure]) -> str:
    (now,) = work(run.point.setup, [(run.id, run.point.id, run.seed)], own=own)
    if (row.status, row.error) != (now.status, now.error):
        return f"was {row.status} {row.error!r} and is {now.status} {now.error!r}"
    every = (_other(name, value, now.measures.get(name)) for name, value in row.measures.items())
    return "; ".join(one for one in every if one)


def _other(name: str, value: float, now: float | None) -> str:
    if now is None:
        return f"{name} is not measured any more"
    return "" if _bits(value) == _bits(now) else f"{name} was {value!r} and is {float(now)!r}"


def _bits(value: float) -> bytes:
    return struct.pack("<d", float(value))


def _why_not(kept: KeptRuns, manifest: Mapping[str, Any]) -> str:
    revision, now = manifest["engine_revision"], kept.planned.sweep.mechanism.engine.revision
    if revision != now:
        return (
            f"the engine {manifest['engine']} was at revision {revision} and is at {now}, which may give other results"
        )
    if kept.unread:
        return f"it cannot be done here: {kept.unread[0]}"
    return "its setup is not what it was: a policy, a default or an input file has changed"


def _named(manifest: Mapping[str, Any], row: Row) -> str:
    point = manifest["points"].get(row.point, {})
    return ", ".join(part for part in (point.get("setting"), point.get("policy")) if part)
